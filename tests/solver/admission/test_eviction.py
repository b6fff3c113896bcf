"""The smallest eviction, against brute force and against cases that can be counted by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from slotwise.heuristics.partial_placement import Ledger
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Scheduler
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.instance.topology import Component, Constraints, SharedMemory, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.admission import eviction
from slotwise.solver.admission.eviction import smallest_eviction
from slotwise.solver.admission.residual_capacity import tasks_of
from slotwise.solver.compact.cp_sat.run import run_cp_sat
from slotwise.solver.core.result import Limits, Status

RULES = Objective(("rejected", "overload"))


def topology(key: str, tasks: int, cpu: int, **more: Any) -> Topology:
    demand = {"cpu": cpu, "onheap_mb": more.pop("memory", 0)}
    return Topology(key, (Component("s", "spout", tasks, demand),), **more)


def problem(nodes: list[int], topologies: list[Topology], slots: int = 9) -> Problem:
    made = tuple(
        Node(f"n{i}", "r", slots=slots, resources={"cpu": Decimal(cpu), "memory_mb": Decimal(1000)})
        for i, cpu in enumerate(nodes)
    )
    return compile_problem(Instance("test", Cluster(made), tuple(topologies), objective=RULES))


def placed(where: list[int]) -> Placement:
    """Return each task on the node of its own number, in a worker of its own; -1 = nowhere."""
    return Placement(tuple(where), tuple(i if n >= 0 else UNPLACED for i, n in enumerate(where)))


def test_nobody_goes_where_there_is_room() -> None:
    made = problem([100, 100], [topology("a", 1, 60), topology("new", 1, 60)])
    found = smallest_eviction(made, placed([0, -1]), 1)
    assert (found.status, found.evicted, found.least_count) == (Status.OPTIMAL, (), 0)
    assert found.placement is not None
    assert found.placement.nodes == (0, 1)


def test_one_that_sits_right_beats_two_at_the_end_of_the_order() -> None:
    """The new topology needs a whole node; the two small ones free enough in sum only."""
    made = problem(
        [100, 100, 100],
        [
            topology("whole", 1, 100),
            topology("b", 2, 50),
            topology("c", 2, 50),
            topology("d", 1, 90),
        ],
    )
    found = smallest_eviction(made, placed([0, 1, 2, 1, 2, -1]), 3)
    assert (found.status, found.evicted) == (Status.OPTIMAL, (0,))


def test_of_equally_many_the_least_important_go() -> None:
    made = problem(
        [100, 100],
        [
            topology("low", 1, 90, priority=9),
            topology("high", 1, 90, priority=1),
            topology("new", 1, 90, priority=5),
        ],
    )
    for running in (placed([0, 1, -1]), placed([1, 0, -1])):
        found = smallest_eviction(made, running, 2)
        assert (found.evicted, found.weight, found.least_weight) == ((0,), 1, 1)


def test_slots_are_given_back_too() -> None:
    made = problem([100], [topology("a", 2, 1), topology("new", 1, 1)], slots=2)
    found = smallest_eviction(made, placed([0, 0, -1]), 1)
    assert found.evicted == (0,)


def test_candidates_limit_the_choice() -> None:
    made = problem([100, 50], [topology("a", 1, 90), topology("b", 1, 50), topology("new", 1, 60)])
    running = placed([0, 1, -1])
    assert smallest_eviction(made, running, 2).evicted == (0,)
    found = smallest_eviction(made, running, 2, candidates=(1,))
    assert (found.status, found.evicted, found.placement) == (Status.INFEASIBLE, None, None)


def test_too_large_even_for_an_empty_cluster() -> None:
    made = problem([100], [topology("a", 1, 10), topology("new", 1, 101)])
    assert smallest_eviction(made, placed([0, -1]), 1).status == Status.INFEASIBLE


def test_what_runs_must_keep_the_rules() -> None:
    made = problem([100], [topology("a", 2, 60), topology("new", 1, 1)])
    with pytest.raises(InputError, match="breaks a hard rule"):
        smallest_eviction(made, placed([0, 0, -1]), 1)


def test_time_limit_is_said() -> None:
    made = problem([100] * 6, [topology(f"t{i}", 2, 40) for i in range(7)])
    found = smallest_eviction(
        made, placed([i // 2 for i in range(12)] + [-1, -1]), 6, limits=Limits(time_s=1e-9)
    )
    assert found.status in (Status.UNKNOWN, Status.FEASIBLE)


def random_problem(rng: np.random.Generator) -> Problem:
    """Small clusters that are nearly full; the last topology may have any rule of a topology."""
    nodes = [int(rng.integers(3, 9)) * 10 for _ in range(rng.integers(2, 4))]
    others = [
        topology(
            f"t{i}", int(rng.integers(1, 4)), int(rng.integers(1, 4)) * 10,
            memory=int(rng.integers(0, 5)) * 100, priority=int(rng.integers(0, 4)),
        )
        for i in range(rng.integers(2, 5))
    ]  # fmt: skip
    both = [
        Component(
            key,
            "spout",
            int(rng.integers(1, 3)),
            {"cpu": int(cpu) * 10, "onheap_mb": int(heap) * 100},
        )
        for key, cpu, heap in (("x", *rng.integers(1, 5, 2)), ("y", *rng.integers(1, 5, 2)))
    ]
    rules: list[dict[str, Any]] = [
        {},
        {"worker_max_heap_mb": Decimal(400)},
        {"one_task_per_worker": True},
        {"one_component_per_worker": True},
        {"constraints": Constraints((("x", "y"),), {"x": 1})},
        {"shared_memory": (SharedMemory("m", "offheap_node", Decimal(300), ("x",)),)},
        {"shared_memory": (SharedMemory("m", "onheap", Decimal(300), ("x", "y")),)},
    ]
    new = Topology("new", tuple(both), **rules[int(rng.integers(len(rules)))])
    made = tuple(
        Node(f"n{i}", "r", slots=3, resources={"cpu": Decimal(cpu), "memory_mb": Decimal(900)})
        for i, cpu in enumerate(nodes)
    )
    least = Scheduler(Decimal(int(rng.integers(0, 2)) * 15))
    return compile_problem(Instance("t", Cluster(made), (*others, new), least, objective=RULES))


def fill(made: Problem, rng: np.random.Generator) -> Placement:
    """Place all topologies but the last at random, each whole or not at all."""
    ledger = Ledger(made, range(len(made.dims)))
    for t in range(len(made.rules) - 1):
        for task in tasks_of(made, t):
            options = [n for n in range(made.node_count) if ledger.find_worker(task, n)]
            if not options:
                ledger = ledger.without(t)
                break
            node = int(rng.choice(options))
            worker = ledger.find_worker(task, node)
            assert worker is not None
            ledger.put(task, node, worker)
    return ledger.placement()


def brute_force(made: Problem, running: Placement) -> tuple[int, int] | None:
    """Return the number and weight of the smallest eviction by trying all, judged by the judge."""
    last = len(made.rules) - 1
    placed_now = [
        t for t in range(last) if any(running.nodes[task] >= 0 for task in tasks_of(made, t))
    ]
    sets = [s for k in range(len(placed_now) + 1) for s in itertools.combinations(placed_now, k)]
    sets.sort(key=lambda s: (len(s), sum(made.rules[t].reject_weight for t in s)))
    for chosen in sets:
        if fits(made, running, chosen):
            return len(chosen), sum(made.rules[t].reject_weight for t in chosen)
    return None


def fits(made: Problem, running: Placement, gone: tuple[int, ...]) -> bool:
    own = tasks_of(made, len(made.rules) - 1)
    away = {task for t in gone for task in tasks_of(made, t)}
    nodes = [-1 if i in away else n for i, n in enumerate(running.nodes)]
    labels = [-1 if i in away else w for i, w in enumerate(running.workers)]
    for choice in splits(len(own), made.node_count):
        for task, (node, label) in zip(own, choice, strict=True):
            nodes[task], labels[task] = node, label
        if judge(made, Placement(tuple(nodes), tuple(labels))).valid:
            return True
    return False


def splits(tasks: int, nodes: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield every way to put tasks into workers on nodes, as (node, label) of each task.

    A new worker has the next label, so that no two ways differ by names of workers only.
    """
    if not tasks:
        yield ()
        return
    for before in splits(tasks - 1, nodes):
        known = dict.fromkeys(before)
        for place in [*known, *((n, 100 + len(known)) for n in range(nodes))]:
            yield (*before, place)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_brute_force(seed: int) -> None:
    compare(seed)


