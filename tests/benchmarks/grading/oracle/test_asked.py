"""What is asked of exact runs, and who may check whom; without Spark."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from slotwise.benchmarks.grade import by_work, grade
from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan
from slotwise.benchmarks.grading.proofs import proofs_text, read_proofs
from slotwise.benchmarks.grading.rows import Kind
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.models.certificates import CertifiedProof
from slotwise.models.errors import InputError, UnfinishedError
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve
from slotwise.solver.verification.certify import proofs_of
from slotwise.solver.verification.crosscheck import FAMILY, ORDER, second_engines

EXAMPLE = "docs/examples/word-count.json"


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), True, "all"])
def test_a_share_is_from_0_to_1(share: float, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"crosscheck = .*: must be a share from 0 to 1"):
        grade("rstorm", out=tmp_path, crosscheck=share)


def test_an_engine_limited_by_seconds_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="engine = 'milp': is limited by seconds alone"):
        grade("rstorm", engine="milp", out=tmp_path / "out", deterministic=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("out", "rule"), [("", "must name"), ("file/out", "cannot be made")])
def test_a_folder_that_cannot_be_made_is_refused_by_its_argument(
    out: str, rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    with pytest.raises(InputError, match=rf"^out = .*: {rule}"):
        grade("rstorm", out=out)


def test_every_engine_is_of_a_family() -> None:
    assert set(ORDER) == set(ENGINES)
    assert set(ENGINES) <= set(FAMILY)


def test_a_second_engine_is_of_another_family() -> None:
    problem = compile_problem(read_instance(EXAMPLE))
    for behind in ENGINES:
        found = second_engines(problem, [behind, "baseline", "cp-sat without presolve"])
        assert found
        assert FAMILY[behind] not in {FAMILY[name] for name in found}
    assert second_engines(problem, ["configurations"])[:2] == ("exhaustive", "cp-sat")
    by_seconds = {"milp"}
    assert by_seconds <= set(second_engines(problem, []))
    assert not by_seconds & set(second_engines(problem, [], by_work=True))


def exact_run(crosscheck: bool = False) -> PlannedRun:
    limits = replace(by_work(RunLimits(1.0, 4, 0, None)), crosscheck=crosscheck)
    kind = Kind.CROSSCHECK if crosscheck else Kind.EXACT
    plan = make_plan(read_cases([EXAMPLE], 0, None), [], "auto", limits)
    return next(run for run in plan if run.kind == kind)


def test_a_limit_of_work_is_another_run_with_one_thread() -> None:
    run = exact_run()
    assert (run.workers, run.work, run.time_limit_s) == (1, 1.0, 70.0)
    assert run.version.endswith(", 1 units of work")


@pytest.mark.parametrize(("out_of_memory", "status"), [(False, "timeout"), (True, "memory")])
def test_a_safety_limit_is_a_row_with_its_status(
    monkeypatch: pytest.MonkeyPatch, out_of_memory: bool, status: str
) -> None:
    def struck(*_: object, **__: object) -> None:
        raise UnfinishedError("not finished", out_of_memory=out_of_memory)

    monkeypatch.setattr("slotwise.benchmarks.grading.exact_run.solve", struck)
    found = outcome(exact_run(), Loader())
    assert found["status"] == status
    assert str(found["error"]).startswith("not finished")
    assert "terms" not in found


@pytest.mark.slow
def test_a_cross_check_without_another_family_is_not_settled() -> None:
    problem = compile_problem(read_instance(EXAMPLE))
    results = [solve(problem, engine=name) for name in second_engines(problem, [], by_work=True)]
    proofs = [proof for result in results for proof in proofs_of(problem, result)]
    text = proofs_text(proofs)
    assert read_proofs(text) == tuple(proofs)
    found = outcome(replace(exact_run(crosscheck=True), against=text), Loader())
    assert found["status"] == "unknown"
    assert "no engine of another family" in str(found["reason"])


@pytest.mark.parametrize("text", ["{}", "[1]", '[{"engine": "x"}]'])
def test_what_is_no_proof_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_proofs(text)


def test_a_proof_without_its_time_limit_is_refused() -> None:
    proof = CertifiedProof("cp-sat", "9", Fraction(60), 1, 0, "search", (Fraction(5), None))
    text = proofs_text([proof])
    assert read_proofs(text) == (proof,)
    with pytest.raises(InputError, match=r"time_limit_s = .*must be a number as text"):
        read_proofs(text.replace('"60"', "null"))
