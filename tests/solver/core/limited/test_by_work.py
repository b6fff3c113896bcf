"""A search limited by work answers the same whatever the clock and the process have seen."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from slotwise.models.cancellation import CancelledError, WorkClock
from slotwise.models.errors import InputError, UnfinishedError
from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core import limited
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Result, Status
from slotwise.solver.solve import solve
from slotwise.solver.verification.certify import proofs_of

OPEN = ("rstorm", 4, 0.2)
"""Family, index, units: more work would prove more."""

CASES = (
    OPEN,
    ("rstorm", 0, 0.1),
    ("rstorm-3d", 3, 0.2),
    ("random", 3, 0.5),
    ("random", 7, 0.01),
    ("stick-breaking", 2, 0.2),
    ("partition", 8, 0.1),
)

ENGINES = {
    "cp-sat": "word-count",
    "configurations": "running",
    "connected": "word-count",
    "exhaustive": "word-count",
    "partition": "fragmented",
    "dual-ascent": "rates",
    "subset-dp": "tight",
}
"""Engine -> an example that it takes."""


def made(family: str, index: int) -> Instance:
    return FAMILIES[family].make(index, 0)


def columns(result: Result) -> str:
    """Return all of a result but its times."""
    document = result.to_document() | {"seconds": None}
    document["picked"] = [pick["engine"] for pick in document["picked"]]
    return json.dumps([document, str(result.placement), [str(p) for p in result.proofs]])


def answer(family: str, index: int, units: float, engine: str = "auto") -> str:
    return columns(
        solve(made(family, index), engine=engine, time_limit_s=units, deterministic=True)
    )


@pytest.fixture
def fast_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what lets every second pass a thousand times as fast from then on."""
    real = time.perf_counter

    def start() -> None:
        begun = real()
        monkeypatch.setattr(time, "perf_counter", lambda: begun + 1000 * (real() - begun))
        monkeypatch.setattr(limited, "LEAST_WALL_S", math.inf)

    return start


@pytest.mark.slow
@pytest.mark.parametrize(("family", "index", "units"), CASES)
def test_no_second_decides(
    family: str, index: int, units: float, fast_clock: Callable[[], None]
) -> None:
    before = answer(family, index, units)
    fast_clock()
    assert answer(family, index, units) == before


@pytest.mark.parametrize(("engine", "example"), ENGINES.items())
def test_no_second_decides_for_an_engine_that_is_named(
    engine: str, example: str, fast_clock: Callable[[], None]
) -> None:
    instance = read_instance(f"docs/examples/{example}.json")

    def found() -> str:
        units = 0.003 if engine == "exhaustive" else 0.05
        return columns(solve(instance, engine=engine, time_limit_s=units, deterministic=True))

    before = found()
    fast_clock()
    assert found() == before


@pytest.mark.slow
def test_the_limit_is_one_of_work() -> None:
    results = [
        solve(made("rstorm", 4), time_limit_s=units, deterministic=True) for units in (0.2, 5.0)
    ]
    assert [result.status for result in results] == [Status.FEASIBLE, Status.OPTIMAL]
    little, much = (result.deterministic_work or 0.0 for result in results)
    assert 0.2 <= little < 0.4
    assert little < much < 5.0
    assert results[0].to_document()["deterministic"]


def test_proofs_tell_their_limit_in_seconds() -> None:
    problem = compile_problem(made("rstorm", 1))
    for deterministic, seconds in ((False, 30), (True, 360)):
        result = solve(problem, time_limit_s=30, deterministic=deterministic)
        assert {proof.time_limit_s for proof in proofs_of(problem, result)} == {seconds}


@pytest.mark.slow
def test_what_the_process_did_before_does_not_matter() -> None:
    fresh = subprocess.run(
        [sys.executable, "-c", FRESH, *map(str, OPEN)],
        env={**os.environ, "PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for family, index, units in CASES[1:4]:
        answer(family, index, units)
    assert answer(*OPEN) == fresh.strip()
    assert answer(*OPEN) == fresh.strip()


FRESH = """
import sys
sys.path.insert(0, ".")
from tests.solver.core.limited.test_by_work import answer
print(answer(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
"""


def test_engines_limited_by_seconds_and_threads_are_refused() -> None:
    instance = made("rstorm", 1)
    with pytest.raises(InputError, match="engine = 'milp': is limited by seconds alone"):
        solve(instance, engine="milp", deterministic=True)
    with pytest.raises(InputError, match="workers = 2: must be 1"):
        solve(instance, workers=2, deterministic=True)


def test_the_safety_limit_is_an_error_and_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "LEAST_WALL_S", 0.0)
    monkeypatch.setattr(limited, "MOST_SECONDS_PER_UNIT", 1e-9)
    with pytest.raises(UnfinishedError, match="the safety limit of 60 units of work") as raised:
        solve(made("rstorm", 1), deterministic=True)
    assert not raised.value.out_of_memory


def test_the_memory_limit_is_an_error_and_no_answer() -> None:
    with pytest.raises(UnfinishedError, match="passed its memory limit of 1 MB") as raised:
        solve(made("storm-like", 1), deterministic=True, memory_limit_mb=1)
    assert raised.value.out_of_memory


def test_estimates_of_memory_refuse_nothing() -> None:
    token = RunToken(clock=WorkClock())
    assert token.child().has_room(1e18, "a table")


def test_a_clock_moves_by_readings_and_by_what_it_is_told() -> None:
    clock = WorkClock(readings_per_unit=4)
    token = RunToken(deadline=1.0, clock=clock)
    child = token.child(0.5)
    assert child.now() == 0.25
    assert not child.is_cancelled
    with pytest.raises(CancelledError):
        child.check()
    assert child.is_cancelled
    assert not child.is_cancel_requested
    assert not token.is_cancelled
    token.spend(0.5)
    assert token.is_cancelled
    assert WorkClock(math.inf).now() == 0.0
