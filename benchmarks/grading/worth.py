"""What a placement of a run is predicted to be worth: the columns of ``grade --predict``."""

from __future__ import annotations

from slotwise.benchmarks.grading.rows import RunOutcome
from slotwise.models.errors import InputError
from slotwise.models.instance.placement import Placement
from slotwise.models.prediction.assumptions import Assumptions
from slotwise.models.prediction.prediction import Prediction, predict
from slotwise.models.problem.problem import Problem


def worth(problem: Problem, placement: Placement, assumptions: Assumptions) -> RunOutcome:
    """Return the predicted columns of a valid placement.

    ``throughput`` is in tuples/s that all spouts emit together: with a window, at the rate at which
    tuples return; else the highest rate that the placement sustains. ``latency_ms`` is the mean
    over all tuples of the spouts; ``None`` where their rates are not sustainable. Where an instance
    does not say what a prediction needs, ``prediction`` names it.
    """
    try:
        predicted = predict(problem, placement, assumptions)
    except InputError as error:
        return {"prediction": f"none: {error}"}
    if predicted.over_memory:
        return {"prediction": f"none: {predicted.over_memory[0].node} is over its memory"}
    analysis = predicted.analysis or "the rates are not sustainable"
    analysis += "" if predicted.settled else ", not settled"
    return {
        "throughput": throughput(predicted),
        "latency_ms": mean_latency_ms(predicted),
        "prediction": analysis,
    }


def throughput(predicted: Prediction) -> float:
    """Return the tuples/s that all spouts emit: predicted with a window, else the most there is."""
    is_open = all(one.window is None for one in predicted.spouts)
    if is_open and predicted.sustainable is not None:
        return predicted.rate * float(predicted.sustainable.multiple)
    return predicted.rate


def mean_latency_ms(predicted: Prediction) -> float | None:
    """Return the mean over the tuples of all spouts; ``None`` where one has no rate or latency."""
    emitting = [(one.rate, one.latency) for one in predicted.spouts if one.rate != 0]
    known = [(rate, latency.mean) for rate, latency in emitting if rate and latency]
    if not emitting or len(known) < len(emitting):
        return None
    return sum(rate * mean for rate, mean in known) / sum(rate for rate, _ in known)
