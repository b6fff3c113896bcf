"""The predicted columns of a row."""

from __future__ import annotations

from pathlib import Path

import pytest

import slotwise
from slotwise.benchmarks.grading.plan import RunLimits, make_plan
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.benchmarks.grading.worth import worth
from slotwise.models.instance.instance import Instance
from slotwise.models.prediction.assumptions import Assumptions
from slotwise.models.problem.compile import compile_problem

NOTHING = Assumptions()


def worth_of(instance: Instance, method: str = "r-storm") -> dict[str, object]:
    return dict(worth(compile_problem(instance), slotwise.place(instance, method), NOTHING))


def test_without_a_window_the_throughput_is_the_highest_that_is_sustainable(root: Path) -> None:
    instance = slotwise.read_instance(root / "docs" / "examples" / "clicks.json")
    predicted = slotwise.predict(instance, slotwise.place(instance, "r-storm"))
    assert predicted.sustainable is not None
    found = worth_of(instance)
    assert found["throughput"] == pytest.approx(
        predicted.rate * float(predicted.sustainable.multiple)
    )
    (spout,) = predicted.spouts
    assert spout.latency is not None
    assert found["latency_ms"] == pytest.approx(spout.latency.mean)
    assert found["prediction"] == predicted.analysis


def test_what_is_missing_is_named(root: Path) -> None:
    found = worth_of(slotwise.read_instance(root / "docs" / "examples" / "word-count.json"))
    assert found.keys() == {"prediction"}
    assert "selectivity" in str(found["prediction"])


@pytest.mark.parametrize("assumptions", [None, NOTHING])
def test_a_run_is_predicted_where_it_was_asked_for(
    root: Path, assumptions: Assumptions | None
) -> None:
    (case,) = read_cases([str(root / "docs" / "examples" / "clicks.json")], 0, None)
    limits = RunLimits(20.0, 1, 0, None, assumptions=assumptions)
    runs = make_plan([case], ["r-storm"], "auto", limits)
    for run in runs:
        row = outcome(run, Loader())
        assert ("throughput" in row) == (assumptions is not None)
        assert ("predicted" in run.version) == (assumptions is not None)
