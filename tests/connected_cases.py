"""Tiny instances under each rule of engine ``connected``, and the problems on which it binds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from engine_cases import LIMITS, network_topology
from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Scheduler
from slotwise.models.instance.topology import Ackers, Constraints, SharedMemory, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.core.result import Outcome, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.testing.checks import scope

BINDING = 16
"""Problems of each rule on which it binds."""

Change = Callable[[Instance, Generator], Instance]


def on_topology(instance: Instance, change: Callable[[Topology], Topology]) -> Instance:
    return replace(instance, topologies=tuple(map(change, instance.topologies)))


def on_node(instance: Instance, change: Callable[[Node], Node]) -> Instance:
    return replace(instance, cluster=Cluster(tuple(map(change, instance.cluster.nodes))))


def unchanged(instance: Instance, rng: Generator) -> Instance:
    """Return what has a capacity, slots and, often, a limit of heap already."""
    return instance


def least_cpu(instance: Instance, rng: Generator) -> Instance:
    return replace(instance, scheduler=Scheduler(worker_min_cpu=int(rng.integers(10, 40))))


def least_cpu_of_many(instance: Instance, rng: Generator) -> Instance:
    """Return workers that count a least cpu, and are often kept apart, so that nodes need many."""
    apart = (unchanged, one_component, incompatible)[int(rng.integers(3))]
    return least_cpu(apart(instance, rng), rng)


def few_slots(instance: Instance, rng: Generator) -> Instance:
    """Return workers kept apart on nodes with one or two slots."""
    most = int(rng.integers(1, 3))
    return on_node(incompatible(instance, rng), lambda node: replace(node, slots=most))


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


def ackers(instance: Instance, rng: Generator) -> Instance:
    needs = {"cpu": int(rng.integers(5, 30)), "onheap_mb": int(rng.integers(1, 4))}
    few = Ackers(int(rng.integers(1, 3)), resources=needs)
    return on_topology(instance, lambda one: replace(one, ackers=few))


def soft(*terms: str) -> Change:
    def change(instance: Instance, rng: Generator) -> Instance:
        return replace(instance, objective=Objective(terms, soft={"cpu": 1}))

    return change


def with_another(instance: Instance, rng: Generator) -> Instance:
    """Add a second topology, often with another limit of heap, and more room in each node."""
    heap = None if rng.random() < 0.3 else int(rng.integers(3, 8))
    other = replace(network_topology(rng, most_components=2, heap_mb=heap), id="u")
    roomier = on_node(
        instance,
        lambda node: replace(
            node,
            slots=(node.slots or 0) + 1,
            resources={name: room * 3 // 2 for name, room in node.resources.items()},
        ),
    )
    return replace(roomier, topologies=(*instance.topologies, other))


def crowded(instance: Instance, rng: Generator) -> Instance:
    """Return two topologies on nodes with one to three slots."""
    most = int(rng.integers(1, 4))
    return on_node(with_another(instance, rng), lambda node: replace(node, slots=most))


def left_out(rule: str) -> Callable[[Problem], Problem]:
    """Return what leaves a rule of `scope` out of a problem."""
    rest = {*scope.RULES} - {rule}
    return lambda problem: compile_problem(scope.within(problem.instance, rest))


def with_hard_capacities(problem: Problem) -> Problem:
    objective = replace(problem.instance.objective, soft={})
    return compile_problem(replace(problem.instance, objective=objective))


@dataclass(frozen=True, slots=True)
class Ruled:
    """Instances that have a rule, and what `connected` proves of them.

    Parameters
    ----------
    change
        Gives an instance the rule.
    otherwise
        The problem without the rule, or with hard capacities where soft ones must not bind;
        ``None`` = no bound of the engine counts what the rule costs.
    of_drawn
        Of drawn instances that have a placement, the share that it proves optimal at least.
    of_binding
        Of the `BINDING` problems of `where_it_binds`, the number that it proves optimal at least.
    """

    change: Change
    otherwise: Callable[[Problem], Problem] | None
    of_drawn: float
    of_binding: int


RULES: dict[str, Ruled] = {
    "capacity": Ruled(unchanged, left_out("capacity"), 0.88, 14),
    "slots": Ruled(few_slots, left_out("slots"), 0.8, 9),
    "heap": Ruled(unchanged, left_out("heap"), 0.85, 12),
    "least cpu": Ruled(least_cpu_of_many, left_out("worker_min_cpu"), 0.7, 10),
    "shared on the heap": Ruled(shared("onheap"), left_out("shared_memory"), 0.72, 6),
    "shared off the heap of a worker": Ruled(
        shared("offheap_worker"), left_out("shared_memory"), 0.8, 3
    ),
    "shared off the heap of a node": Ruled(
        shared("offheap_node"), left_out("shared_memory"), 0.88, 10
    ),
    "incompatible": Ruled(incompatible, left_out("incompatible"), 0.75, 14),
    "most on a node": Ruled(most_on_a_node, left_out("max_per_node"), 0.78, 7),
    "one component": Ruled(one_component, left_out("one_component_per_worker"), 0.85, 13),
    "one component, shared": Ruled(
        one_component_shared, left_out("one_component_per_worker"), 0.6, 7
    ),
    "one task": Ruled(one_task, left_out("one_task_per_worker"), 0.8, 10),
    "ackers": Ruled(ackers, None, 0.8, 13),
    "several topologies": Ruled(crowded, None, 0.7, 11),
    "soft, overload first": Ruled(soft("overload", "network"), left_out("soft"), 0.75, 12),
    "soft, network first": Ruled(soft("network", "overload"), with_hard_capacities, 0.3, 0),
    "soft, in one term": Ruled(soft("network+overload"), with_hard_capacities, 0.3, 0),
}


def small(rng: Generator, change: Change) -> Instance:
    """Return a topology on one to four nodes with a rule and, often, a least cpu of workers."""
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
    return least_cpu(ruled, rng) if rng.random() < 0.3 else ruled


@cache
def where_it_binds(name: str) -> tuple[tuple[Problem, Outcome], ...]:
    """Return problems with their optimum, which is another one otherwise."""
    ruled, rng = RULES[name], np.random.default_rng([6, *map(ord, name)])
    found: list[tuple[Problem, Outcome]] = []
    while len(found) < BINDING:
        problem = compile_problem(small(rng, ruled.change))
        if CONNECTED.supports(problem) is not None:
            continue
        truth = _optimum(problem)
        if truth is None:
            continue
        if ruled.otherwise is not None:
            other = _optimum(ruled.otherwise(problem))
            if other is None or other.values == truth.values:
                continue
        found.append((problem, truth))
    return tuple(found)


def _optimum(problem: Problem) -> Outcome | None:
    """Return the proven optimum of a tiny problem; ``None`` where there is none."""
    if EXHAUSTIVE.supports(problem) is not None:
        return None
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    return truth if truth.status is Status.OPTIMAL else None


def proven(name: str) -> int:
    """Return of how many problems on which a rule binds `connected` proves the optimum.

    What it claims of them must be so.
    """
    count = 0
    for number, (problem, truth) in enumerate(where_it_binds(name)):
        found = CONNECTED.run(problem, LIMITS, None)
        check_claim(problem, truth, found, number)
        count += found.status is Status.OPTIMAL
    return count


def check_claim(problem: Problem, truth: Outcome, found: Outcome, number: object) -> None:
    """Assert that what `connected` says of a problem is so."""
    wrong = f"{number}: {found.status} {found.values}, bounds {found.bounds}, but {truth.values}"
    if truth.values is None:
        assert found.values is None, wrong
        return
    assert found.status is not Status.INFEASIBLE, wrong
    for bound, value in zip(found.bounds, truth.values, strict=True):
        if bound is None or bound > value:
            assert bound is None, wrong
        if bound != value:
            break
    if found.placement is not None:
        verdict = judge(problem, found.placement)
        assert verdict.valid, wrong
        assert verdict.scaled == found.values, wrong
    if found.status is Status.OPTIMAL:
        assert found.values == truth.values, wrong
