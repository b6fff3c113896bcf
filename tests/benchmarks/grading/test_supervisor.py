"""The child processes, without Spark."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from live_processes import end_in_time

from slotwise.benchmarks.grading.children.supervisor import answers
from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan
from slotwise.benchmarks.grading.rows import COLUMNS, Kind, Row
from slotwise.benchmarks.grading.sources import Case, read_cases, tightness
from slotwise.benchmarks.judged.reading import judged_rows
from slotwise.benchmarks.judged.summary import summarise
from slotwise.models.errors import InputError
from slotwise.models.families.registry import FAMILIES
from slotwise.models.problem.compile import compile_problem

LIMITS = RunLimits(10.0, 1, 0, None)


@pytest.fixture(scope="module")
def case() -> Case:
    return read_cases(["rstorm"], 0, 2)[1]


def command(tmp_path: Path, code: str) -> str:
    script = tmp_path / "method.py"
    script.write_text(f"import os, signal, sys, time\nsys.stdin.read()\n{code}\n", encoding="utf-8")
    return f"cmd:{sys.executable} {script}"


def runs_of(case: Case, *methods: str, limits: RunLimits = LIMITS) -> tuple[PlannedRun, ...]:
    return tuple(r for r in make_plan([case], methods, "auto", limits) if r.kind != Kind.EXACT)


def signals_the_child(name: str) -> str:
    """Return code of a command that sends the child a signal: the parent of its reaper."""
    return (
        "import subprocess\n"
        "parent = subprocess.check_output(['ps', '-o', 'ppid=', '-p', str(os.getppid())])\n"
        f"os.kill(int(parent), signal.{name})\n"
    )


@pytest.mark.slow
def test_a_crash_becomes_a_row_and_the_others_go_on(case: Case, tmp_path: Path) -> None:
    kill = command(tmp_path, signals_the_child("SIGKILL"))
    found = list(answers(runs_of(case, "round-robin", kill, "r-storm")))
    assert [answer["status"] for answer in found] == ["valid", "crashed", "valid"]
    assert "SIGKILL" in found[1]["error"]


def test_a_run_past_its_limit_is_killed(case: Case, tmp_path: Path) -> None:
    hang = command(tmp_path, signals_the_child("SIGSTOP"))
    limits = replace(LIMITS, time_limit_s=0.5)
    started = time.monotonic()
    (found,) = answers(runs_of(case, hang, limits=limits), grace_s=1.0)
    assert found["status"] == "timeout"
    assert time.monotonic() - started < 20


def test_failing_command_is_graded_as_it_says(case: Case, tmp_path: Path) -> None:
    refuse = command(tmp_path, """print('{"refused": "I do not like it"}')""")
    (found,) = answers(runs_of(case, refuse))
    assert (found["status"], found["reason"]) == ("refused", "I do not like it")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("sys.exit(3)", "crashed", "exit code 3"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "signal 11"),
        ("print('garbage')", "crashed", "its answer cannot be used"),
        ("", "crashed", "wrote no answer"),
        ("time.sleep(99)", "timeout", "ended at its time limit of 0.5 s"),
    ],
)
def test_a_command_that_breaks_down_is_a_failure(
    case: Case, tmp_path: Path, code: str, status: str, error: str
) -> None:
    limits = replace(LIMITS, time_limit_s=0.5 if status == "timeout" else 30.0)
    broken = runs_of(case, command(tmp_path, code), limits=limits)
    (found,) = answers(broken)
    assert found["status"] == status
    assert error in found["error"]
    assert found.get("reason") is None
    summary = summarise(judged_rows([{**blank(), **broken[0].columns(), **found}]), "")
    assert summary.methods["failed"].tolist() == [1]


def blank() -> Row:
    return dict.fromkeys(COLUMNS)


def test_control_characters_of_a_dying_process_are_escaped(case: Case, tmp_path: Path) -> None:
    say = "print('\\x1b[2J gone', file=open(f'/proc/{int(parent)}/fd/2', 'w'))\n"
    code = signals_the_child("SIGKILL").replace("os.kill", f"{say}os.kill")
    (found,) = answers(runs_of(case, command(tmp_path, code)))
    assert found["status"] == "crashed"
    assert found["error"].isprintable()
    assert r"\x1b[2J gone" in found["error"]


def test_command_runs_in_the_users_folder_and_python(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside.py").write_text("REASON = 'found'\n", encoding="utf-8")
    (tmp_path / "slotwise").mkdir()
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    say = "import json, beside\nprint(json.dumps({'refused': beside.REASON}))"
    command(tmp_path, say)
    limits = replace(LIMITS, folder=str(tmp_path))
    (found,) = answers(runs_of(case, f"cmd:{sys.executable} method.py", limits=limits))
    assert (found["status"], found["reason"]) == ("refused", "found")


def test_error_of_ours_is_a_row(case: Case) -> None:
    other = replace(case, hash="sha256:0", text="")
    (found,) = answers(runs_of(other, "round-robin"))
    assert found["status"] == "error"
    assert "different versions" in found["error"]


ASKS_FOR_RUNS = """
import pickle, sys
from slotwise.benchmarks.grading.children.supervisor import answers
list(answers(pickle.loads(bytes.fromhex(sys.argv[1]))))
"""


def test_when_the_parent_is_killed_nothing_stays(case: Case, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    sleep = command(tmp_path, f"open({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(99)")
    runs = pickle.dumps(runs_of(case, sleep)).hex()
    parent = subprocess.Popen([sys.executable, "-c", ASKS_FOR_RUNS, runs])
    wait_for(lambda: mark.exists() and mark.read_text(encoding="utf-8") != "")
    below = psutil.Process(parent.pid).children(recursive=True)
    assert int(mark.read_text(encoding="utf-8")) in [one.pid for one in below]
    parent.kill()
    parent.wait()
    assert end_in_time(*(one.pid for one in below))


def wait_for(happens: object, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    assert callable(happens)
    while not happens():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.05)


def test_tightness_is_the_worst_hard_resource() -> None:
    problem = compile_problem(FAMILIES["rstorm"].make(0, 0))
    assert 0 < tightness(problem) <= 1


def test_unknown_source_names_close_families() -> None:
    with pytest.raises(InputError, match="did you mean 'rstorm'"):
        read_cases(["rstrom"], 0, None)


def test_folder_without_instances_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no instance"):
        read_cases([str(tmp_path)], 0, None)
