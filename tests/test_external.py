"""External commands as methods, and methods that other packages bring."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
import time
from collections.abc import Callable
from decimal import Decimal
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from slotwise.heuristics import HEURISTICS, external, registry
from slotwise.heuristics.external import external_method
from slotwise.heuristics.method import Method
from slotwise.heuristics.place import run_method
from slotwise.heuristics.registry import all_methods, find_method
from slotwise.models.cluster import Cluster, Node
from slotwise.models.compile import compile_problem
from slotwise.models.errors import InputError
from slotwise.models.instance import Instance
from slotwise.models.judge import judge
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.models.refusal import Refusal
from slotwise.models.topology import Component, Topology

Command = Callable[[str], str]

GOOD = """
import json, os, sys
instance = json.load(sys.stdin)
places = {
    topology["id"]: {
        f"{component['id']}[{index}]": {"node": instance["cluster"]["nodes"][0]["id"], "worker": 0}
        for component in topology["components"]
        for index in range(component["parallelism"])
    }
    for topology in instance["topologies"]
}
answer = {
    "format": "slotwise.placement/1",
    "instance": os.environ["SLOTWISE_INSTANCE"],
    "topologies": places,
}
"""


@pytest.fixture
def problem() -> Problem:
    """Two tasks, one node, no limits."""
    cpu = {"cpu": Decimal(10)}
    nodes = (Node("n1", "r", resources={"cpu": Decimal(100)}),)
    topology = Topology("t", (Component("s", "spout", 2, cpu),))
    return compile_problem(Instance("tiny", Cluster(nodes), (topology,)))


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Make a command of a Python script."""

    def make(source: str) -> str:
        script = tmp_path / "a method.py"
        script.write_text(textwrap.dedent(source), encoding="utf-8")
        return shlex.join([sys.executable, str(script)])

    return make


def refusal(problem: Problem, words: str, **options: float) -> str:
    answer = run_method(problem, find_method(f"cmd:{words}", **options), 0)
    assert isinstance(answer, Refusal)
    assert "\n" not in answer.reason
    return answer.reason


def test_a_good_command_places(problem: Problem, command: Command) -> None:
    words = command(GOOD + "json.dump(answer, sys.stdout)")
    answer = run_method(problem, find_method(f"cmd:{words}"), 0)
    assert answer == Placement((0, 0), (0, 0))
    assert judge(problem, answer).valid


def test_a_refusing_command_is_quoted(problem: Problem, command: Command) -> None:
    words = command('print(\'{"refused": "too many tasks"}\')')
    assert refusal(problem, words) == "too many tasks"


def test_a_command_that_need_not_read_its_input_is_heard(
    problem: Problem, command: Command
) -> None:
    words = command('import sys; sys.stdin.close(); print(\'{"refused": "no"}\')')
    assert refusal(problem, words) == "no"


def test_a_failing_command_is_refused_with_the_end_of_its_stderr(
    problem: Problem, command: Command
) -> None:
    reason = refusal(problem, command("import sys\nprint('x' * 999, file=sys.stderr)\n1 / 0"))
    assert reason.startswith("the command failed with exit code 1; stderr: ...")
    assert reason.endswith("ZeroDivisionError: division by zero")
    assert len(reason) < 400


def test_an_answer_counts_only_with_exit_code_0(problem: Problem, command: Command) -> None:
    words = command(GOOD + "json.dump(answer, sys.stdout)\nsys.exit(3)")
    assert refusal(problem, words) == "the command failed with exit code 3"


