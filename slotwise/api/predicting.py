"""Predicting the throughput and latency of a placement, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from slotwise.api.inputs import (
    TEXT,
    DecodedCluster,
    InstanceLike,
    PlacementLike,
    Source,
    as_problem,
    check_one_placement,
    file_of,
    is_text,
    placed_or_running,
)
from slotwise.api.paths import path_of
from slotwise.api.plain_data import plain_data
from slotwise.models.errors import in_file
from slotwise.models.formats.text import parse_text
from slotwise.models.instance.instance import Instance
from slotwise.models.prediction import prediction
from slotwise.models.prediction.assumptions import (
    Assumptions,
    assumptions_of,
    read_assumptions,
)
from slotwise.models.prediction.prediction import Prediction
from slotwise.models.problem.problem import Problem

AssumptionsLike = Assumptions | Source


def predict(
    instance: InstanceLike,
    placement: PlacementLike | None = None,
    *,
    assume: AssumptionsLike | None = None,
    running: bool = False,
    **decoded: Unpack[DecodedCluster],
) -> Prediction:
    """Predict the throughput and latency of a placement, and what limits them.

    Parameters
    ----------
    instance
        What was placed, with its workload (service times, rates or windows, selectivities,
        bandwidths): an `Instance`, a compiled problem, a path, a dict or text; see
        `read_instance`.
    placement
        A `Placement`, a path or a dict, also of places by name; see `read_placement`. Topologies
        may be left out whole.
    assume
        Defaults for what the instance does not say: `Assumptions`, a path, a dict or text;
        `Prediction.assumed` lists those that were used. ``None`` = it must say all that is needed.
    running
        Predict what runs now, as the instance's `running` says, in place of a placement.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, naming the key where the instance lacks a number that is needed, and the
        cycle where tuples multiply. A node over its hard memory is no error: there is no prediction
        then, and `Prediction.over_memory` says why.

    Examples
    --------
    >>> import slotwise
    >>> plan = slotwise.place("docs/examples/clicks.json", "r-storm")
    >>> slotwise.predict("docs/examples/clicks.json", plan).sustainable.resource.place
    'n1'
    """
    check_one_placement(placement, running)
    problem = as_problem(instance, **decoded)
    assumptions = None if assume is None else as_assumptions(assume)
    placed = placed_or_running(placement, problem)
    if isinstance(instance, Instance | Problem | Mapping):
        return prediction.predict(problem, placed, assumptions)
    with in_file(file_of(instance)):
        return prediction.predict(problem, placed, assumptions)


def as_assumptions(given: AssumptionsLike) -> Assumptions:
    """Return `given` as assumptions.

    Raises
    ------
    InputError
        One line: file, field, value, rule.
    """
    if isinstance(given, Assumptions):
        return given
    if isinstance(given, Mapping):
        return assumptions_of(plain_data(given))
    if is_text(given):
        with in_file(TEXT):
            return assumptions_of(parse_text(str(given)))
    return read_assumptions(path_of(given, "assume", "a path, a dict, text or Assumptions"))
