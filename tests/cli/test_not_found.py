"""What ``solve`` says without a placement, whether the limit came first, and of who ran."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slotwise.cli.render.results import show_result
from slotwise.models.instance_file import read_instance
from slotwise.solver.core.result import Limits, Pick, Status
from slotwise.solver.solve import solve

AT_LIMIT = "No placement found within the limit"
EARLY = "The engine ended before its time limit"


@pytest.mark.parametrize(
    ("by_work", "seconds", "work", "said"),
    [
        (False, 3.0, None, EARLY),
        (False, 10.0, 2.0, AT_LIMIT),
        (True, 3.0, 10.0, AT_LIMIT),
        (True, 30.0, 2.0, EARLY),
    ],
)
def test_a_limit_of_work_is_compared_with_work(examples, capsys, by_work, seconds, work, said):
    found = solve(read_instance(examples / "word-count.json"), engine="exhaustive")
    nothing = replace(
        found,
        status=Status.UNKNOWN,
        placement=None,
        verdict=None,
        limits=Limits(time_s=10.0, by_work=by_work),
        seconds=seconds,
        deterministic_work=work,
    )
    show_result(nothing)
    assert " ".join(capsys.readouterr().out.split()).startswith(said)


@pytest.mark.parametrize(("seconds", "said"), [(3.0, EARLY), (10.0, "a longer --time-limit")])
def test_an_engine_that_ended_early_needs_no_longer_limit(examples, capsys, seconds, said):
    found = solve(read_instance(examples / "word-count.json"), engine="exhaustive")
    limits = Limits(time_s=10.0)
    show_result(replace(found, status=Status.FEASIBLE, limits=limits, seconds=seconds))
    last = capsys.readouterr().out.split("To continue")
    assert said in " ".join("".join(last[-2:]).split())
    assert ("longer --time-limit" in last[-1]) == (said != EARLY)


def test_an_interrupted_search_is_not_called_too_short(examples, capsys):
    found = solve(read_instance(examples / "word-count.json"), engine="exhaustive")
    nothing = replace(found, status=Status.UNKNOWN, placement=None, verdict=None, interrupted=True)
    show_result(nothing)
    assert capsys.readouterr().out.startswith("Interrupted before a placement was found")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is of Linux")
@pytest.mark.parametrize("option", ["--out", "--certificate"])
def test_an_answer_that_cannot_be_written_is_shown(examples, cli, option):
    answer = cli("solve", "word-count.json", "--quiet", option, "/dev/full")
    assert answer.code == 2
    assert answer.err == "slotwise: /dev/full: cannot be written: No space left on device\n"
    assert answer.out.startswith("Proven optimal")


def test_nothing_says_how_to_keep_what_is_kept(examples, cli):
    answer = cli("solve", "word-count.json", "--quiet", "--out", "plan.json")
    assert answer.code == 0
    assert answer.out.endswith("\n\nCompare methods with: slotwise place, grade.\n")


@pytest.mark.parametrize("seconds", [3.0, 10.0])
def test_what_is_kept_is_where_to_go_on_from(examples, capsys, seconds):
    found = solve(read_instance(examples / "word-count.json"), engine="exhaustive")
    limits = Limits(time_s=10.0)
    open_result = replace(found, status=Status.FEASIBLE, limits=limits, seconds=seconds)
    show_result(open_result, Path("my plan.json"))
    said = " ".join(capsys.readouterr().out.split())
    assert "with --hint 'my plan.json'" in said
    assert "--out" not in said


def test_what_ran_several_times_is_said_once(examples, capsys):
    found = solve(read_instance(examples / "word-count.json"), engine="exhaustive")
    picked = [("a", "first", 0.25), ("b", "better", 1.0), ("a", "later", 0.5), ("b", "better", 2.5)]
    show_result(replace(found, picked=tuple(Pick(*one, None) for one in picked)))
    lines = capsys.readouterr().out.splitlines()
    first = lines.index("What ran, and why:")
    assert lines[first + 1 : lines.index("", first)] == [
        "  a (0.25 s): first",
        "  b (2 times, 3.50 s): better",
        "  a (0.50 s): later",
    ]
