"""R-Storm as released in Apache Storm 1.0.6, as the method ``r-storm-1.0``.

One round of its ``ResourceAwareScheduler`` on the whole instance (`scheduler`): its order
of topologies, its strategy, its evictions. What runs stays where it is. A
topology that cannot be placed whole is left out where the objective counts ``rejected``; else the
method refuses with Storm's status of it. Soft resources are hard here: Storm 1.0.6 knows no
overload.
"""

from __future__ import annotations

from collections.abc import Callable

from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method, whole_topologies
from slotwise.heuristics.ras.methods import cluster_reason, running_reason
from slotwise.heuristics.ras.model import OWN, SYSTEM_PREFIX
from slotwise.heuristics.rstorm.storm_1.cluster import OverdrawnError
from slotwise.heuristics.rstorm.storm_1.scheduler import schedule_storm_1
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.instance.topology import Topology
from slotwise.models.problem.problem import Problem

NAME = "r-storm-1.0"

LACKING: tuple[tuple[str, Callable[[Topology], object]], ...] = (
    ("constraints", lambda one: one.constraints.incompatible or one.constraints.max_per_node),
    ("one_task_per_worker", lambda one: one.one_task_per_worker),
    ("one_component_per_worker", lambda one: one.one_component_per_worker),
    ("shared memory", lambda one: one.shared_memory),
)
"""Features of topologies that Storm 1.0.6 lacks."""


def place(problem: Problem, rng: Generator, log: DecisionLog | None = None) -> Placement | Refusal:
    """Return what one round leaves; nothing in it is random."""
    try:
        result = schedule_storm_1(problem.instance, log=log)
    except OverdrawnError as error:
        return failed(str(error))
    return whole_topologies(problem, result.placement, result.outcomes)


def failed(message: str) -> Refusal:
    """Return the refusal of a scheduler that threw an exception."""
    return Refusal(f"Storm's scheduler fails: {message}")


def supports(problem: Problem) -> str | None:
    """Return a feature of the instance that Storm 1.0.6 lacks, or ``None``."""
    instance = problem.instance
    if instance.objective.limits:
        return "the number of moved tasks is limited, but Storm 1.0.6 has no such limit"
    if instance.scheduler.worker_min_cpu:
        return "workers count a least cpu, which Storm 1.0.6 does not have"
    if instance.scheduler.priority_strategy != "default":
        strategy = instance.scheduler.priority_strategy
        return f"priority strategy {strategy}: Storm 1.0.6 has only the default one"
    for topology in instance.topologies:
        reason = _topology_reason(topology)
        if reason is not None:
            return f"topology {topology.id} {reason}"
    return cluster_reason(instance) or running_reason(problem)


def _topology_reason(topology: Topology) -> str | None:
    for word, has in LACKING:
        if has(topology):
            return f"has {word}, which Storm 1.0.6 does not have"
    for component in topology.placed_components:
        for key, amount in component.resources.items():
            if amount and key not in OWN:
                return f"asks for {key}; Storm 1.0.6 knows only cpu and memory"
        if component.kind == "system" and not component.id.startswith(SYSTEM_PREFIX):
            return f"has a system component {component.id}; Storm names its own {SYSTEM_PREFIX}..."
    return None


R_STORM_1_0 = Method(
    draws=False,
    name=NAME,
    source="Apache Storm 1.0.6, ResourceAwareScheduler with DefaultResourceAwareStrategy",
    place=place,
    place_logged=place,
    supports=supports,
    description=(
        "R-Storm as its first author released it in Apache Storm 1.0.6: CPU and memory are never "
        "exceeded, and each task goes to the node nearest to the previous task's."
    ),
)