@pytest.mark.deep
def test_agrees_with_brute_force_on_many() -> None:
    for seed in range(30, 330):
        compare(seed)


def compare(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = random_problem(rng)
    running = fill(made, rng)
    found = smallest_eviction(made, running, len(made.rules) - 1)
    expected = brute_force(made, running)
    if expected is None:
        assert found.status == Status.INFEASIBLE
        return
    assert found.status == Status.OPTIMAL
    assert found.evicted is not None
    assert (len(found.evicted), found.weight) == expected
    assert (found.least_count, found.least_weight) == expected
    assert found.placement is not None
    assert judge(made, found.placement).valid


@pytest.mark.parametrize("slots", [9, 2])
def test_what_an_interrupted_search_found_is_split_into_workers_or_left(
    slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven tasks share a heap for six: the search begins with one worker per node all the same."""

    def interrupted(*words: Any) -> Any:
        return replace(run_cp_sat(*words), interrupted=True)

    monkeypatch.setattr(eviction, "run_cp_sat", interrupted)
    new = topology("new", 7, 1, memory=128, worker_max_heap_mb=Decimal(768))
    made = problem([100], [topology("old", 1, 1), new], slots=slots)
    found = smallest_eviction(made, placed([0, *[-1] * 7]), 1, candidates=())
    assert found.interrupted
    if slots > 2:
        assert found.evicted == ()
        assert found.placement is not None
        assert judge(made, found.placement).valid
    else:
        assert (found.status, found.evicted, found.placement) == (Status.UNKNOWN, None, None)
