"""Simulating the throughput and latency of a placement, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from slotwise.api.inputs import (
    DecodedCluster,
    InstanceLike,
    PlacementLike,
    as_problem,
    check_one_placement,
    file_of,
    placed_or_running,
)
from slotwise.api.predicting import AssumptionsLike, as_assumptions
from slotwise.models.errors import in_file
from slotwise.models.instance.instance import Instance
from slotwise.models.problem.problem import Problem
from slotwise.models.simulation import simulation
from slotwise.models.simulation.simulation import Run, Simulation


def simulate(
    instance: InstanceLike,
    placement: PlacementLike | None = None,
    *,
    seconds: float = 60.0,
    warm_up: float = 10.0,
    seed: int = 0,
    assume: AssumptionsLike | None = None,
    running: bool = False,
    **decoded: Unpack[DecodedCluster],
) -> Simulation:
    """Estimate the throughput and latency of a placement by discrete-event simulation.

    Needs SimPy: ``pip install 'slotwise[simulation]'``.

    Parameters
    ----------
    instance
        What was placed, with its workload (service times, rates or windows, selectivities,
        bandwidths): an `Instance`, a compiled problem, a path, a dict or text; see
        `read_instance`.
    placement
        A `Placement`, a path or a dict, also of places by name; see `read_placement`. Topologies
        may be left out whole.
    seconds
        Simulated seconds that are measured, finite and above 0.
    warm_up
        Simulated seconds before that, finite and 0 or more: queues are empty at first.
    seed
        0 or more; the same seed gives the same result.
    assume
        Defaults for what the instance does not say: `Assumptions`, a path, a dict or text;
        `Simulation.assumed` lists those that were used. ``None`` = it must say all that is needed.
    running
        Simulate what runs now, as the instance's `running` says, in place of a placement.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, as `predict` does. A node over its hard memory is not an error: nothing is
        simulated then, and `Simulation.over_memory` says why.
    SlotwiseError
        Where SimPy is not installed.

    Examples
    --------
    >>> import slotwise
    >>> plan = slotwise.place("docs/examples/clicks.json", "r-storm")
    >>> tried = slotwise.simulate("docs/examples/clicks.json", plan, seconds=2, warm_up=1)
    >>> tried.bottleneck.resource.place
    'n1'
    """
    check_one_placement(placement, running)
    run = Run(seconds, warm_up, seed)
    problem = as_problem(instance, **decoded)
    assumptions = None if assume is None else as_assumptions(assume)
    placed = placed_or_running(placement, problem)
    if isinstance(instance, Instance | Problem | Mapping):
        return simulation.simulate(problem, placed, run, assumptions)
    with in_file(file_of(instance)):
        return simulation.simulate(problem, placed, run, assumptions)
