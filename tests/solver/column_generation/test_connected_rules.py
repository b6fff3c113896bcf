"""Engine ``connected`` under each rule that is not the additive one of its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from conftest import DEEP
from engine_cases import LIMITS, network_topology
from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Scheduler
from slotwise.models.instance.topology import (
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.core.result import Outcome, Status
from slotwise.solver.exhaustive import EXHAUSTIVE

COUNT = 1000 if DEEP else 20

Change = Callable[[Instance, Generator], Instance]


def on_topology(instance: Instance, change: Callable[[Topology], Topology]) -> Instance:
    return replace(instance, topologies=tuple(map(change, instance.topologies)))


def least_cpu(instance: Instance, rng: Generator) -> Instance:
    return replace(instance, scheduler=Scheduler(worker_min_cpu=int(rng.integers(10, 40))))


def shared(kind: str) -> Change:
    def change(instance: Instance, rng: Generator) -> Instance:
        names = tuple(c.id for c in instance.topologies[0].components[:2])
        region = SharedMemory("s", kind, int(rng.integers(1, 6)), names)
        return on_topology(instance, lambda one: replace(one, shared_memory=(region,)))

    return change


def incompatible(instance: Instance, rng: Generator) -> Instance:
    names = [c.id for c in instance.topologies[0].components]
    pairs = {(names[0], names[1]), (names[-1], names[int(rng.integers(0, len(names)))])}
    kept = Constraints(incompatible=tuple(sorted(pairs)))
    return on_topology(instance, lambda one: replace(one, constraints=kept))


def most_on_a_node(instance: Instance, rng: Generator) -> Instance:
    names = [c.id for c in instance.topologies[0].components]
    kept = Constraints(max_per_node={names[0]: 1, names[1]: int(rng.integers(1, 3))})
    return on_topology(instance, lambda one: replace(one, constraints=kept))


def one_component(instance: Instance, rng: Generator) -> Instance:
    return on_topology(instance, lambda one: replace(one, one_component_per_worker=True))


def one_component_shared(instance: Instance, rng: Generator) -> Instance:
    """Return workers of one component whose tasks share memory on the heap."""
    return shared("onheap")(one_component(instance, rng), rng)


def one_task(instance: Instance, rng: Generator) -> Instance:
    return on_topology(instance, lambda one: replace(one, one_task_per_worker=True))


def soft(*terms: str) -> Change:
    def change(instance: Instance, rng: Generator) -> Instance:
        return replace(instance, objective=Objective(terms, soft={"cpu": 1}))

    return change


RULES: dict[str, Change] = {
    "least cpu": least_cpu,
    "shared on the heap": shared("onheap"),
    "shared off the heap of a worker": shared("offheap_worker"),
    "shared off the heap of a node": shared("offheap_node"),
    "incompatible": incompatible,
    "most on a node": most_on_a_node,
    "one component": one_component,
    "one component, shared": one_component_shared,
    "one task": one_task,
    "soft, overload first": soft("overload", "network"),
    "soft, network first": soft("network", "overload"),
    "soft, in one term": soft("network+overload"),
}


def small(rng: Generator, change: Change) -> tuple[Problem, Problem]:
    """Return a topology on one to four nodes without a rule, and with it.

    The second has, often, the least cpu of a worker, too.
    """
    heap = None if rng.random() < 0.4 else int(rng.integers(3, 8))
    topology = network_topology(rng, most_components=3, heap_mb=heap)
    cpu = [int(size) for size in rng.integers(15, 60, 2)]
    memory, slots, racks = (int(x) for x in rng.integers((4, 1, 1), (20, 5, 3)))
    nodes = tuple(
        Node(f"n{i}", f"r{i % racks}", "", slots, {"cpu": cpu[i % 2], "memory_mb": memory})
        for i in range(int(rng.integers(1, 5)))
    )
    plain = Instance("rules", Cluster(nodes), (topology,), objective=Objective(("network",)))
    ruled = change(plain, rng)
    ruled = least_cpu(ruled, rng) if rng.random() < 0.3 else ruled
    return compile_problem(plain), compile_problem(ruled)


def check_claim(problem: Problem, truth: Outcome, found: Outcome, number: int) -> None:
    """Assert that what `connected` says of a problem is so."""
    if truth.values is None:
        assert found.values is None, number
        return
    assert found.status is not Status.INFEASIBLE, number
    for bound, value in zip(found.bounds, truth.values, strict=True):
        if bound is None or bound > value:
            assert bound is None, (number, found.bounds, truth.values)
        if bound != value:
            break
    if found.placement is not None:
        verdict = judge(problem, found.placement)
        assert verdict.valid
        assert verdict.scaled == found.values, number
    if found.status is Status.OPTIMAL:
        assert found.values == truth.values, number


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_agrees_with_exhaustive_search(rule: str, note: list[str]) -> None:
    rng = np.random.default_rng([5, *map(ord, rule)])
    seen: Counter[str] = Counter()
    for number in range(COUNT):
        without, problem = small(rng, RULES[rule])
        if EXHAUSTIVE.supports(problem) is not None:
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        reason = CONNECTED.supports(problem)
        if reason is not None:  # it says that overload comes first and is never 0
            assert rule == "soft, overload first", reason
            assert truth.values is None or truth.values[0] > 0, number
            seen["declined"] += 1
            continue
        seen["the rule binds"] += truth.values != EXHAUSTIVE.run(without, LIMITS, None).values
        found = CONNECTED.run(problem, LIMITS, None)
        seen[f"{truth.status}/{found.status}"] += 1
        check_claim(problem, truth, found, number)
    note.append(f"connected, {rule} (truth/claim): {dict(seen)}")
    assert seen["optimal/optimal"] >= COUNT // 8
    assert seen["the rule binds"] >= COUNT // 20


HARD_RULES = [rule for rule in RULES if "soft" not in rule]


def with_another(instance: Instance, rng: Generator) -> Instance:
    """Add a second topology, often with another limit of heap, and more room in each node."""
    heap = None if rng.random() < 0.3 else int(rng.integers(3, 8))
    other = replace(network_topology(rng, most_components=2, heap_mb=heap), id="u")
    nodes = tuple(
        replace(
            node,
            slots=(node.slots or 0) + 1,
            resources={name: room * 3 // 2 for name, room in node.resources.items()},
        )
        for node in instance.cluster.nodes
    )
    return replace(instance, cluster=Cluster(nodes), topologies=(*instance.topologies, other))


@pytest.mark.slow
def test_several_topologies_agree_with_exhaustive_search(note: list[str]) -> None:
    rng = np.random.default_rng(9)
    seen: Counter[str] = Counter()
    for number in range(2 * COUNT):
        rule = HARD_RULES[number % len(HARD_RULES)]
        _, one = small(rng, RULES[rule] if rng.random() < 0.7 else lambda plain, _: plain)
        both = with_another(one.instance, rng)
        if rng.random() < 0.5:  # the second has rules of the first kind
            constrained = RULES[rule](replace(both, topologies=both.topologies[1:]), rng)
            both = replace(both, topologies=(both.topologies[0], *constrained.topologies))
        problem = compile_problem(both)
        if EXHAUSTIVE.supports(problem) is not None:
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        if truth.status not in (Status.OPTIMAL, Status.INFEASIBLE):  # 13 tasks take a minute
            seen["not settled"] += 1
            continue
        assert CONNECTED.supports(problem) is None
        found = CONNECTED.run(problem, LIMITS, None)
        seen[f"{truth.status}/{found.status}"] += 1
        check_claim(problem, truth, found, number)
        alone = [
            EXHAUSTIVE.run(compile_problem(replace(both, topologies=(t,))), LIMITS, None).values
            for t in both.topologies
        ]
        if truth.values is not None:
            seen["they compete"] += truth.values[0] > sum(one[0] for one in alone if one)
    note.append(f"connected, several topologies (truth/claim): {dict(seen)}")
    assert seen["optimal/optimal"] >= COUNT // 2
    assert seen["they compete"] >= COUNT // 20


def pair(slots: int = 4, **rules: object) -> Instance:
    """Return a spout and a bolt of one task each, 10 points and 1 MB, on two nodes of 30 points."""
    needs = {"cpu": 10, "onheap_mb": 1}
    parts = (Component("a", "spout", 1, needs), Component("b", "bolt", 1, needs))
    fields = {"worker_max_heap_mb": 4, **rules}
    topology = replace(Topology("t", parts, (Stream("a", "b"),)), **fields)
    room = {"cpu": 30, "memory_mb": 8}
    nodes = tuple(Node(f"n{i}", "r", "", slots, room) for i in range(2))
    return Instance("pair", Cluster(nodes), (topology,), objective=Objective(("network",)))


def with_least_cpu(instance: Instance, points: int) -> Instance:
    return replace(instance, scheduler=Scheduler(worker_min_cpu=points))


def twice(instance: Instance, **rules: object) -> Instance:
    """Add the topology once more, with rules of its own."""
    other = replace(instance.topologies[0], id="u", **rules)
    return replace(instance, topologies=(*instance.topologies, other))


REGION = {
    kind: (SharedMemory("s", kind, 3, ("a", "b")),)
    for kind in ("onheap", "offheap_worker", "offheap_node")
}
APART = Constraints(incompatible=(("a", "b"),))
ALONE = Constraints(incompatible=(("a", "a"), ("a", "b")), max_per_node={"a": 1})
LARGE = (Component("a", "spout", 1, {"cpu": 31}),)

CASES: dict[str, tuple[Instance, Status, tuple[int, ...] | None]] = {
    "least cpu, slack": (with_least_cpu(pair(), 5), Status.OPTIMAL, (0,)),
    "least cpu, one worker a node": (
        with_least_cpu(pair(constraints=APART), 20),
        Status.OPTIMAL,
        (2,),
    ),
    "least cpu, never": (with_least_cpu(pair(), 31), Status.INFEASIBLE, None),
    "heap shared, slack": (
        pair(shared_memory=REGION["onheap"], worker_max_heap_mb=5),
        Status.OPTIMAL,
        (0,),
    ),
    "heap shared, two workers": (pair(shared_memory=REGION["onheap"]), Status.OPTIMAL, (1,)),
    "heap shared, never": (
        pair(shared_memory=REGION["onheap"], worker_max_heap_mb=3),
        Status.INFEASIBLE,
        None,
    ),
    "memory of a node shared": (pair(shared_memory=REGION["offheap_node"]), Status.OPTIMAL, (0,)),
    "memory of workers shared, slack": (
        pair(shared_memory=REGION["offheap_worker"], constraints=APART),
        Status.OPTIMAL,
        (1,),
    ),
    "incompatible": (pair(constraints=APART), Status.OPTIMAL, (1,)),
    "incompatible, one slot a node": (pair(1, constraints=APART), Status.OPTIMAL, (2,)),
    "one task": (pair(one_task_per_worker=True), Status.OPTIMAL, (1,)),
    "one component": (pair(one_component_per_worker=True), Status.OPTIMAL, (1,)),
    "at most one of a component on a node": (pair(constraints=ALONE), Status.OPTIMAL, (1,)),
    "two topologies, slack": (twice(pair()), Status.OPTIMAL, (0,)),
    "two topologies, one slot a node": (twice(pair(1)), Status.OPTIMAL, (0,)),
    "two topologies, one with workers of its tasks": (
        twice(pair(), one_task_per_worker=True),
        Status.OPTIMAL,
        (1,),
    ),
    "two topologies, each with its heap": (
        twice(pair(), worker_max_heap_mb=1),
        Status.OPTIMAL,
        (1,),
    ),
    "two topologies, least cpu": (with_least_cpu(twice(pair()), 30), Status.OPTIMAL, (0,)),
    "two topologies, never": (
        twice(pair(), components=LARGE, streams=()),
        Status.INFEASIBLE,
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_rule(name: str) -> None:
    instance, status, values = CASES[name]
    problem = compile_problem(instance)
    assert CONNECTED.supports(problem) is None
    found = CONNECTED.run(problem, LIMITS, None)
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    assert (truth.status, truth.values) == (status, values)
    assert (found.status, found.values) == (status, values)


def two_softly(*points: int) -> Problem:
    """Return the pair on nodes of these cpu points, of which more may be used."""
    instance = pair()
    nodes = tuple(
        replace(instance.cluster.nodes[0], id=f"n{at}", resources={"cpu": cpu, "memory_mb": 8})
        for at, cpu in enumerate(points)
    )
    objective = Objective(("overload", "network"), soft={"cpu": 1})
    return compile_problem(replace(instance, cluster=Cluster(nodes), objective=objective))


def test_where_overload_is_certain_nothing_is_claimed() -> None:
    """Two tasks of 10 points on nodes of 16 and 5: in all there is room, yet one has none."""
    problem = two_softly(16, 5)
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    found = CONNECTED.run(problem, LIMITS, None)
    assert truth.values is not None
    assert truth.values[0] > 0
    assert found.status in (Status.UNKNOWN, Status.FEASIBLE)
    assert found.bounds[0] == 0


def test_declines_where_soft_capacities_cannot_hold_all_tasks() -> None:
    assert CONNECTED.supports(two_softly(16, 3)) is not None
    assert CONNECTED.supports(two_softly(16, 5)) is None
