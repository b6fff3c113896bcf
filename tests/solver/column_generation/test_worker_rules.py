"""Additive rules on workers: no worker breaks one, and they bind where the heap alone does not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from conftest import DEEP
from engine_cases import LIMITS
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Scheduler
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import IntArray
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.column_generation.connected.place_model import make_place_model
from slotwise.solver.column_generation.connected.worker_rules import (
    LARGEST_UNITS,
    MOST_ROUNDED,
    WorkerRule,
    coarse,
    find_worker_rules,
    in_common_units,
)
from slotwise.solver.core.result import Status
from slotwise.solver.exhaustive import EXHAUSTIVE


def array(*numbers: int) -> IntArray:
    return np.array(numbers, dtype=np.int64)


def contents(heap: IntArray, limit: int, per_worker: IntArray) -> IntArray:
    """Return [Z, K] all contents of a worker."""
    every = itertools.product(*(range(most + 1) for most in per_worker.tolist()))
    rows = np.array([*every], dtype=np.int64)
    return rows[rows @ heap <= limit]


def fewest_workers(tasks: IntArray, workers: IntArray) -> int:
    """Return how many of the contents add up to the tasks at least, by breadth-first search."""
    seen, reached, count = {tuple(tasks.tolist())}, [tasks], 0
    while all(left.any() for left in reached):
        count += 1
        wider = [np.maximum(left - one, 0) for left in reached for one in workers]
        new = {tuple(one.tolist()) for one in wider} - seen
        seen |= new
        reached = [array(*one) for one in new]
    return count


@st.composite
def workers(draw: st.DrawFn) -> tuple[IntArray, int, IntArray, IntArray]:
    """Return heap [K], the limit of a worker, most of each kind in one, and how many there are."""
    limit = draw(st.integers(1, 24))
    kinds = draw(st.integers(1, 3))
    heap = array(*draw(st.lists(st.integers(0, limit), min_size=kinds, max_size=kinds)))
    sizes = array(*draw(st.lists(st.integers(1, 4), min_size=kinds, max_size=kinds)))
    alone = array(*draw(st.lists(st.integers(1, 4), min_size=kinds, max_size=kinds)))
    fits = np.where(heap > 0, limit // np.maximum(heap, 1), sizes)
    return heap, limit, np.minimum(np.minimum(alone, sizes), fits), sizes


@given(workers())
@settings(max_examples=2000 if DEEP else 150)
def test_no_worker_breaks_a_rule(case: tuple[IntArray, int, IntArray, IntArray]) -> None:
    heap, limit, per_worker, sizes = case
    possible = contents(heap, limit, per_worker)
    fewest = fewest_workers(sizes, possible[possible.any(axis=1)])
    for rule in find_worker_rules(heap, limit, per_worker, sizes):
        assert (possible @ rule.weights <= rule.most).all()
        assert int(rule.workers(sizes[None, :])[0]) <= fewest


def test_few_units_are_tried_of_small_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were all 40 million tried, the arrays would take a gigabyte for the second weight alone."""
    asked = []

    def arange(start: int, stop: int) -> IntArray:
        asked.append(stop - start)
        return np.array(range(start, stop), dtype=np.int64)

    monkeypatch.setattr(np, "arange", arange)
    weights, capacity = coarse(array(100_000_007, 100_000_037), 310_000_001, 40_000_000)
    assert max(asked) <= MOST_ROUNDED // 2
    assert 0 < capacity <= MOST_ROUNDED // 2
    assert weights.tolist() == [capacity // 3] * 2


@pytest.mark.parametrize("unit", [1, 10**12])
def test_units_are_chosen_alike_however_fine_the_capacity_is(unit: int) -> None:
    """With the larger, capacity times units exceeds 64 bits."""
    weights, capacity = coarse(array(410_001 * unit + 1, 290_003 * unit), 1_000_000 * unit, 90)
    assert (weights.tolist(), capacity) == ([2, 1], 4)


def test_tasks_without_weight_have_a_rule_in_few_units() -> None:
    weights, capacity = coarse(array(0, 0), 310_000_001, 90)
    assert (weights.tolist(), capacity) == ([0, 0], 90)


def needed(rules: list[WorkerRule], tasks: IntArray) -> list[int]:
    return [int(rule.workers(tasks[None, :])[0]) for rule in rules]


def test_a_worker_holds_whole_tasks() -> None:
    """By the heap 104 workers hold 800 tasks of 256 MB; each of 1,984 MB holds 7 of them."""
    rules = find_worker_rules(array(256), 1984, array(7), array(800))
    assert needed(rules, array(800)) == [104, 115]


def test_weights_are_lifted() -> None:
    """Four tasks of 480 MB fill a worker, two leave room for four of 256 MB: 3/14 of a worker."""
    rules = find_worker_rules(array(256, 480), 1984, array(7, 4), array(800, 36))
    by_parts = rules[1]
    assert by_parts.weights.tolist()[0] * 7 == by_parts.most
    assert by_parts.weights.tolist()[1] * 14 == by_parts.most * 3


def test_tasks_that_are_alone_in_their_workers() -> None:
    """Tasks that take next to nothing, at most two of them in a worker: only parts count them."""
    (rule,) = find_worker_rules(array(1), 1984, array(2), array(10))
    assert needed([rule], array(10)) == [1]
    rules = find_worker_rules(array(100), 1984, array(2), array(10))
    assert needed(rules, array(10)) == [1, 5]


@pytest.mark.parametrize(("heap", "limit"), [((0, 0), 8), ((1, 2), 0), ((1, 2), NO_LIMIT)])
def test_without_heap_there_is_no_rule(heap: tuple[int, int], limit: int) -> None:
    assert find_worker_rules(array(*heap), limit, array(3, 3), array(3, 3)) == []


@pytest.mark.parametrize(
    ("heap", "limit"), [((7, 100_000), 400_000), ((9, 9), 8)], ids=["many units", "none fits"]
)
def test_a_worker_of_too_many_units_or_none_has_the_rule_of_the_heap_alone(
    heap: tuple[int, int], limit: int
) -> None:
    (rule,) = find_worker_rules(array(*heap), limit, array(9, 4), array(9, 4))
    assert (rule.weights.tolist(), rule.most) == ([*heap], limit)


# In the engine. Tasks of 5 MB, one to a worker of 9 MB, on nodes with two slots and much memory.


def instance(least_cpu: int = 0, slots: int = 2) -> Instance:
    parts = tuple(Component(one, "bolt", 3, {"cpu": 5, "onheap_mb": 5}) for one in "ab")
    topology = Topology("t", parts, (Stream("a", "b"),), worker_max_heap_mb=9)
    nodes = tuple(Node(f"n{i}", "r", "", slots, {"cpu": 100, "memory_mb": 100}) for i in range(4))
    return Instance(
        "heap",
        Cluster(nodes),
        (topology,),
        objective=Objective(("network",)),
        scheduler=Scheduler(worker_min_cpu=least_cpu),
    )


@pytest.mark.parametrize(
    ("least_cpu", "slots"), [(0, 2), (50, 4), (40, 4)], ids=["slots", "cpu", "cpu, rounded down"]
)
def test_a_node_of_two_workers_holds_two_tasks(least_cpu: int, slots: int) -> None:
    problem = compile_problem(instance(least_cpu, slots))
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    found = CONNECTED.run(problem, LIMITS, None)
    assert (found.status, found.values) == (Status.OPTIMAL, truth.values)
    model = make_place_model(problem, CancellationToken())
    assert model.most_workers == 2
    assert all(graph.most.tolist() == [2, 2] for graph in model.nodes)


def test_a_node_without_cpu_for_a_worker_holds_nothing() -> None:
    found = CONNECTED.run(compile_problem(instance(least_cpu=101)), LIMITS, None)
    assert found.status is Status.INFEASIBLE


RULE = st.builds(
    lambda weights, most: WorkerRule(array(*weights), most),
    st.lists(st.integers(0, 10**13), min_size=1, max_size=3),
    st.one_of(st.integers(1, 100), st.integers(10**11, 10**12), st.just(NO_LIMIT)),
)


@given(st.lists(RULE, min_size=1, max_size=3), st.integers(0, 2**32))
def test_a_worker_that_keeps_the_rule_of_its_topology_keeps_the_common_one(
    rules: list[WorkerRule], seed: int
) -> None:
    weights, most = in_common_units(rules)
    rng, first = np.random.default_rng(seed), 0
    for rule in rules:
        mine = weights[first : (first := first + len(rule.weights))]
        for counts in rng.integers(0, 4, (20, len(mine))).tolist():
            weight = sum(map(int.__mul__, counts, rule.weights.tolist()))
            if rule.most == NO_LIMIT or weight <= rule.most:
                assert sum(map(int.__mul__, counts, mine.tolist())) <= most


def test_common_units_are_exact_where_they_are_few() -> None:
    rules = [WorkerRule(array(1, 2), 4), WorkerRule(array(3), 6), WorkerRule(array(7), NO_LIMIT)]
    weights, most = in_common_units(rules)
    assert (weights.tolist(), most) == ([3, 6, 6, 0], 12)
    rough = in_common_units([WorkerRule(array(10**11), 10**11 + 3), WorkerRule(array(2), 7)])
    assert rough[1] == LARGEST_UNITS
