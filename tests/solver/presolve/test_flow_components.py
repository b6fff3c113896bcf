"""Parts that no flow connects, and workers of a single node: judged by exhaustive search."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from engine_cases import LIMITS, network_topology
from numpy.random import Generator

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Scheduler
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Status
from slotwise.solver.core.solve_state import SolveState
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.portfolio import auto as auto_module
from slotwise.solver.portfolio.auto import run_auto
from slotwise.solver.portfolio.params import AUTO_DEFAULTS
from slotwise.solver.portfolio.run import PortfolioRun
from slotwise.solver.presolve.flow_components import flow_parts, side_by_side
from slotwise.solver.presolve.node_reduction import reduce_nodes
from slotwise.solver.presolve.single_node import as_one_node
from slotwise.testing.random_instances.tiny import tiny_instance


def network_only(instance: Instance) -> Instance:
    """Let nothing but the network count, all resources hard and nothing running."""
    return replace(
        instance,
        cluster=replace(instance.cluster, matrix=None),
        running=None,
        linear=(),
        objective=Objective(("network",)),
    )


def two_pairs(heap_mb: int | None, nodes: int, slots: int, memory_mb: int) -> Problem:
    """Two spouts with a bolt each, tasks of 1 GB on the heap, in racks of two nodes."""
    components = tuple(
        Component(f"{kind}{i}", kind, 2, {"cpu": 10, "onheap_mb": 1000})
        for i in range(2)
        for kind in ("spout", "bolt")
    )
    streams = tuple(Stream(f"spout{i}", f"bolt{i}") for i in range(2))
    cluster = Cluster(
        tuple(
            Node(f"n{i}", f"r{i // 2}", "", slots, {"cpu": 400, "memory_mb": memory_mb})
            for i in range(nodes)
        )
    )
    topology = Topology("t", components, streams, worker_max_heap_mb=heap_mb)
    return compile_problem(
        Instance("pairs", cluster, (topology,), objective=Objective(("network",)))
    )


def small_heaps(rng: Generator) -> Instance:
    """Return a topology on one or two nodes with few slots, its workers kept small."""
    topology = network_topology(rng, most_components=3, heap_mb=int(rng.integers(1, 8)))
    nodes = tuple(
        Node(f"n{i}", "r", "", int(rng.integers(1, 7)), {"cpu": 400, "memory_mb": 100})
        for i in range(int(rng.integers(1, 3)))
    )
    return Instance("small heaps", Cluster(nodes), (topology,), objective=Objective(("network",)))


@pytest.mark.slow
def test_parts_solved_alone_give_the_optimum_of_the_whole(note: list[str]) -> None:
    rng = np.random.default_rng(11)
    seen: Counter[str] = Counter()
    for number in range(500):
        problem = compile_problem(network_only(tiny_instance(rng)))
        parts = flow_parts(problem)
        if len(parts) < 2 or EXHAUSTIVE.supports(problem) is not None:
            continue
        whole = EXHAUSTIVE.run(problem, LIMITS, None)
        alone = [EXHAUSTIVE.run(part.problem, LIMITS, None) for part in parts]
        if any(one.values is None for one in alone):
            assert whole.status == Status.INFEASIBLE, number
            seen["a part is infeasible"] += 1
            continue
        least = sum(one.values[0] for one in alone if one.values is not None)
        assert whole.values is None or least <= whole.values[0], number
        placements = [one.placement for one in alone if one.placement is not None]
        joined = side_by_side(problem, parts, placements)
        if joined is None:
            seen["no room side by side"] += 1
            continue
        verdict = judge(problem, joined)
        assert verdict.valid, number
        assert verdict.scaled == (least,) == whole.values, number
        seen["side by side"] += 1
    note.append(f"parts judged by exhaustive search: {dict(seen)}")
    assert min(seen.values()) >= 5
    assert len(seen) == 3


def test_auto_agrees_where_there_are_parts() -> None:
    rng = np.random.default_rng(12)
    seen: Counter[str] = Counter()
    for number in range(150):
        problem = compile_problem(network_only(tiny_instance(rng)))
        if len(flow_parts(problem)) < 2 or EXHAUSTIVE.supports(problem) is not None:
            continue
        expected = EXHAUSTIVE.run(problem, LIMITS, None)
        _, found = run_auto(problem, LIMITS, None)
        assert (found.status, found.values) == (expected.status, expected.values), number
        seen[str(found.status)] += 1
    assert seen[Status.OPTIMAL] >= 20
    assert seen[Status.INFEASIBLE] >= 3


@pytest.mark.parametrize("most_cpu", [0, 120])
def test_workers_of_one_node_are_a_flat_problem(most_cpu: int) -> None:
    """Of 400 points of a node, workers count up to `most_cpu` at least."""
    rng = np.random.default_rng(13)
    seen: Counter[str] = Counter()
    for number in range(60):
        instance = small_heaps(rng)
        if most_cpu:
            least = Scheduler(worker_min_cpu=int(rng.integers(1, most_cpu)))
            instance = replace(instance, scheduler=least)
        problem = compile_problem(instance)
        reduction = reduce_nodes(problem)
        one = as_one_node(reduction.problem, CancellationToken())
        if one is None or EXHAUSTIVE.supports(problem) is not None:
            continue
        whole = EXHAUSTIVE.run(problem, LIMITS, None)
        flat = EXHAUSTIVE.run(one.problem, LIMITS, None)
        assert (flat.status, flat.values) == (whole.status, whole.values), number
        if flat.placement is not None:
            verdict = judge(problem, reduction.restore(one.restore(flat.placement)))
            assert verdict.valid
            assert verdict.scaled == whole.values
        seen[str(whole.status)] += 1
    assert seen[Status.OPTIMAL] >= (10 if most_cpu else 20)
    assert seen[Status.INFEASIBLE] >= 1


def test_two_pairs_are_two_parts() -> None:
    parts = flow_parts(two_pairs(None, nodes=4, slots=4, memory_mb=2000))
    assert [part.tasks for part in parts] == [(0, 1, 2, 3), (4, 5, 6, 7)]


def test_parts_share_a_node_where_there_is_room() -> None:
    problem = two_pairs(None, nodes=1, slots=2, memory_mb=8000)
    _, found = run_auto(problem, LIMITS, None)
    assert (found.status, found.values) == (Status.OPTIMAL, (0,))


def test_parts_without_room_side_by_side_are_solved_together() -> None:
    problem = two_pairs(None, nodes=3, slots=1, memory_mb=4000)
    _, found = run_auto(problem, LIMITS, None)
    assert (found.status, found.values) == (Status.OPTIMAL, (0,))
    tight = two_pairs(None, nodes=3, slots=1, memory_mb=3000)
    expected = EXHAUSTIVE.run(tight, LIMITS, None)
    _, found = run_auto(tight, LIMITS, None)
    assert (found.status, found.values) == (expected.status, expected.values)
    assert expected.values is not None
    assert expected.values > (0,)


def solve_parts(state: SolveState) -> None:
    """Let `auto` solve the parts of a problem, from what is known of it."""
    run = PortfolioRun(state, LIMITS, None, AUTO_DEFAULTS, RunToken())
    parts = flow_parts(state.problem)
    auto_module._solve_parts(run, state.problem, parts, Reporter(state, "auto"))


def test_parts_start_from_their_tasks_in_the_best_placement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a placement of a part, its bound of the network would not count."""
    problem = two_pairs(None, nodes=4, slots=4, memory_mb=2000)
    hint = EXHAUSTIVE.run(problem, LIMITS, None).placement
    assert hint is not None
    starts: list[Placement | None] = []

    def remember(auto: PortfolioRun, part: Problem, reporter: Reporter) -> None:
        starts.append(reporter.best())

    monkeypatch.setattr(auto_module, "_solve_reduced", remember)
    state = SolveState(problem)
    state.offer(hint, "hint")
    solve_parts(state)
    assert starts == [part.own_placement(hint) for part in reversed(flow_parts(problem))]


