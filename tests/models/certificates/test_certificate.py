"""Certificates: written, read, checked without a solver, resolved by another engine; tampering."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Answer, Cli

from slotwise.benchmarks.experiments.proofs.one_short import one_short
from slotwise.models.certificates import findings, read_certificate, write_certificate
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Constraints, Topology
from slotwise.models.instance_file import write_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.solve import solve
from slotwise.solver.verification.certify import certificate_of, resolve
from slotwise.solver.verification.crosscheck import Agreement
from slotwise.solver.verification.verify import verify
from slotwise.testing.random_instances.tiny import tiny_instance

Document = dict[str, Any]
Change = Callable[[Document], object]


@pytest.fixture
def certified(examples: Path, cli: Cli) -> Path:
    """A certificate of word-count.json."""
    assert cli("solve", "word-count.json", "--certificate", "certificate.json").code == 0
    return examples / "certificate.json"


def tampered(path: Path, change: Change) -> Path:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


def forged(path: Path, change: Change) -> Path:
    """Change a certificate as one does who knows how its digest is made."""
    certificate = read_certificate(tampered(path, change))
    write_certificate(path, certificate)
    return path


def moved_task(document: Document) -> None:
    tasks = document["placement"]["wc"]
    tasks["count[0]"]["node"] = next(n for n in ("n1", "n2") if tasks["count[0]"]["node"] != n)


def lower(document: Document, by: int) -> None:
    """Claim a worse bound and a feasible status, consistently."""
    document["status"] = "feasible"
    document["objective"][1]["bound"] -= by


def test_it_holds_all_there_is(certified: Path) -> None:
    document = json.loads(certified.read_text())
    assert set(document) == {
        "format", "instance", "status", "made_by", "objective", "proofs", "placement", "digest"
    }  # fmt: skip
    assert document["objective"][1] == {"term": "network", "value": 23, "bound": 23}
    for proof in document["proofs"]:
        assert set(proof) == {"engine", "version", "parameters", "how", "bounds"}
    assert document["proofs"][-1]["bounds"] == [0, 23]


def test_without_a_solver_the_bound_is_asserted(certified: Path, cli: Cli) -> None:
    answer = cli("verify", "word-count.json", certified)
    assert answer.code == 0
    first = answer.out.splitlines()[0]
    assert first.startswith(
        "re-proven without a solver: the placement keeps every hard rule and has overload 0, "
        "network 23; on trust: network is at least 23; so say "
    )
    assert first.endswith("; --resolve lets another engine check it")


def test_a_bound_of_zero_needs_no_trust(examples: Path, cli: Cli) -> None:
    document = json.loads(Path("word-count.json").read_text())
    document["objective"] = {"terms": ["overload"]}
    Path("load.json").write_text(json.dumps(document))
    cli("solve", "load.json", "--certificate", "c.json")
    answer = cli("verify", "load.json", "c.json")
    assert answer.out.splitlines()[0].endswith("has overload 0; on trust: nothing")
    assert cli("verify", "load.json", "c.json", "--json").json["on_trust"] == []


def test_another_engine_verifies_it(certified: Path, cli: Cli) -> None:
    answer = cli("verify", "word-count.json", certified, "--resolve", "--json")
    assert answer.code == 0
    assert answer.json["status"] == "verified"
    engines = {proof["engine"] for proof in answer.json["asserted_by"]}
    assert answer.json["resolve"]["engine"] not in engines


def test_the_other_engine_can_be_named(certified: Path, cli: Cli) -> None:
    answer = cli("verify", "word-count.json", certified, "--resolve", "--engine", "cp-sat")
    assert answer.code == 0
    assert answer.out == (
        "verified: re-proven without a solver: the placement keeps every hard rule and has "
        "overload 0, network 23; cp-sat proves it too: nothing better\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "cp-sat"), "--engine = 'cp-sat': needs --resolve"),
        (("--time-limit", "5"), "--time-limit = 5.0: needs --resolve"),
        (("--workers", "2"), "--workers = 2: needs --resolve"),
        (("--seed", "1"), "--seed = 1: needs --resolve"),
        (("--memory-limit", "900"), "--memory-limit = 900: needs --resolve"),
        (
            ("--resolve", "--engine", "no-such"),
            "engine = 'no-such': is not an engine; must be one of",
        ),
    ],
)
def test_usage_errors(certified: Path, cli: Cli, options: tuple[str, ...], message: str) -> None:
    answer = cli("verify", "word-count.json", certified, *options)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_an_engine_cannot_verify_itself(examples: Path, cli: Cli) -> None:
    cli("solve", "word-count.json", "--engine", "cp-sat", "--certificate", "c.json")
    answer = cli("verify", "word-count.json", "c.json", "--resolve", "--engine", "cp-sat")
    assert answer.code == 2
    assert "made the claim itself" in answer.err


TAMPERED: dict[str, tuple[Change, str]] = {
    "value": (
        lambda d: d["objective"][1].update(value=22, bound=22),
        "value of network: 22 written, 23 recomputed",
    ),
    "placement": (moved_task, "recomputed"),
    "placement breaks a rule": (
        lambda d: [t.update(node="n1") for t in d["placement"]["wc"].values()],
        "placement: capacity: node n1, cpu",
    ),
    "placement with an unknown node": (
        lambda d: d["placement"]["wc"]["lines[0]"].update(node="n9"),
        "must be a node of the instance",
    ),
    "a task left out": (lambda d: d["placement"]["wc"].pop("lines[0]"), "placement: placed"),
    "bound above the value": (
        lambda d: d["objective"][1].update(bound=24),
        "bound of network: 24 is above the value",
    ),
    "bound below the value": (
        lambda d: d["objective"][1].update(bound=20),
        "status: optimal, but the bounds do not equal the values",
    ),
    "bound that no engine asserts": (
        lambda d: [p.update(bounds=[0, 20]) for p in d["proofs"]],
        "bound of network: no engine asserts 23",
    ),
    "no proofs": (lambda d: d.update(proofs=[]), "no engine asserts anything"),
    "other instance": (lambda d: d.update(instance="sha256:0"), "the certificate is for sha256:0"),
    "other terms": (lambda d: d["objective"][1].update(term="nodes"), "the instance overload"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_is_seen_without_a_solver(certified: Path, cli: Cli, what: str) -> None:
    change, message = TAMPERED[what]
    tampered(certified, change)
    answer = cli("verify", "word-count.json", certified)
    assert answer.code == 1
    assert answer.out.startswith("verification failed:")
    assert message in answer.out


def test_a_certificate_of_another_instance_fails(certified: Path, cli: Cli) -> None:
    answer = cli("verify", "too-big.json", certified)
    assert answer.code == 1
    assert "instance: the certificate is for" in answer.out


def test_a_bound_too_good_is_seen_by_another_engine_only(certified: Path, cli: Cli) -> None:
    """A valid plan with its own value and a bound as high: only a search can tell that it lies."""
    cli("place", "word-count.json", "--with", "round-robin", "--out", "even.json")
    judged = cli("judge", "word-count.json", "even.json", "--json").json
    values = [term["value"] for term in judged["objective"]]
    assert values > [0, 23]

    def claim(document: Document) -> None:
        document["placement"] = json.loads(Path("even.json").read_text())["topologies"]
        for term, value in zip(document["objective"], values, strict=True):
            term.update(value=value, bound=value)
        for proof in document["proofs"]:
            proof["bounds"] = values

    forged(certified, claim)
    assert cli("verify", "word-count.json", certified).code == 0
    answer = cli("verify", "word-count.json", certified, "--resolve")
    assert answer.code == 1
    assert f"claims {values[1]} and bound {values[1]}" in answer.out


def test_a_bound_below_the_value_is_resolved_as_a_bound(certified: Path, cli: Cli) -> None:
    forged(certified, lambda document: lower(document, 3))
    answer = cli("verify", "word-count.json", certified, "--resolve", "--json")
    assert (answer.code, answer.json["status"]) == (0, "verified")


def test_not_settled_within_the_limit(tmp_path: Path, cli: Cli) -> None:
    from slotwise.models.families.rstorm import RSTORM

    file, certificate = tmp_path / "star-a.json", tmp_path / "c.json"
    write_instance(file, RSTORM.make(4, 0))
    cli("solve", file, "--engine", "configurations", "--certificate", certificate)
    options = ("--resolve", "--engine", "cp-sat", "--time-limit", "0.3", "--json")
    answer = cli("verify", file, certificate, *options)
    assert (answer.code, answer.json["status"]) == (3, "not settled")


MALFORMED: dict[str, tuple[Change, str]] = {
    "format": (lambda d: d.update(format="slotwise.instance/1"), "must be slotwise.certificate/1"),
    "no format": (
        lambda d: d.pop("format"),
        "format: is missing; it must be slotwise.certificate/1",
    ),
    "unknown key": (lambda d: d.update(signature="x"), "is an unknown key"),
    "missing": (lambda d: d.pop("proofs"), "proofs: is missing"),
    "status": (lambda d: d.update(status="perfect"), "must be one of"),
    "no placement": (lambda d: d.update(placement=None), "has no placement when infeasible"),
    "text": (lambda d: d["objective"][0].update(value="0"), "must be a number"),
    "negative": (lambda d: d["objective"][0].update(value=-1), "must be finite and 0 or more"),
    "length": (
        lambda d: d["proofs"][0].update(bounds=[0]),
        "must have one entry per term (there are 2)",
    ),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_bad_input_is_refused_in_one_line(certified: Path, cli: Cli, what: str) -> None:
    change, message = MALFORMED[what]
    tampered(certified, change)
    answer = cli("verify", "word-count.json", certified)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_infeasibility_is_certified_and_resolved(examples: Path, cli: Cli) -> None:
    assert cli("solve", "too-big.json", "--certificate", "c.json").code == 1
    assert json.loads(Path("c.json").read_text())["placement"] is None
    assert cli("verify", "too-big.json", "c.json").code == 0
    resolved: Answer = cli("verify", "too-big.json", "c.json", "--resolve")
    assert resolved.code == 0
    assert "no placement keeps all hard rules" in resolved.out


def test_a_solve_without_an_answer_says_that_there_is_no_certificate(
    examples: Path, cli: Cli
) -> None:
    limit = ("--engine", "cp-sat", "--time-limit", 0.001, "--quiet")
    answer = cli("solve", "word-count.json", *limit, "--certificate", "c.json")
    assert answer.code == 3
    assert answer.err == "slotwise: --certificate = 'c.json': not written: there is no answer\n"
    assert not Path("c.json").exists()


def test_a_contradiction_is_proven_again_without_a_solver(tmp_path: Path, cli: Cli) -> None:
    file, certificate = tmp_path / "short.json", tmp_path / "c.json"
    write_instance(file, one_short("max per node", 0, 1).instance)
    assert cli("solve", file, "--certificate", certificate).code == 1
    answer = cli("verify", file, certificate)
    assert answer.code == 0
    first = "re-proven without a solver: no placement keeps every hard rule ("
    assert answer.out.startswith(first)
    assert answer.out.endswith(" too few); on trust: nothing\n")
    found = cli("verify", file, certificate, "--json").json
    assert (found["status"], found["on_trust"], found["resolve"]) == ("verified", [], None)


def test_infeasibility_without_a_contradiction_stays_on_trust() -> None:
    """A ring of five needs three workers, but no three of it exclude each other."""
    cluster = Cluster((Node("n1", "r1", slots=2),))
    ring = ("a", "b", "c", "d", "e")
    pairs = tuple(zip(ring, (*ring[1:], "a"), strict=True))
    parts = tuple(Component(name, "spout", 1) for name in ring)
    topology = Topology("t", parts, constraints=Constraints(incompatible=pairs))
    instance = Instance("ring", cluster, (topology,))
    certificate = certificate_of(compile_problem(instance), solve(instance, engine="exhaustive"))
    found = verify(instance, certificate)
    assert found.status == "placement verified"
    assert found.on_trust == ("no placement keeps every hard rule",)


def test_infeasibility_wrongly_claimed_is_found(certified: Path, cli: Cli) -> None:
    def claim(document: Document) -> None:
        document.update(status="infeasible", placement=None)
        for term in document["objective"]:
            term.update(value=None, bound=None)
        for proof in document["proofs"]:
            proof["bounds"] = [None, None]

    forged(certified, claim)
    assert cli("verify", "word-count.json", certified).code == 0
    assert cli("verify", "word-count.json", certified, "--resolve").code == 1


def test_round_trip_and_verification_of_any_instance(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    for number in range(25):
        problem = compile_problem(tiny_instance(rng))
        result = solve(problem, engine="exhaustive")
        certificate = certificate_of(problem, result)
        path = tmp_path / f"{number}.{'yaml' if number % 2 else 'json'}"
        write_certificate(path, certificate)
        read = read_certificate(path)
        assert read == certificate
        assert findings(problem.instance, read) == ()
        check = resolve(problem, read, Limits(time_s=30), engine="cp-sat")
        assert check.agreement is Agreement.AGREED


def test_no_answer_is_no_certificate(tmp_path: Path) -> None:
    from slotwise.models.families.rstorm import RSTORM

    problem = compile_problem(RSTORM.make(0, 0))
    result = solve(problem, engine="cp-sat", time_limit_s=1e-6)
    assert result.status is Status.UNKNOWN
    with pytest.raises(InputError, match="has no answer to certify"):
        certificate_of(problem, result)


def test_a_result_of_another_instance_is_not_certified() -> None:
    mine = tiny_instance(np.random.default_rng(1))
    result = solve(compile_problem(mine), engine="exhaustive")
    for seed in range(2, 8):
        other = tiny_instance(np.random.default_rng(seed))
        with pytest.raises(InputError, match="it is another instance's"):
            certificate_of(compile_problem(other), result)


def test_values_finer_than_inputs_survive(tmp_path: Path) -> None:
    problem = compile_problem(tiny_instance(np.random.default_rng(1)))
    certificate = certificate_of(problem, solve(problem, engine="exhaustive"))
    fine = replace(certificate.objective[0], bound=Fraction(1, 10**12))
    changed = replace(certificate, objective=(fine, *certificate.objective[1:]))
    write_certificate(tmp_path / "fine.json", changed)
    assert read_certificate(tmp_path / "fine.json") == changed


def test_checking_needs_no_solver() -> None:
    code = (
        "import sys, slotwise.models.certificates, slotwise.models.certificates\n"
        "import slotwise.solver.verification.verify\n"
        "print({'ortools', 'highspy', 'pulp'} & {n.partition('.')[0] for n in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_python_api_mirrors_it(examples: Path) -> None:
    import slotwise

    instance = slotwise.read_instance("word-count.json")
    certificate = slotwise.certify(instance, slotwise.solve(instance))
    assert slotwise.verify(instance, certificate).status == "placement verified"
    assert slotwise.verify(instance, certificate, resolve=True).status == "verified"
