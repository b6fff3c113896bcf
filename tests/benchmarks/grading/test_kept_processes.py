"""Which processes do runs: what is kept, what is replaced, what has been loaded before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from threading import Timer

import psutil
import pytest

from slotwise.benchmarks.grading.children import supervisor
from slotwise.benchmarks.grading.children.supervisor import answers, run_environment, shares_process
from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan
from slotwise.benchmarks.grading.rows import Kind
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.processes.fork_server import server_environment

METHODS = ("round-robin", "r-storm", "hash")


@pytest.fixture(autouse=True)
def same_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep servers within a test, and leave none."""
    monkeypatch.setattr(supervisor, "_origin", lambda: (_stable(run_environment(os.environ)), ()))
    yield
    supervisor._close_kept()


def _stable(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith("PYTEST")}


def planned(*methods: str, **limits: float) -> list[PlannedRun]:
    cases = read_cases(["rstorm"], 0, 2)
    plan = make_plan(cases, methods, "auto", RunLimits(30.0, 1, 0, None))
    return [replace(run, **limits) for run in plan if run.kind != Kind.EXACT]  # type: ignore[arg-type]


def exact_runs() -> list[PlannedRun]:
    cases = read_cases(["rstorm"], 0, 2)
    plan = make_plan(cases, [], "auto", RunLimits(30.0, 1, 0, None))
    return [run for run in plan if run.kind == Kind.EXACT]


def processes() -> tuple[int, ...]:
    """Return the server and what it has forked."""
    (kept,) = supervisor._KEPT
    assert kept._server is not None
    server = psutil.Process(kept._server._process.pid)
    return (server.pid, *(one.pid for one in server.children(recursive=True)))


@pytest.mark.slow
def test_calls_of_one_process_share_the_processes() -> None:
    first = list(answers(planned(*METHODS)))
    before = processes()
    second = list(answers(planned(*METHODS)))
    assert [row["placement"] for row in first] == [row["placement"] for row in second]
    assert len(before) == 2
    assert processes() == before


@pytest.mark.slow
def test_exact_runs_leave_no_process_and_do_not_disturb_the_kept_one() -> None:
    list(answers(planned("round-robin")))
    before = processes()
    rows = list(answers(exact_runs()))
    assert [row["status"] for row in rows] == ["optimal", "optimal"]
    assert processes() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "value"), [("MOST_RUNS", 2), ("MOST_GROWTH_MB", -1.0), ("BATCH", 1)]
)
def test_a_process_that_is_old_or_has_grown_is_replaced(
    limit: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    list(answers(planned("round-robin")))
    server, first = processes()
    monkeypatch.setattr(supervisor, limit, value)
    for _ in range(2):
        assert len(list(answers(planned(*METHODS)))) == 6
    assert (processes()[0], processes()[1] == first) == (server, limit == "BATCH")


def test_runs_with_another_memory_limit_get_another_process() -> None:
    list(answers(planned("round-robin")))
    server, first = processes()
    list(answers(planned("round-robin", memory_limit_mb=700)))
    assert processes()[0] == server
    assert processes()[1] != first


def test_an_abandoned_call_leaves_no_process() -> None:
    others = set(psutil.Process().children())  # of tests before this one, and Spark's
    going = answers(planned(*METHODS))
    next(going)
    (server,) = set(psutil.Process().children()) - others
    below = [server, *server.children(recursive=True)]
    assert len(below) == 2
    going.close()
    assert not any(one.is_running() for one in below)
    assert supervisor._KEPT == []


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
def test_a_kept_process_that_was_killed_is_replaced(which: int) -> None:
    list(answers(planned("round-robin")))
    before = processes()
    killed = psutil.Process(before[which])
    killed.kill()
    psutil.wait_procs([killed], timeout=20)
    assert {row["status"] for row in answers(planned("round-robin"))} == {"valid"}
    assert processes()[which] != before[which]


@pytest.mark.slow
def test_a_killed_process_is_replaced_before_its_server_has_said_so() -> None:
    list(answers(planned("round-robin")))
    server, killed = map(psutil.Process, processes())
    server.suspend()
    killed.kill()
    while killed.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    Timer(0.2, server.resume).start()
    assert {row["status"] for row in answers(planned("round-robin"))} == {"valid"}


@pytest.mark.slow
def test_another_environment_gets_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    list(answers(planned("round-robin")))
    before = processes()
    monkeypatch.setenv("SLOTWISE_TEST", "1")
    list(answers(planned("round-robin")))
    assert not {*before} & {*processes()}


def test_only_our_own_heuristics_share_a_process() -> None:
    names = ("round-robin", "ldg:seed=3", "storm:ras-default", "cmd:true", "another's")
    (run,) = planned("round-robin")[:1]
    shared = [name for name in names if shares_process(replace(run, method=name))]
    assert shared == ["round-robin", "ldg:seed=3", "storm:ras-default"]
    assert not shares_process(replace(run, kind=str(Kind.EXTERNAL)))
    assert not any(map(shares_process, exact_runs()))


PREPARED = """
import json, os
from slotwise.benchmarks.grading.children.compiled_loops import _dispatchers, load_compiled_loops
from slotwise.benchmarks.grading.children import child, supervisor
from slotwise.benchmarks.grading.preload import preload
from slotwise.benchmarks.grading.rows import Kind
from slotwise.processes.fork_server import leave_server_environment
preload(Kind.HEURISTIC)
preload(Kind.EXACT)
threads = len(os.listdir("/proc/self/task"))
loaded, again = load_compiled_loops(), load_compiled_loops()
leave_server_environment()
print(json.dumps([threads, loaded, again, len(_dispatchers()), dict(os.environ)]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_what_is_forked_has_one_thread_and_the_compiled_loops() -> None:
    warmed = "from slotwise.heuristics.partitioning.kernels import _hashed; _hashed(1, 2)"
    subprocess.run([sys.executable, "-c", warmed], check=True)  # now they are in the cache
    runs = run_environment({**os.environ, "PYTHONSAFEPATH": "1"})
    done = subprocess.run(
        [sys.executable, "-c", PREPARED],
        env=server_environment(runs),
        capture_output=True,
        text=True,
        check=True,
    )
    threads, loaded, again, all_loops, left = json.loads(done.stdout)
    assert threads == 1, "a fork copies no other thread, but the locks that it holds"
    assert loaded >= 1
    assert again == 0
    assert all_loops >= 40
    assert {name: left.get(name) for name in runs} == runs
    assert "PYTHONSAFEPATH" not in left
