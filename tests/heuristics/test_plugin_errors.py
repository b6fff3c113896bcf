"""Entry points that break: one line, with the place in their file, wherever they are used."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from conftest import Cli

from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan
from slotwise.benchmarks.grading.rows import Kind
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.heuristics import registry
from slotwise.heuristics.method import MethodError
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.plugin_errors import defined_at
from slotwise.heuristics.run import run_method
from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.instance.placement import Refusal
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem

Bring = Callable[[str], Path]

START = """\
import numpy as np
from slotwise import Placement, Refusal
from slotwise.heuristics.method import Method
"""

DIVIDES = """
def helper(n):
    return 1 / n
def place(problem, rng):
    return helper(0)
method = Method("bad", "a test", place)
"""
EVIL = r"\x1b[2J\x07"


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bring:
    """Pretend that the package ``brought`` has an entry point ``bad`` with this code."""

    def make(code: str) -> Path:
        file = tmp_path / "brought.py"
        file.write_text(START + textwrap.dedent(code), encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "brought", raising=False)
        point = EntryPoint("bad", "brought:method", registry.GROUP)
        monkeypatch.setattr(registry, "_entry_points", lambda: (point,))
        return file

    return make


def line_of(file: Path, text: str) -> str:
    """Return ``file:line`` of the first line that holds `text`."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return f"{file}:{1 + next(i for i, line in enumerate(lines) if text in line)}"


def graded(path: Path) -> dict[str, object]:
    plan: tuple[PlannedRun, ...] = make_plan(
        read_cases([str(path)], 0, None), ["bad"], "auto", RunLimits(10.0, 1, 0, None)
    )
    return outcome(next(run for run in plan if run.kind != Kind.EXACT), Loader())


@pytest.mark.parametrize(
    ("code", "said", "where"),
    [
        (DIVIDES, "the method bad failed: ZeroDivisionError: division by zero", "1 / n"),
        (
            f"def place(problem, rng): raise ValueError('a\\n{EVIL}b')\n"
            "method = Method('bad', 'a test', place)",
            rf"the method bad failed: ValueError: a {EVIL}b",
            "raise ValueError",
        ),
        (
            "def place(problem, rng): raise SystemExit(0)\nmethod = Method('bad', '', place)",
            "the method bad failed: SystemExit: 0",
            "raise SystemExit",
        ),
        (
            "def place(problem): pass\nmethod = Method('bad', '', place)",
            "the method bad failed: TypeError: place() takes 1 positional argument but",
            "def place",
        ),
        (
            "def place(problem, rng): return Placement((0,), ('x',))\n"
            "method = Method('bad', '', place)",
            "the method bad failed: TypeError",
            "return Placement",
        ),
        (
            "def place(problem, rng): return np.argmin([[1], [2, 3]])\n"
            "method = Method('bad', '', place)",
            "the method bad failed: ValueError",
            "return np",
        ),
        (
            "def supports(problem): return problem.nothing\n"
            "method = Method('bad', '', supports, supports)",
            "the method bad failed: AttributeError",
            "return problem",
        ),
        (
            "class Place:\n  def __call__(self, problem): pass\n"
            "method = Method('bad', '', Place())",
            "the method bad failed: TypeError",
            "def __call__",
        ),
    ],
)
def test_an_exception_is_one_line_with_its_place(
    bring: Bring, cli: Cli, examples: Path, code: str, said: str, where: str
) -> None:
    place = line_of(bring(code), where)
    answer = cli("place", "word-count.json", "--with", "bad", "--json")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"slotwise: {said}")
    assert answer.err.endswith(f" ({place})\n")
    row = graded(examples / "word-count.json")
    assert row["status"] == "crashed"
    assert answer.err == f"slotwise: {row['error']}\n"


@pytest.mark.parametrize(
    ("code", "said", "where"),
    [
        ("1 / 0\n", "ZeroDivisionError: division by zero", "1 / 0"),
        ("import not_there_at_all\n", "ModuleNotFoundError: No module", "import not"),
        ("def broken(:\n", "SyntaxError: invalid syntax", "def broken"),
        ("raise SystemExit('enough')\n", "SystemExit: enough", "raise"),
        ("def method(): raise OSError('no licence')\n", "OSError: no licence", "raise"),
    ],
)
def test_an_entry_point_that_cannot_be_loaded_says_where(
    bring: Bring, cli: Cli, examples: Path, code: str, said: str, where: str
) -> None:
    place = line_of(bring(code), where)
    answer = cli("place", "word-count.json", "--with", "bad")
    assert (answer.code, answer.out) == (2, "")
    assert f"'bad': cannot be loaded: {said}" in answer.err
    assert answer.err.endswith(f" ({place})\n")
    assert answer.err.count("\n") == 1
    listed = cli("methods", "--json")
    assert (listed.code, listed.err) == (0, "")
    (bad,) = (row for row in listed.json["methods"] if row["name"] == "bad")
    assert bad["kind"] == "unusable"
    assert f"slotwise: {bad['description']}\n" == answer.err


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("7", "answer of bad = int: must be a Placement or a Refusal"),
        ("Refusal(3)", "reason of the refusal of bad = 'int': must be a text"),
        ("Placement((0,), (0,))", "must have one entry per task"),
        ("Placement((0.5,) * problem.task_count, (0,) * problem.task_count)", "whole numbers"),
        ("Placement((9,) * problem.task_count, (0,) * problem.task_count)", "number of nodes"),
    ],
)
def test_an_answer_of_the_wrong_kind_names_the_function(
    bring: Bring, cli: Cli, examples: Path, answer: str, said: str
) -> None:
    file = bring(f"def place(problem, rng): return {answer}\nmethod = Method('bad', '', place)")
    told = cli("place", "word-count.json", "--with", "bad")
    assert (told.code, told.out) == (2, "")
    assert said.replace("= int", "= 'int'") in told.err
    assert f" ({line_of(file, 'def place')})" in told.err
    assert told.err.count("\n") == 1
    assert graded(examples / "word-count.json")["status"] == "error"


