"""Real trials, whatever the machine's speed: every tuple is answered; faults are named."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from slotwise.models.errors import InputError
from slotwise.pipeline.profiling import trial
from slotwise.pipeline.profiling.settings import Parallel, Settings
from slotwise.pipeline.profiling.slot import is_callable_name
from slotwise.pipeline.profiling.trial import (
    NO_ANSWERS,
    is_stable,
    latency_slope,
    run_trial,
    trials_file,
)

QUICK = Settings(seconds=0.2, warm_up=0.05, least_tuples=5)
ECHO = f"{sys.executable} -S -u -c 'while True: print(input())'"

TASKS = {
    "threads": ("math:sqrt", QUICK),
    "processes": ("math:sqrt", replace(QUICK, parallel=Parallel.PROCESSES)),
    "commands": (ECHO, QUICK),
}


@pytest.mark.parametrize(("task", "settings"), TASKS.values(), ids=TASKS)
def test_every_tuple_is_answered(task: str, settings: Settings) -> None:
    found = run_trial(task, 2, 50, settings)
    assert (found.threads, found.rate, found.sent) == (2, 50, 9)
    assert found.answered == found.sent
    assert found.memory >= 0


@pytest.mark.parametrize("rate", [1500, 10_000])
def test_what_is_due_at_the_end_is_sent(rate: float) -> None:
    """The source looks once a millisecond, in which several tuples become due."""
    for _ in range(5):
        found = run_trial("math:sqrt", 1, rate, QUICK)
        assert found.answered == found.sent


EXAMPLES = Path(__file__).parents[3] / "docs" / "examples" / "profile"


@pytest.mark.parametrize("task", ["parse_xml", "viete_pi", "sleep_20_ms", "ask_service"])
def test_the_examples_answer(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    command = [sys.executable, "service.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        monkeypatch.setenv("PORT", service.stdout.readline().strip())
        found = run_trial(f"tasks:{task}", 2, 25, QUICK)
        service.kill()
    assert found.answered == found.sent == 4


def test_a_task_that_is_too_slow_is_unstable() -> None:
    """It sleeps as many seconds as the number of its tuple: from the second on it lags behind."""
    found = run_trial("time:sleep", 1, 50, QUICK)
    assert not found.stable
    assert found.answered < found.sent


FAULTS = {
    "no module": ("nowhere:task", "No module named 'nowhere'"),
    "no callable": ("math:pi", "math:pi cannot be called"),
    "raises": ("operator:not_there", "has no attribute 'not_there'"),
    "raises on a tuple": ("os:listdir", "ended with exit code 1 in a trial"),
    "no program": ("/nowhere/program", "cannot be started: No such file or directory"),
    "nothing": (" ", "must be a command, or package.module:callable"),
    "quotes": ("cat 'x", "is not a valid command: No closing quotation"),
    "ends": (f"{sys.executable} -c 'raise SystemExit(3)'", "ended with exit code 3 in a trial"),
}


@pytest.mark.parametrize(("task", "message"), FAULTS.values(), ids=FAULTS)
def test_a_task_that_fails_is_named(task: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        run_trial(task, 1, 50, QUICK)
    assert "\n" not in str(raised.value)


def test_a_task_that_never_answers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "PATIENCE_S", 0.5)
    with pytest.raises(InputError, match=r"answered no tuple in 0.5 s; a command must answer"):
        run_trial("sleep 100", 1, 50, QUICK)


def test_what_a_command_starts_counts(tmp_path: Path) -> None:
    """A shell whose child computes: the CPU is the child's; with the shell it ends, too."""
    busy = tmp_path / "busy.py"
    busy.write_text(
        "import sys, time\n"
        "for line in sys.stdin:\n"
        "    end = time.process_time() + 0.005\n"
        "    while time.process_time() < end: pass\n"
        "    print(line, end='', flush=True)\n"
        "time.sleep(60)\n"  # it does not end by itself
    )
    shell = f"sh -c '{sys.executable} -S {busy}; true'"
    measured = run_trial(shell, 1, 25, QUICK)
    assert measured.cpu > 1
    left = [
        one for one in psutil.process_iter(["cmdline"]) if str(busy) in (one.info["cmdline"] or [])
    ]
    _, alive = psutil.wait_procs(left, timeout=20)  # one that is killed takes a moment to go
    assert alive == []


def test_callables_are_told_from_commands() -> None:
    assert is_callable_name("package.module:Class.method")
    assert not any(map(is_callable_name, ["cat", "./a:b", "a:b c", "python -m a:b", ":a", "a:"]))


def test_the_slope_is_that_of_a_queue() -> None:
    """At 10 % above what a task supports, latency rises by 0.1 s per s; a hiccup changes little."""
    moments = np.arange(0, 2, 0.01)
    latency = 0.02 + 0.1 * moments
    assert latency_slope(moments, latency) == pytest.approx(0.1)
    latency[50:55] += 1
    assert latency_slope(moments, latency) == pytest.approx(0.1, abs=0.01)
    assert latency_slope(moments, np.full(200, 0.02)) == pytest.approx(0, abs=1e-12)
    assert latency_slope(moments[:1], latency[:1]) == NO_ANSWERS


@pytest.mark.parametrize(
    ("slope", "answered", "stable"),
    [(0.02, 100, True), (-0.5, 100, True), (0.021, 100, False), (0.0, 99, False)],
)
def test_stable_is_all_answered_and_no_rise(slope: float, answered: int, stable: bool) -> None:
    assert is_stable(slope, sent=100, answered=answered, max_slope=0.02) == stable


def test_trials_are_kept_and_read(tmp_path: Path) -> None:
    path = tmp_path / "m.trials.jsonl"
    found = run_trial("math:sqrt", 1, 50, QUICK)
    trials_file(path, "math:sqrt", QUICK).append(found)
    trials_file(path, "math:sqrt", QUICK).append(found)
    assert trials_file(path, "math:sqrt", QUICK).rows == [found, found]
    with pytest.raises(InputError, match="line 1: holds rows of something else"):
        trials_file(path, "math:sqrt", replace(QUICK, seconds=1))
    path.write_text(path.read_text().splitlines()[0] + '\n{"threads": 1}\n')
    with pytest.raises(InputError, match=r"line 2: is not a row \(rate: is missing\)"):
        trials_file(path, "math:sqrt", QUICK)


BAD = {
    "threads": {"threads": (2, 4)},
    "seconds": {"seconds": 0.0},
    "first_rate": {"first_rate": 10.0, "max_rate": 5.0},
    "resolution": {"resolution": 0.9},
    "core": {"core": 100_000},
    "warm_up": {"warm_up": float("nan")},
    "max_rate": {"max_rate": float("inf")},
}


@pytest.mark.parametrize("field", BAD)
def test_bad_settings_are_refused(field: str) -> None:
    with pytest.raises(InputError) as raised:
        run_trial("math:sqrt", 1, 50, replace(QUICK, **BAD[field]))
    assert raised.value.field == field
