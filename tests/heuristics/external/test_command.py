"""External commands as methods, and methods that other packages bring."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from live_processes import end_in_time

from slotwise.cli.app import run
from slotwise.heuristics import registry
from slotwise.heuristics.external.command import external_method
from slotwise.heuristics.method import Method, MethodError
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.registry import all_methods, find_method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.processes import child, pipes

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


def failure(problem: Problem, words: str, **options: float) -> str:
    """Return how a command failed: in one line that is fit for a terminal."""
    with pytest.raises(MethodError) as caught:
        run_method(problem, find_method(f"cmd:{words}", **options), 0)
    assert caught.value.timed_out == ("time limit" in str(caught.value))
    assert str(caught.value).isprintable()
    return str(caught.value)


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


def test_a_failing_command_fails_with_the_end_of_its_stderr(
    problem: Problem, command: Command
) -> None:
    reason = failure(problem, command("import sys\nprint('x' * 999, file=sys.stderr)\n1 / 0"))
    assert reason.startswith("the command failed with exit code 1; stderr: ...")
    assert reason.endswith("ZeroDivisionError: division by zero")
    assert len(reason) < 400


def test_an_answer_counts_only_with_exit_code_0(problem: Problem, command: Command) -> None:
    words = command(GOOD + "json.dump(answer, sys.stdout)\nsys.exit(3)")
    assert failure(problem, words) == "the command failed with exit code 3"


def test_a_killed_command_names_the_signal(problem: Problem, command: Command) -> None:
    words = command("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert failure(problem, words) == "the command was ended by signal 9"


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
    reason = failure(problem, words, time_limit_s=2.0)
    assert reason == "the command was ended at its time limit of 2 s; stderr: thinking"
    assert time.monotonic() - start < 20
    assert end_in_time(int(pid.read_text()))


@pytest.fixture
def leaver(tmp_path: Path, command: Command) -> Callable[[str], tuple[str, Path]]:
    """Make a command with a child in a session of its own, which holds the pipes open."""
    pid = tmp_path / "pid"
    start = f"""