@pytest.mark.parametrize("where", ["place", "supports"])
def test_control_characters_in_a_refusal_are_escaped(
    bring: Bring, cli: Cli, examples: Path, where: str
) -> None:
    reason = f"'no\\n{EVIL} room'"
    bring(
        f"def place(problem, rng): return Refusal({reason})\n"
        f"def supports(problem): return {reason if where == 'supports' else None}\n"
        "method = Method('bad', '', place, supports)"
    )
    for words in ([], ["--json"]):
        told = cli("place", "word-count.json", "--with", "bad", *words)
        assert told.code == 1
        assert "\x1b" not in told.out + told.err
    assert told.json["reason"] == rf"no {EVIL} room"
    row = graded(examples / "word-count.json")
    status = "does not apply" if where == "supports" else "refused"
    assert (row["status"], row["reason"]) == (status, rf"no {EVIL} room")


def test_whole_numbers_of_numpy_are_an_answer(bring: Bring, cli: Cli, examples: Path) -> None:
    bring(
        "def place(problem, rng):\n"
        "    nowhere = np.full(problem.task_count, -1)\n"
        "    return Placement(tuple(nowhere), tuple(nowhere))\n"
        "method = Method('bad', '', place)"
    )
    told = cli("place", "word-count.json", "--with", "bad", "--json")
    assert {violation["rule"] for violation in told.json["violations"]} == {"placed"}
    assert graded(examples / "word-count.json")["status"] == "broken rule"


def test_a_bug_of_ours_keeps_its_traceback(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from slotwise.heuristics import one_by_one

    method = HEURISTICS["round-robin"]
    monkeypatch.setattr(one_by_one, "Placement", None)
    problem = compile_problem(read_instance("word-count.json"))
    with pytest.raises(TypeError, match="NoneType"):
        run_method(problem, method, 0)


OBEYS = """
def place_until(problem, rng, token):
    token.check()
    return Refusal("it was not stopped")
def place(problem, rng):
    return place_until(problem, rng, CancellationToken(deadline=0))
method = Method("bad", "a test", place, place_until=place_until)
"""


def test_a_method_that_obeys_its_token_is_stopped_and_has_not_crashed(
    bring: Bring, examples: Path
) -> None:
    bring("from slotwise.models.cancellation import CancellationToken\n" + OBEYS)
    problem = compile_problem(read_instance("word-count.json"))
    method = registry.find_method("bad")
    assert run_method(problem, method, 0, CancellationToken()) == Refusal("it was not stopped")
    with pytest.raises(CancelledError):
        run_method(problem, method, 0, CancellationToken(deadline=0))
    with pytest.raises(MethodError, match="the method bad failed: CancelledError"):
        run_method(problem, method, 0)  # a token of its own, which nobody else has cancelled


def test_what_never_stopped_makes_of_a_foreign_function_is_foreign(
    bring: Bring, examples: Path
) -> None:
    file = bring(
        "from slotwise.heuristics.method import never_stopped\n"
        "def place_until(problem, rng, token):\n"
        "    problem.instance.topologies[0].components[0].resources['cpu'] = 0\n"
        "    return 1 / 0\n"
        "method = Method('bad', '', never_stopped(place_until), place_until=place_until)"
    )
    problem = compile_problem(read_instance("word-count.json"))
    cpu = problem.instance.topologies[0].components[0].resources["cpu"]
    with pytest.raises(MethodError) as caught:
        run_method(problem, registry.find_method("bad"), 0)
    assert str(caught.value).endswith(f"division by zero ({line_of(file, '1 / 0')})")
    assert problem.instance.topologies[0].components[0].resources["cpu"] == cpu != 0


def test_an_answer_of_never_stopped_is_traced_to_the_function_in_it(bring: Bring) -> None:
    file = bring(
        "from functools import partial\n"
        "from slotwise.heuristics.method import never_stopped\n"
        "def place_until(answer, problem, rng, token): return answer\n"
        "method = Method('bad', '', never_stopped(partial(place_until, 7)))"
    )
    method = registry.find_method("bad")
    assert defined_at(method.place) == f" ({line_of(file, 'def place_until')})"


def test_running_out_of_memory_is_told_as_such(bring: Bring, examples: Path) -> None:
    bring("def place(problem, rng): raise MemoryError\nmethod = Method('bad', '', place)")
    with pytest.raises(MethodError, match="MemoryError"):
        run_method(
            compile_problem(read_instance("word-count.json")), registry.find_method("bad"), 0
        )
    assert graded(examples / "word-count.json")["status"] == "memory"