@pytest.mark.parametrize("most", [0, 1])
def test_parts_for_which_no_time_is_left_count_nothing(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    problem = two_pairs(None, nodes=4, slots=4, memory_mb=2000)
    solved: list[int] = []

    def prove(auto: PortfolioRun, part: Problem, reporter: Reporter) -> None:
        solved.append(part.task_count)
        reporter.prove((7,), "known")

    monkeypatch.setattr(auto_module, "_solve_reduced", prove)
    monkeypatch.setattr(PortfolioRun, "is_over", lambda auto, token: len(solved) >= most)
    state = SolveState(problem)
    solve_parts(state)
    assert solved == [4] * most
    assert state.bounds == ((7,) if most else (None,))


def test_a_part_that_fits_nowhere_makes_the_whole_infeasible() -> None:
    _, found = run_auto(two_pairs(None, nodes=2, slots=4, memory_mb=900), LIMITS, None)
    assert found.status == Status.INFEASIBLE


def test_soft_capacities_are_not_taken_apart() -> None:
    problem = two_pairs(None, nodes=4, slots=4, memory_mb=2000)
    soft = replace(problem, hard=np.zeros_like(problem.hard))
    assert len(flow_parts(soft)) == 1


def test_only_a_single_node_is_a_flat_problem() -> None:
    few = as_one_node(two_pairs(2000, nodes=1, slots=3, memory_mb=8000), CancellationToken())
    assert few is not None
    assert few.problem.node_count == 3
    assert EXHAUSTIVE.run(few.problem, LIMITS, None).status == Status.INFEASIBLE
    assert (
        as_one_node(two_pairs(2000, nodes=1, slots=8, memory_mb=7000), CancellationToken()) is None
    )
    assert (
        as_one_node(two_pairs(None, nodes=1, slots=8, memory_mb=8000), CancellationToken()) is None
    )
    assert (
        as_one_node(two_pairs(2000, nodes=2, slots=8, memory_mb=8000), CancellationToken()) is None
    )