import pathlib, subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
child = subprocess.Popen(sleep, start_new_session=True)
pathlib.Path({str(pid)!r}).write_text(str(child.pid))
"""
    return lambda code: (command(start + GOOD + code), pid)


Leaver = Callable[[str], tuple[str, Path]]
linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only groups can be ended")


@linux
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("time.sleep(60)", "time limit of 1 s"),
        ("sys.exit(3)", "exit code 3"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
        ("while True: print('x' * 65536)", "it wrote more than 1 MiB to stdout"),
        ("while True: print('x' * 65536, file=sys.stderr)", "it wrote more than 1 MiB to stderr"),
    ],
)
def test_a_child_that_leaves_the_group_ends_with_a_failing_command(
    problem: Problem, leaver: Leaver, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    monkeypatch.setattr(pipes, "MOST_BYTES", 1 << 20)
    words, pid = leaver(code)
    limit = 1.0 if "time limit" in said else 60.0
    start = time.monotonic()
    assert said in failure(problem, words, time_limit_s=limit)
    assert time.monotonic() - start < 20
    assert end_in_time(int(pid.read_text()))


@linux
def test_a_child_that_leaves_the_group_ends_with_a_good_command(
    problem: Problem, leaver: Leaver
) -> None:
    words, pid = leaver("json.dump(answer, sys.stdout)")
    start = time.monotonic()
    assert run_method(problem, find_method(f"cmd:{words}"), 0) == Placement((0, 0), (0, 0))
    assert time.monotonic() - start < 20
    assert end_in_time(int(pid.read_text()))


@linux
def test_a_daemon_ends_with_its_command(problem: Problem, command: Command, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    words = command(
        f"""
        import os, pathlib, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 3)
                os.environ.clear()
                pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))
                time.sleep(60)
            os._exit(0)
        os.wait()
        for _ in range(3000):
            if pathlib.Path({str(pid)!r}).exists() and os.stat({str(pid)!r}).st_size:
                break
            time.sleep(0.01)
        print('{{"refused": "no"}}')
        """
    )
    assert refusal(problem, words) == "no"
    assert end_in_time(int(pid.read_text()))


@linux
def test_ctrl_c_ends_all_that_a_command_has_started(problem: Problem, leaver: Leaver) -> None:
    words, pid = leaver("time.sleep(60)")
    start = time.monotonic()

    def press_when_it_runs() -> None:
        written(pid)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press_when_it_runs).start()
    with pytest.raises(KeyboardInterrupt):
        run_method(problem, find_method(f"cmd:{words}"), 0)
    assert time.monotonic() - start < 20
    assert end_in_time(int(pid.read_text()))


@linux
def test_a_command_ends_when_its_caller_is_killed(
    command: Command, tmp_path: Path, examples: Path
) -> None:
    pid = tmp_path / "pid"
    words = command(
        f"""
        import os, pathlib, time
        pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))
        time.sleep(60)
        """
    )
    place = [sys.executable, "-m", "slotwise", "place", "word-count.json", "--with", f"cmd:{words}"]
    with subprocess.Popen(place, stdout=subprocess.DEVNULL) as caller:
        written(pid)
        caller.kill()
    assert end_in_time(int(pid.read_text()))


def test_a_command_that_kills_its_reaper_fails_alone(
    problem: Problem, command: Command, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    words = command(
        f"""
        import os, pathlib, signal, time
        pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
        """
    )
    assert failure(problem, words) == "the command ended the process that watches it"
    assert end_in_time(int(pid.read_text()))


def test_a_reaper_that_stands_still_holds_nothing_up(
    problem: Problem, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "LEAVE_S", 0.2)
    words = command(
        "import os, signal, time; os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)"
    )
    start = time.monotonic()
    assert "time limit" in failure(problem, words, time_limit_s=1.0)
    assert time.monotonic() - start < 20


def test_callers_children_and_signals_are_left_alone(problem: Problem, command: Command) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGINT)]
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        refusal(problem, command('print(\'{"refused": "no"}\')'))
        assert other.poll() is None
    assert other.returncode == 1
    assert [signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGINT)] == before


def test_a_caller_that_blocks_signals_sees_its_command_end(
    problem: Problem, command: Command
) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    try:
        words = command('print(\'{"refused": "no"}\')')
        assert refusal(problem, words, time_limit_s=20.0) == "no"
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_commands_run_side_by_side_in_threads(problem: Problem, command: Command) -> None:
    words = command('import time; time.sleep(0.5); print(\'{"refused": "no"}\')')
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: refusal(problem, words), range(8))) == {"no"}


def test_a_long_answer_and_much_stderr_are_read(problem: Problem, command: Command) -> None:
    words = command(
        GOOD + "print(' ' * 3_000_000, json.dumps(answer))\n"
        "for _ in range(3000): print('x' * 1000, file=sys.stderr)"
    )
    assert isinstance(run_method(problem, find_method(f"cmd:{words}"), 0), Placement)


def test_64_mib_are_too_much(problem: Problem, command: Command) -> None:
    words = command("import os\nwhile True: os.write(1, bytes(1 << 16))")
    assert failure(problem, words) == "the command was ended: it wrote more than 64 MiB to stdout"


EVIL = r"\x1b]0;owned\x07\x1b[2J\u202e"


def test_control_characters_on_stderr_are_escaped(problem: Problem, command: Command) -> None:
    words = command(f"import sys; sys.stderr.write('{EVIL} bad')\nsys.exit(2)")
    assert failure(problem, words).endswith(rf"exit code 2; stderr: {EVIL} bad")


def test_control_characters_in_a_refusal_are_escaped(problem: Problem, command: Command) -> None:
    words = command(f"import json; print(json.dumps({{'refused': 'a\\r\\nb {EVIL}'}}))")
    assert refusal(problem, words) == rf"a b {EVIL}"


def test_a_refusal_has_an_end(problem: Problem, command: Command) -> None:
    words = command("""print('{"refused": "' + 'x' * 1000000 + '"}')""")
    assert len(refusal(problem, words)) < 3000


def written(file: Path) -> None:
    """Wait until a command has written its process id."""
    for _ in range(600):
        if file.exists() and file.read_text():
            return
        time.sleep(0.05)
    pytest.fail("the command did not start")


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("", "the command wrote no answer"),
        ("print('hello')", "its answer cannot be used: line 1 column 1"),
        ("print('{} {}')", "its answer cannot be used: line 1 column 4"),
        ("print('[]')", "must be an object"),
        ("print('{}')", "format: is missing"),
        ("print('{\"refused\": 3}')", "its answer cannot be used: refused"),
        ("sys.stdout.buffer.write(bytes([255, 254]))", "its answer is not UTF-8 text: byte 0"),
    ],
)
def test_garbage_is_a_failure(problem: Problem, command: Command, output: str, reason: str) -> None:
    assert reason in failure(problem, command("import sys\n" + output))


def test_a_placement_of_another_instance_is_a_failure(problem: Problem, command: Command) -> None:
    words = command(GOOD + "answer['instance'] = 'sha256:' + '0' * 64\nprint(json.dumps(answer))")
    assert "another instance" in failure(problem, words)


def test_unknown_tasks_and_nodes_are_a_failure(problem: Problem, command: Command) -> None:
    words = command(GOOD + "places['t']['s[7]'] = places['t']['s[0]']\nprint(json.dumps(answer))")
    assert "s[7]" in failure(problem, words)
    words = command(GOOD + "places['t']['s[0]']['node'] = 'n9'\nprint(json.dumps(answer))")
    assert "n9" in failure(problem, words)


def test_a_task_left_out_is_left_to_the_judge(problem: Problem, command: Command) -> None:
    words = command(GOOD + "del places['t']['s[0]']\nprint(json.dumps(answer))")
    answer = run_method(problem, find_method(f"cmd:{words}"), 0)
    assert isinstance(answer, Placement)
    assert [v.rule for v in judge(problem, answer).violations] == ["placed"]


def test_a_command_that_does_not_exist_is_a_failure(problem: Problem) -> None:
    reason = failure(problem, "/no/such/command --fast")
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
        monkeypatch.setattr(registry, "_entry_points", lambda: found)

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


def test_methods_lists_an_unusable_entry_point_with_its_error(
    added: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    added(broken="absent", r_storm="MINE", mine="MINE")
    assert run(["methods", "--json"]) == 0
    listed = [(row["name"], row["kind"]) for row in json.loads(capsys.readouterr().out)["methods"]]
    assert [row for row in listed if row[1] == "unusable"] == [
        ("broken", "unusable"),
        ("r-storm", "unusable"),
    ]
    assert ("mine", "heuristic") in listed
    assert run(["methods"]) == 0
    assert "cannot be loaded" in " ".join(capsys.readouterr().out.split())


def test_an_entry_point_has_its_methods_name(added: Callable[..., None]) -> None:
    added(yours="MINE")
    with pytest.raises(InputError, match=r"'yours'.*'mine'"):
        find_method("yours")


def test_an_unknown_method_names_close_ones() -> None:
    with pytest.raises(InputError, match=r"'rstorm'.*did you mean 'r-storm' or 'r-storm-1\.0'\?"):
        find_method("rstorm")
    with pytest.raises(InputError, match=r"r-storm.*cmd:COMMAND"):
        find_method("zzz")
