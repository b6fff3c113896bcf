"""The tiny instances mean something: dropping a rule changes the optimum often enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from slotwise.benchmarks.experiments.agreement.rule_coverage import RULES, rules_in
from slotwise.models.instance.instance import Instance, Scheduler
from slotwise.models.instance.topology import Constraints, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Limits
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.testing.random_instances.tiny import tiny_instance

INSTANCES = 300
ENOUGH = 2
"""A rule that has changed the optimum so often is left in from then on."""


def topologies(change: Callable[[Topology], Topology]) -> Callable[[Instance], Instance]:
    return lambda one: replace(one, topologies=tuple(map(change, one.topologies)))


def every(**settings: Any) -> Callable[[Instance], Instance]:
    return topologies(lambda topology: replace(topology, **settings))


def compatible(selves: bool) -> Callable[[Instance], Instance]:
    def change(topology: Topology) -> Topology:
        kept = tuple(
            pair for pair in topology.constraints.incompatible if (pair[0] == pair[1]) is not selves
        )
        most = topology.constraints.max_per_node
        return replace(topology, constraints=Constraints(kept, most))

    return topologies(change)


def unbounded(topology: Topology) -> Topology:
    return replace(topology, constraints=Constraints(topology.constraints.incompatible))


def unshared(kind: str) -> Callable[[Instance], Instance]:
    return topologies(
        lambda topology: replace(
            topology, shared_memory=tuple(r for r in topology.shared_memory if r.kind != kind)
        )
    )


def nodes(**settings: Any) -> Callable[[Instance], Instance]:
    return lambda one: replace(
        one,
        cluster=replace(
            one.cluster, nodes=tuple(replace(node, **settings) for node in one.cluster.nodes)
        ),
    )


def endless(soft: bool) -> Callable[[Instance], Instance]:
    def change(one: Instance) -> Instance:
        kept = tuple(
            replace(
                node,
                resources={
                    key: None if (key in one.objective.soft) is soft else capacity
                    for key, capacity in node.resources.items()
                },
            )
            for node in one.cluster.nodes
        )
        return replace(one, cluster=replace(one.cluster, nodes=kept))

    return change


def plain_streams(topology: Topology) -> Topology:
    streams = tuple(replace(stream, grouping="shuffle") for stream in topology.streams)
    return replace(topology, streams=streams)


def transposed(one: Instance) -> Instance:
    assert one.cluster.matrix is not None
    rows = tuple(zip(*one.cluster.matrix, strict=True))
    return replace(one, cluster=replace(one.cluster, matrix=rows))


WITHOUT: dict[str, Callable[[Instance], Instance]] = {
    "hard capacity": endless(soft=False),
    "soft capacity": endless(soft=True),
    "slots": nodes(slots=None),
    "several racks": nodes(rack="one"),
    "heap limit": every(worker_max_heap_mb=None),
    "shared onheap": unshared("onheap"),
    "shared offheap_worker": unshared("offheap_worker"),
    "shared offheap_node": unshared("offheap_node"),
    "one task per worker": every(one_task_per_worker=False),
    "one component per worker": every(one_component_per_worker=False),
    "incompatible pair": compatible(selves=False),
    "incompatible with itself": compatible(selves=True),
    "max per node": topologies(unbounded),
    "ackers": every(ackers=None),
    "minimum worker cpu": lambda one: replace(one, scheduler=Scheduler(Decimal(0))),
    "asymmetric matrix": transposed,
    "symmetric matrix": lambda one: replace(one, cluster=replace(one.cluster, matrix=None)),
    "linear": lambda one: replace(one, linear=()),
    "running": lambda one: replace(one, running={}),
    "max moved": lambda one: replace(one, objective=replace(one.objective, limits={})),
    "priorities": every(priority=0),
    "rates": lambda one: replace(one, flow="pairs"),
    "grouping global": topologies(plain_streams),
    "grouping all": topologies(plain_streams),
}


def optimum(one: Instance) -> tuple[object, ...]:
    outcome = EXHAUSTIVE.run(compile_problem(one), Limits(), None)
    if outcome.placement is None:
        return (outcome.status,)
    return tuple(term.value for term in judge(one, outcome.placement).objective)


@pytest.mark.slow
def test_every_rule_bites(note: list[str]) -> None:
    rng = np.random.default_rng(99)
    bites: Counter[str] = Counter(dict.fromkeys(WITHOUT, 0))
    for _ in range(INSTANCES):
        one = tiny_instance(rng, most_tasks=5)
        asked = [r for r in sorted(rules_in(one) & WITHOUT.keys()) if bites[r] < ENOUGH]
        before = optimum(one) if asked else ()
        for rule in asked:
            if rule == "ackers" and (one.running or one.linear):
                continue  # they may name an acker
            relaxed = WITHOUT[rule](one)
            bites[rule] += optimum(relaxed) != before
    seldom = ", ".join(rule for rule, count in bites.items() if count < ENOUGH)
    note.append(f"rules that change fewer than {ENOUGH} optima of {INSTANCES}: {seldom or 'none'}")
    assert min(bites.values()) >= 1


def test_same_seed_same_instances() -> None:
    one, two = (np.random.default_rng(3) for _ in range(2))
    assert [tiny_instance(one) for _ in range(20)] == [tiny_instance(two) for _ in range(20)]


@pytest.mark.parametrize("seed", range(3))
def test_every_rule_occurs_in_any_500(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found: set[str] = set()
    for _ in range(500):
        found |= rules_in(tiny_instance(rng))
    assert found == RULES