def test_a_killed_command_names_the_signal(problem: Problem, command: Command) -> None:
    words = command("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert refusal(problem, words) == "the command was ended by signal 9"


def test_a_hanging_command_is_ended_with_its_children(
    problem: Problem, command: Command, tmp_path: Path
) -> None:
    pid = tmp_path / "child"
    words = command(
        f"""
        import pathlib, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        pathlib.Path({str(pid)!r}).write_text(str(child.pid))
        print("thinking", file=sys.stderr, flush=True)
        time.sleep(60)
        """
    )
    start = time.monotonic()
    reason = refusal(problem, words, time_limit_s=2.0)
    assert reason == "the command was ended at its time limit of 2 s; stderr: thinking"
    assert time.monotonic() - start < 20
    assert gone(int(pid.read_text()))


def test_a_child_that_leaves_the_group_cannot_hold_the_answer_up(
    problem: Problem, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external, "LAST_WORDS_S", 0.2)
    words = command(
        """
        import subprocess, sys, time
        sleep = [sys.executable, "-c", "import time; time.sleep(5)"]
        subprocess.Popen(sleep, start_new_session=True)
        time.sleep(60)
        """
    )
    start = time.monotonic()
    reason = refusal(problem, words, time_limit_s=1.0)
    assert reason == "the command was ended at its time limit of 1 s"
    assert time.monotonic() - start < 4


def gone(pid: int) -> bool:
    """Whether a process has ended; a child of nobody may stay as a zombie for a moment."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        status = Path(f"/proc/{pid}/stat")
        if status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("", "the command wrote no answer"),
        ("print('hello')", "its answer cannot be used: line 1 column 1"),
        ("print('{} {}')", "its answer cannot be used: line 1 column 4"),
        ("print('[]')", "must be an object"),
        ("print('{}')", "format: is missing"),
        ("print('{\"refused\": 3}')", "its answer cannot be used: refused"),
        ("sys.stdout.buffer.write(bytes([255, 254]))", "its answer is no UTF-8 text: byte 0"),
    ],
)
def test_garbage_is_refused(problem: Problem, command: Command, output: str, reason: str) -> None:
    assert reason in refusal(problem, command("import sys\n" + output))


def test_a_placement_of_another_instance_is_refused(problem: Problem, command: Command) -> None:
    words = command(GOOD + "answer['instance'] = 'sha256:' + '0' * 64\nprint(json.dumps(answer))")
    assert "another instance" in refusal(problem, words)


def test_unknown_tasks_and_nodes_are_refused(problem: Problem, command: Command) -> None:
    words = command(GOOD + "places['t']['s[7]'] = places['t']['s[0]']\nprint(json.dumps(answer))")
    assert "s[7]" in refusal(problem, words)
    words = command(GOOD + "places['t']['s[0]']['node'] = 'n9'\nprint(json.dumps(answer))")
    assert "n9" in refusal(problem, words)


def test_a_task_left_out_is_left_to_the_judge(problem: Problem, command: Command) -> None:
    words = command(GOOD + "del places['t']['s[0]']\nprint(json.dumps(answer))")
    answer = run_method(problem, find_method(f"cmd:{words}"), 0)
    assert isinstance(answer, Placement)
    assert [v.rule for v in judge(problem, answer).violations] == ["placed"]


def test_a_command_that_does_not_exist_is_refused(problem: Problem) -> None:
    reason = refusal(problem, "/no/such/command --fast")
    assert reason == "cannot start '/no/such/command': No such file or directory"


def test_no_shell_reads_the_command(problem: Problem, command: Command, tmp_path: Path) -> None:
    words = command("import sys; print('{\"refused\": \"' + ' '.join(sys.argv[1:]) + '\"}')")
    assert refusal(problem, words + " '$HOME' ; *.py > x") == "$HOME ; *.py > x"


def test_the_seed_of_the_run_reaches_the_command(problem: Problem, command: Command) -> None:
    words = command("import os; print('{\"refused\": \"' + os.environ['SLOTWISE_SEED'] + '\"}')")
    method = external_method(words)
    answers = [run_method(problem, method, seed) for seed in (1, 1, 2)]
    assert answers[0] == answers[1] != answers[2]


@pytest.mark.parametrize("name", ["cmd:", "cmd:  ", "cmd:sort 'x"])
def test_a_command_without_words_is_bad_input(name: str) -> None:
    with pytest.raises(InputError, match=r"command|words"):
        find_method(name)


def test_a_time_limit_is_above_0() -> None:
    with pytest.raises(InputError, match="time_limit_s"):
        find_method("cmd:true", time_limit_s=float("nan"))


# The registry


def nowhere(problem: Problem, rng: np.random.Generator) -> Refusal:
    return Refusal("nowhere")


MINE = Method("mine", "a test", nowhere)


def make_mine() -> Method:
    return MINE


def not_mine() -> int:
    return 3


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend that packages bring the entry points name -> object of this file."""

    def pretend(**points: str) -> None:
        monkeypatch.setitem(sys.modules, "brought_by_others", sys.modules[__name__])
        found = tuple(
            EntryPoint(name.replace("_", "-"), f"brought_by_others:{value}", registry.GROUP)
            for name, value in points.items()
        )
        monkeypatch.setattr(registry, "entry_points", lambda group: found)

    return pretend


@pytest.mark.parametrize("value", ["MINE", "make_mine"])
def test_an_entry_point_brings_a_method(
    added: Callable[..., None], problem: Problem, value: str
) -> None:
    added(mine=value)
    assert find_method("mine") is MINE
    assert all_methods() == (*HEURISTICS.values(), MINE)
    assert run_method(problem, find_method("mine"), 0) == Refusal("nowhere")


def test_a_built_in_name_is_refused(added: Callable[..., None]) -> None:
    added(r_storm="MINE")
    for find in (all_methods, lambda: find_method("r-storm"), lambda: find_method("other")):
        with pytest.raises(InputError, match=r"'r-storm'.*built-in"):
            find()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("absent", "cannot be loaded"),
        ("not_mine", "not int"),
        ("GOOD", "not str"),
    ],
)
def test_an_unusable_entry_point_is_named(
    added: Callable[..., None], value: str, message: str
) -> None:
    added(broken=value)
    with pytest.raises(InputError, match=f"'broken'.*{message}"):
        find_method("broken")
    assert find_method("r-storm") is HEURISTICS["r-storm"]


def test_an_entry_point_has_its_methods_name(added: Callable[..., None]) -> None:
    added(yours="MINE")
    with pytest.raises(InputError, match=r"'yours'.*'mine'"):
        find_method("yours")


def test_an_unknown_method_names_close_ones() -> None:
    with pytest.raises(InputError, match=r"'rstorm'.*did you mean r-storm or r-storm-1\.0\?"):
        find_method("rstorm")
    with pytest.raises(InputError, match=r"r-storm.*cmd:COMMAND"):
        find_method("zzz")
