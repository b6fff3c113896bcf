"""Every fault of a method is a row with its status, and the next run does not notice."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import faulty_methods
import psutil
import pytest

from slotwise.benchmarks.grading.children import run_process, supervisor
from slotwise.benchmarks.grading.children.supervisor import answers
from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan
from slotwise.benchmarks.grading.rows import Kind, RunOutcome
from slotwise.benchmarks.grading.sources import Case, read_cases

LIMITS = RunLimits(60.0, 1, 0, None, memory_limit_mb=600)
MADE = ("lies", "tells")


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install the package of faulty methods, as pip would."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copy(faulty_methods.__file__, folder / "faulty_methods.py")
    (folder / "faulty-1.dist-info").mkdir()
    made = [f"{name} = faulty_methods:{name}" for name in MADE]
    made += [
        f"{name} = faulty_methods:make_{name.replace('-', '_')}" for name in faulty_methods.FAULTS
    ]
    lines = "\n".join(["[slotwise.methods]", *made])
    (folder / "faulty-1.dist-info" / "entry_points.txt").write_text(lines, encoding="utf-8")
    metadata = "Metadata-Version: 2.1\nName: faulty\nVersion: 1\n"
    (folder / "faulty-1.dist-info" / "METADATA").write_text(metadata, encoding="utf-8")
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def case() -> Case:
    return read_cases(["rstorm"], 0, 2)[1]


def runs_of(case: Case, *methods: str, limits: RunLimits = LIMITS) -> tuple[PlannedRun, ...]:
    plan = make_plan([case], methods, "auto", limits)
    return tuple(run for run in plan if run.kind != Kind.EXACT)


def row_of(case: Case, method: str, grace_s: float = 60.0, **limits: float) -> RunOutcome:
    """Return the row of `method`; runs before and after it go as ever."""
    tells, asked, ours = runs_of(case, "tells", method, "round-robin")
    asked = replace(asked, **limits)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTEST_CURRENT_TEST", raising=False)  # another environment, another server
        before, row, after, other = answers((tells, asked, tells, ours), grace_s)
    assert before["status"] == "refused"
    assert after["reason"] == before["reason"]
    assert other["status"] == "valid"
    return row


BROKEN = {
    "aborts": "died by SIGABRT",
    "segfault": "died by SIGSEGV",
    "exits": "the process exited early with code 3",
    "says-exit": "the method says-exit failed: SystemExit: 3",
    "raises": r"the method raises failed: ValueError: no \x1b[2J",
    "kills-itself": "died by SIGKILL, possibly for lack of memory",
    "kills-parent": "the process that starts runs has ended",
    "floods": "killed: it printed more than 64 MiB",
    "closes-all-files": "killed: it closed its connection and went on",
    "answers-rubbish": "killed: its answer cannot be read",
}


@pytest.mark.slow
@pytest.mark.parametrize("method", BROKEN)
def test_a_method_that_breaks_down(case: Case, method: str) -> None:
    row = row_of(case, method)
    assert (row["status"], str(row["error"])[: len(BROKEN[method])]) == ("crashed", BROKEN[method])
    assert row["wall_s"] is not None


HARMLESS = (
    *("prints-rubbish", "leaves-children", "returns-twice", "leaves-a-thread"),
    "changes-everything",
)


@pytest.mark.parametrize("method", HARMLESS)
def test_a_method_that_leaves_a_mess(case: Case, method: str) -> None:
    assert row_of(case, method)["status"] == "valid"
    (kept,) = supervisor._KEPT
    assert kept._shared is not None
    server = psutil.Process(kept._shared.pid).parent()
    assert server is not None
    assert server.parent() == psutil.Process()
    assert len(server.children(recursive=True)) == 1, "the process of our own heuristics"


def test_a_placement_that_breaks_a_rule(case: Case) -> None:
    row = row_of(case, "lies")
    assert row["status"] == "broken rule"
    assert row["violation_count"]


@pytest.mark.parametrize("method", ["bomb", "bomb-in-a-child"])
def test_a_method_that_takes_too_much_memory(case: Case, method: str) -> None:
    row = row_of(case, method)
    assert row["status"] == "memory"
    assert row["error"] == "ended: it held more than 600 MB, its limit"
    assert 600 < (row["peak_memory_mb"] or 0) < 1200


def test_a_method_that_asks_for_more_than_there_is(case: Case) -> None:
    row = row_of(case, "greedy")
    assert row["status"] == "memory"
    assert "MemoryError" in str(row["error"])
    assert str(row["error"]).endswith("; its memory limit is 600 MB")


@pytest.mark.parametrize("method", ["hangs", "hangs-deaf"])
def test_a_method_that_does_not_end(case: Case, method: str) -> None:
    started = time.monotonic()
    row = row_of(case, method, grace_s=5.0, time_limit_s=0.5)
    assert row["status"] == "timeout"
    assert "time limit" in str(row["error"])
    assert time.monotonic() - started < 40


def test_what_the_kernel_kills_is_out_of_memory(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter(range(100))
    monkeypatch.setattr(run_process, "kernel_kills", lambda: next(counts))
    row = row_of(case, "kills-itself")
    assert row["status"] == "memory"
    assert str(row["error"]).startswith("killed by the system for lack of memory; ")
    assert str(row["error"]).endswith("; its memory limit is 600 MB")
