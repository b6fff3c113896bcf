"""Parameters after a method's name: how they are read, what is refused, where they are recorded."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from slotwise.benchmarks.grading.names import split_methods
from slotwise.benchmarks.grading.plan import RunLimits, make_plan
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.heuristics.method import Method
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.registry import describe, find_method
from slotwise.heuristics.rstorm.metric import RStormWeights
from slotwise.heuristics.rstorm.research_code import r_storm
from slotwise.models.errors import InputError

WRITTEN = "r-storm:weights=1,0.5,2,normalise=capacity"


def test_parameters_are_read_and_recorded() -> None:
    method = find_method(WRITTEN)
    weights = RStormWeights(Fraction(1), Fraction(1, 2), Fraction(2), normalise=True)
    assert method.name == r_storm(weights).name == WRITTEN
    assert method.parameters == {"weights": "1,0.5,2", "normalise": "capacity"}


def test_with_other_parameters_nothing_is_as_its_authors_ran_it() -> None:
    assert "as its authors ran it" in describe("r-storm")
    assert describe("r-storm:normalise=none") == describe("r-storm")
    assert describe(WRITTEN) == (
        "The algorithm of r-storm with parameters that its authors did not use: "
        "weights=1,0.5,2,normalise=capacity."
    )
    assert describe("r-storm-pseudocode:weights=1,1,0").endswith(": weights=1,1,0.")
    assert describe("r-storm:weight=1") == describe("no-method") == ""


def test_a_name_says_only_what_is_not_the_default_in_one_order() -> None:
    assert find_method("r-storm:weights=1,1.0,1,normalise=none").name == "r-storm"
    assert find_method("r-storm-pseudocode:normalise=capacity").name == "r-storm-pseudocode"
    assert find_method("r-storm: normalise = capacity, weights = 1, 0.50, 2").name == WRITTEN


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("r-storm:", "must have key=value"),
        ("r-storm:1,2", "must have key=value"),
        (
            "r-storm:weight=1,1,1",
            r"'weight': is not a parameter of r-storm; did you mean 'weights'\?",
        ),
        ("r-storm:memory=1", "must be one of weights, normalise"),
        ("r-storm:weights=1,1", "must be 3 numbers, for memory, cpu, network"),
        ("r-storm:weights=1,1,x", "'x': must be a number"),
        ("r-storm:weights=1,1,-1", "must be 0 or more"),
        ("r-storm:weights=1,1,nan", "must be finite"),
        ("r-storm:normalise=capacty", r"did you mean 'capacity'\?"),
        ("r-storm:normalise=none,normalise=none", "gives normalise twice"),
        ("round-robin:weights=1,1,1", "takes no parameters; write only round-robin"),
        ("r-strom:normalise=none", r"did you mean 'r-storm'"),
    ],
)
def test_what_is_wrong_is_one_line(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        find_method(name)
    assert "\n" not in str(caught.value)


def test_parameters_have_commas_in_a_list_of_methods() -> None:
    assert split_methods([f"round-robin,{WRITTEN},ras-default"]) == [
        "round-robin",
        WRITTEN,
        "ras-default",
    ]
    assert split_methods(["r-storm:weights=1,1,2,r-storm-pseudocode:weights=2,1,1"]) == [
        "r-storm:weights=1,1,2",
        "r-storm-pseudocode:weights=2,1,1",
    ]


def test_a_misspelled_method_after_parameters_is_a_method() -> None:
    names = split_methods(["r-storm:weights=1,1,2,round-robbin"])
    assert names == ["r-storm:weights=1,1,2", "round-robbin"]
    with pytest.raises(InputError, match="did you mean 'round-robin'"):
        find_method(names[1])


def test_parameters_are_in_the_row_and_make_another_run() -> None:
    cases = read_cases(["rstorm"], 0, 1)
    names = ["round-robin", "r-storm", WRITTEN]
    plan = make_plan(cases, names, "auto", RunLimits(20.0, 1, 0, None))
    columns = {run.method: run.columns() for run in plan if run.kind == "heuristic"}
    assert {name: json.loads(columns[name]["parameters"]) for name in names} == {
        "round-robin": {},
        "r-storm": {"weights": "1,1,1", "normalise": "none"},
        WRITTEN: {"weights": "1,0.5,2", "normalise": "capacity"},
    }
    found = [outcome(run, Loader())["status"] for run in plan if run.kind == "heuristic"]
    assert found == ["valid"] * 3


@pytest.mark.parametrize("method", HEURISTICS.values(), ids=list(HEURISTICS))
def test_every_method_says_in_one_sentence_what_it_is(method: Method) -> None:
    assert method.description[0].isupper()
    assert method.description.endswith(".")
    assert ". " not in method.description
