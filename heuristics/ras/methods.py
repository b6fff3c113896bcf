"""Storm's RAS strategies as methods: a round of the outer loop, every topology with the strategy.

What runs stays where it is; topologies are taken in the order of the instance's priority strategy,
and one that does not fit evicts others as Storm has it (`scheduler`). A topology that cannot
be placed whole is left out where the objective counts ``rejected``; else the method refuses with
Storm's own status of it. Soft resources are hard here: RAS knows no overload.
"""

from __future__ import annotations

from functools import partial

from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method
from slotwise.heuristics.ras.scheduler import Round, schedule_round
from slotwise.heuristics.ras.strategies.strategy import STRATEGIES
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import (
    UNPLACED,
    Placement,
    Refusal,
    leave_out,
)
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import running_placement
from slotwise.models.problem.problem import Problem
from slotwise.models.problem.scaling import CPU, MEMORY


def place(
    strategy: str,
    problem: Problem,
    rng: Generator,
    token: CancellationToken | None = None,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return what one round leaves; nothing in it is random."""
    result = schedule_round(problem.instance, strategy=strategy, token=token, log=log)
    rows = zip(problem.instance.task_names(), result.placement.nodes, strict=True)
    out = {topology for (topology, _), node in rows if node == UNPLACED}
    if out and not problem.may_reject:
        return Refusal(_reason(result))
    return leave_out(problem.instance, result.placement, out)


def supports(strategy: str, problem: Problem) -> str | None:
    """Return why the strategy does not apply to `problem`, or ``None``."""
    instance = problem.instance
    if instance.objective.limits:
        return "the number of moved tasks is limited, but RAS evicts and places without a limit"
    if not STRATEGIES[strategy].constrained:
        for topology in instance.topologies:
            limits = topology.constraints
            if limits.incompatible or limits.max_per_node:
                return (
                    f"topology {topology.id} has constraints, which {strategy} does not read "
                    "(ras-constraint-solver does)"
                )
    return cluster_reason(instance) or running_reason(problem)


def _reason(result: Round) -> str:
    """Return Storm's status of the first topology that is not placed whole."""
    first = result.refused[0]
    decision, name = result.of(first), result.instance.topologies[first].id
    if decision.message.startswith("Running"):
        return f"topology {name}: {decision.message}, though some of its tasks have no place"
    return f"topology {name}: {decision.message}"


def cluster_reason(instance: Instance) -> str | None:
    """Return a property of the cluster that Storm cannot express, or ``None``."""
    if instance.cluster.matrix is not None:
        return "distances are given node by node, but RAS uses racks"
    racks: dict[str, str] = {}
    for node in instance.cluster.nodes:
        for key, capacity in node.resources.items():
            if capacity is None:
                return f"node {node.id} has no limit of {key}: RAS compares shares of it"
        if racks.setdefault(node.host, node.rack) != node.rack:
            return f"host {node.host} is in two racks, {racks[node.host]} and {node.rack}"
    for key in (CPU, MEMORY):
        if not any(key in node.resources for node in instance.cluster.nodes):
            return f"no node offers {key}, which RAS needs"
    return None


def running_reason(problem: Problem) -> str | None:
    """Return the rule broken by running tasks, which RAS does not move, or ``None``."""
    running = running_placement(problem)
    if running is None:
        return None
    for violation in judge(problem, running).violations:
        if violation.rule != "placed":
            return f"running tasks break the rule {violation.rule}, and RAS does not move them"
    return None


def _method(name: str) -> Method:
    storm_class = STRATEGIES[name].storm_class
    return Method(
        name=name,
        source=f"Apache Storm, ResourceAwareScheduler with {storm_class}",
        place=partial(place, name),
        place_until=partial(place, name),
        place_logged=lambda problem, rng, log: place(name, problem, rng, log=log),
        supports=partial(supports, name),
        draws=False,
        description=(
            f"A round of Storm's Resource Aware Scheduler with {storm_class}, including "
            "evictions; it treats soft resources as hard."
        ),
    )


RAS_METHODS = {name: _method(name) for name in STRATEGIES}
