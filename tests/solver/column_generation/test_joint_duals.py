"""Nodes and workers priced together: bounds against every content and against exhaustive search."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from functools import cache

import numpy as np
import pytest
from engine_cases import LIMITS, small_instance
from hypothesis import event, given
from hypothesis import strategies as st
from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.content_pricing import ContentPricing
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.column_generation.connected.gap_search import GapSearch
from slotwise.solver.column_generation.connected.graph import FlowGraph, make_flow_graph
from slotwise.solver.column_generation.connected.joint_duals import (
    RestrictedContents,
    find_joint_duals,
)
from slotwise.solver.column_generation.connected.joint_search import make_joint_levels
from slotwise.solver.column_generation.connected.level import find_duals, make_level
from slotwise.solver.column_generation.connected.place_model import make_place_model
from slotwise.solver.column_generation.connected.worker_bounds import SplitTable, WorkerBounds
from slotwise.solver.column_generation.listed_master import NEG_INF, TypeColumns
from slotwise.solver.column_generation.params import (
    CONNECTED_DEFAULTS,
    ConnectedParams,
    ResidualParams,
)
from slotwise.solver.core.engine import Engine, configured
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Status
from slotwise.solver.exhaustive import EXHAUSTIVE

SCALE = 1 << 20


def random_levels(
    rng: Generator, max_assignments: int
) -> tuple[FlowGraph, FlowGraph, IntArray, int]:
    """Return up to four kinds on nodes of two resources, in workers, and the second resource."""
    count = int(rng.integers(1, 5))
    sizes = rng.integers(1, 5, count)
    flow = np.triu(rng.integers(1, 4, (count, count)) * (rng.random((count, count)) < 0.6), 1)
    flow = flow + flow.T
    cpu, heap = rng.integers(1, 5, count), rng.integers(1, 5, count)
    node, memory, worker = int(rng.integers(4, 12)), int(rng.integers(4, 12)), 4
    token, params = RunToken(), ConnectedParams(max_assignments=max_assignments)
    most = np.minimum(sizes, np.minimum(node // cpu, memory // heap))

    def admits(rows: IntArray) -> IntArray:
        return (rows @ cpu <= node) & (rows @ heap <= memory)

    nodes = make_flow_graph(sizes, flow, cpu, node, most, admits, token, params.max_assignments)
    workers = make_flow_graph(
        sizes,
        flow,
        heap,
        worker,
        np.minimum(sizes, worker // heap),
        lambda rows: rows @ heap <= worker,
        token,
        params.max_assignments,
    )
    return nodes, workers, heap, memory


def contents_of(graph: FlowGraph) -> IntArray:
    """Return every content of a place but the empty one."""
    rows = np.array(list(itertools.product(*(range(int(m) + 1) for m in graph.most))))
    rows = rows[np.asarray(graph.admits(rows)) & (rows @ graph.weights <= graph.capacity)]
    return np.asarray(rows[rows.any(axis=1)], dtype=np.int64)


def most_inside(workers: FlowGraph, slots: int) -> dict[tuple[int, ...], int]:
    """Return what each content of at most that number of workers holds inside them at most."""
    parts = [(tuple(row), int(workers.gains(row))) for row in contents_of(workers)]
    best = {tuple([0] * workers.count): 0}
    for _ in range(slots):
        more = dict(best)
        for (held, inside), (part, gain) in itertools.product(best.items(), parts):
            both = tuple(a + b for a, b in zip(held, part, strict=True))
            if all(n <= int(s) for n, s in zip(both, workers.sizes, strict=True)):
                more[both] = max(more.get(both, -1), inside + gain)
        best = more
    return best


def test_contents_to_start_with_take_no_more_time_than_they_may() -> None:
    """Their cuts took all the time on webs, and no duals were asked for."""
    nodes, workers, _, _ = random_levels(np.random.default_rng(3), 200)
    token, late = RunToken(), time.perf_counter() + 60
    rho = find_duals(workers, SCALE, late, token).pi
    cuts = []
    for until in (-math.inf, late):
        bounds = WorkerBounds(workers, SCALE, rho, 2, 2, late, token)
        pricing = ContentPricing((nodes,), SCALE, 1, 1, bounds, CONNECTED_DEFAULTS, token)
        master = RestrictedContents(pricing)
        assert master.add(contents_of(nodes), until)
        assert len(master.columns()) == len(contents_of(nodes))
        cuts.append(len(bounds.tau))
    assert cuts[0] == 1 < cuts[1]


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(1, 3), st.sampled_from((200, 2, 0)))
def test_joint_duals_hold_for_every_content_and_every_solution(
    seed: int, slots: int, max_assignments: int
) -> None:
    rng = np.random.default_rng(seed)
    nodes, workers, _, _ = random_levels(rng, max_assignments)
    a, b = (int(x) for x in rng.integers(1, 3, 2))
    token, late = RunToken(), time.perf_counter() + 60
    rho = find_duals(workers, SCALE, late, token).pi
    bounds = WorkerBounds(workers, SCALE, rho, slots, 1 + a, late, token)
    pricing = ContentPricing((nodes,), SCALE, a, b, bounds, CONNECTED_DEFAULTS, token)
    apart = find_duals(nodes, SCALE, late, token)
    separate = a * apart.pi + b * rho
    duals = find_joint_duals(pricing, separate, apart.configurations, late, CONNECTED_DEFAULTS)
    inside = most_inside(workers, slots)
    contents = np.array([row for row in contents_of(nodes) if tuple(row) in inside])
    if not len(contents):
        return
    held = np.array([inside[tuple(row)] for row in contents])
    assert (bounds.of(contents) >= SCALE * held).all()
    values = a * nodes.gains(contents) + b * held
    assert (pricing.values(contents) <= (a + b) * SCALE * nodes.gains(contents)).all()
    assert (pricing.entries(contents) @ duals.pi >= SCALE * values).all()
    assert pricing.total(duals.pi) <= int(separate @ nodes.sizes) + 32 * int(nodes.sizes.sum())
    best = most_saved(tuple(nodes.sizes.tolist()), contents, values)
    if best is not None:
        assert best <= pricing.total(duals.pi) // SCALE


def most_saved(sizes: tuple[int, ...], contents: IntArray, values: IntArray) -> int | None:
    """Return the most that contents which add up to all tasks save; ``None``: they never do."""
    columns = list(zip(map(tuple, contents.tolist()), values.tolist(), strict=True))

    @cache
    def best(left: tuple[int, ...]) -> int | None:
        if not any(left):
            return 0
        first = next(k for k, n in enumerate(left) if n)
        found = []
        for row, value in columns:
            if row[first] and all(r <= n for r, n in zip(row, left, strict=True)):
                rest = best(tuple(n - r for r, n in zip(row, left, strict=True)))
                if rest is not None:
                    found.append(rest + value)
        return max(found, default=None)

    return best(sizes)


@given(st.integers(0, 2**32), st.booleans())
def test_best_splits_of_contents_are_exact(seed: int, all_at_once: bool) -> None:
    rng = np.random.default_rng(seed)
    nodes, workers, _, _ = random_levels(rng, 200)
    token, late = RunToken(), time.perf_counter() + 60
    rho = find_duals(workers, SCALE, late, token).pi
    tasks = int(nodes.sizes.sum())
    bounds = WorkerBounds(workers, SCALE, rho, tasks, 2, late, token)
    inside = most_inside(workers, tasks)
    contents = np.array([row for row in contents_of(nodes) if tuple(row) in inside])
    if not len(contents):
        return
    held = np.array([inside[tuple(row)] for row in contents])
    before = bounds.of(contents)
    params = ConnectedParams() if all_at_once else ConnectedParams(max_subset_rows=100)
    asked = rng.integers(0, 4, len(contents))
    bounds.split(contents, SCALE * asked, nodes.most, params)
    assert (bounds.of(contents) >= SCALE * held).all()
    assert (bounds.of(contents) <= before).all()
    exact = held >= asked
    if all_at_once:
        assert (bounds.of(contents)[exact] == SCALE * held[exact]).all()


@given(st.integers(0, 2**32))
def test_contents_split_one_by_one_are_worth_what_they_hold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes, workers, _, _ = random_levels(rng, 200)
    token, late = RunToken(), time.perf_counter() + 60
    rho = find_duals(workers, SCALE, late, token).pi
    tasks, (a, b) = int(nodes.sizes.sum()), rng.integers(1, 3, 2).tolist()
    bounds = WorkerBounds(workers, SCALE, rho, tasks, 1 + a, late, token)
    few = ConnectedParams(max_subset_rows=100)  # so not all contents at once
    pricing = ContentPricing((nodes,), SCALE, a, b, bounds, few, token)
    inside = most_inside(workers, tasks)
    contents = np.array([row for row in contents_of(nodes) if tuple(row) in inside])
    if not len(contents):
        return
    some = contents[rng.random(len(contents)) < 0.5]
    if not len(some):
        return
    before = pricing.values(contents)
    fell = pricing.split_each([*some, some[0]], SCALE * b * int(nodes.gains(nodes.sizes) + 1), late)
    held = np.array([inside[tuple(row)] for row in contents])
    worth = SCALE * (a * nodes.gains(contents) + b * held)
    after = pricing.values(contents)
    assert (worth <= after).all()
    assert (after <= before).all()
    chosen = (contents[:, None, :] == some).all(axis=2).any(axis=1)
    assert (after == worth)[chosen].all()
    assert fell == (after < before)[chosen].any()
    event("fell" if fell else "as before")


def test_a_table_of_splits_knows_only_what_was_noted() -> None:
    """Contents are far more than numbers of 64 bits."""
    rng = np.random.default_rng(3)
    most = np.full(40, 50)
    table, noted = SplitTable(most), dict[tuple[int, ...], int]()
    for _ in range(5):
        contents = rng.integers(0, 51, (30, 40)) * (rng.random((30, 40)) < 0.1)
        contents = np.unique(contents, axis=0)
        asked = np.concatenate([contents, rng.integers(0, 51, (10, 40))])
        known = [tuple(row) in noted for row in asked.tolist()]
        assert table.knows(asked).tolist() == known
        assert table.of(asked).tolist() == [noted.get(tuple(r), -NEG_INF) for r in asked.tolist()]
        contents = contents[~table.knows(contents)]
        values = rng.integers(0, 9, len(contents))
        table.note(contents, values)
        noted |= dict(zip(map(tuple, contents.tolist()), values.tolist(), strict=True))
    assert table.of(np.array(list(noted))).tolist() == list(noted.values())
    assert table.box == 51**40


def test_a_search_is_repeated_where_its_best_solution_is_worth_less() -> None:
    values = np.array([0, 1, 5, 6])

    def search() -> GapSearch:
        counts = np.arange(4)[:, None]
        return GapSearch(
            np.array([3]), 1, 6, 0, lambda gap, deadline: TypeColumns(counts, values),
            ResidualParams(), RunToken(),
        )  # fmt: skip

    def refine(found: list[IntArray], lost: int, deadline: float) -> bool:
        """What was thought to be worth 6, then what was thought to be worth 5, is worth 2."""
        largest = max(int(row[0]) for row in found)
        fell = largest > 1 and values[largest] > 2
        values[largest] = min(int(values[largest]), 2)
        return bool(fell)

    repeated, late = search(), time.perf_counter() + 60
    assert [int(row[0]) for row in search().best(late, LIMITS) or ()] == [3]
    repeated.refine = refine
    best = repeated.best(late, LIMITS)
    assert best is not None
    assert values.tolist() == [0, 1, 2, 2]
    assert sum(int(row[0]) for row in best) == 3
    assert repeated.bound == 3


def test_slots_and_the_second_resource_count() -> None:
    """One resource and separate duals leave more than all contents allow, in many instances."""
    rng = np.random.default_rng(4)
    better = 0
    for _ in range(30):
        nodes, workers, _, _ = random_levels(rng, 200)
        token, late = RunToken(), time.perf_counter() + 60
        rho = find_duals(workers, SCALE, late, token).pi
        bounds = WorkerBounds(workers, SCALE, rho, 1, 2, late, token)
        pricing = ContentPricing((nodes,), SCALE, 1, 1, bounds, CONNECTED_DEFAULTS, token)
        apart = find_duals(nodes, SCALE, late, token)
        separate = apart.pi + rho
        duals = find_joint_duals(pricing, separate, apart.configurations, late, CONNECTED_DEFAULTS)
        better += pricing.total(duals.pi) // SCALE < int(separate @ nodes.sizes) // SCALE
    assert better >= 10


def test_count_cuts_tell_that_one_node_alone_is_large() -> None:
    """Three tasks of a kind: fractions of a node with two of them would hold more."""
    sizes, flow = np.array([3, 6]), np.array([[0, 1], [1, 0]])
    token, late = RunToken(), time.perf_counter() + 60
    graph = make_flow_graph(
        sizes,
        flow,
        np.array([1, 1]),
        6,
        np.array([2, 4]),
        lambda rows: (rows[:, 0] <= 2) & (rows.sum(axis=1) <= 6),
        token,
    )
    apart = find_duals(graph, SCALE, late, token)
    found = []
    for cuts in (0, 100):
        params = ConnectedParams(max_count_cuts=cuts)
        pricing = ContentPricing((graph,), SCALE, 1, 0, None, params, token)
        duals = find_joint_duals(pricing, apart.pi, apart.configurations, late, params)
        found.append(pricing.total(duals.pi) // SCALE)
    contents = contents_of(graph)
    best = most_saved((3, 6), contents, graph.gains(contents))
    assert best == 10  # 2 * 4 and 1 * 2
    assert found == [12, best]


def test_workers_hold_no_more_flow_than_their_nodes() -> None:
    """Workers of four tasks on nodes of two: the bound of workers alone is above that of nodes."""
    parts = (("spout", "spout", 2), ("bolt", "bolt", 4))
    components = tuple(
        Component(name, kind, count, {"cpu": 50, "onheap_mb": 1}) for name, kind, count in parts
    )
    topology = Topology("t", components, (Stream("spout", "bolt"),), worker_max_heap_mb=4)
    nodes = tuple(Node(f"n{i}", "r", "", 2, {"cpu": 100, "memory_mb": 1000}) for i in range(4))
    objective = Objective(("network",))
    problem = compile_problem(Instance("wide", Cluster(nodes), (topology,), objective=objective))
    assert EXHAUSTIVE.run(problem, LIMITS, None).values == (2 * 8 - 2 * 2,)
    token, late, params = RunToken(), time.perf_counter() + 60, CONNECTED_DEFAULTS
    places = make_place_model(problem, token)
    assert places.workers is not None
    levels = [
        make_level(graph, SCALE, late, params, token) for graph in (places.nodes[0], places.workers)
    ]
    assert levels[0].flow_bound == 2 < levels[1].flow_bound
    assert make_joint_levels(places, levels[0], levels[1], late, params, token).saved == 2 * 2


def forced() -> Engine:
    """Return the engine with no time for the searches before joint duals."""
    return configured(CONNECTED, {CONNECTED.name: ConnectedParams(levels_fraction=1e-9)})


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["single", "isolated", "split"])
def test_joint_duals_agree_with_exhaustive_search(workers: str) -> None:
    rng = np.random.default_rng(8)
    engine, seen = forced(), Counter[str]()
    for number in range(40):
        problem = compile_problem(small_instance(rng, workers))
        if engine.supports(problem) is not None or EXHAUSTIVE.supports(problem) is not None:
            continue
        truth, found = EXHAUSTIVE.run(problem, LIMITS, None), engine.run(problem, LIMITS, None)
        seen[f"{truth.status}/{found.status}"] += 1
        if truth.values is None:
            assert found.values is None, number
            continue
        assert found.status != Status.INFEASIBLE, number
        assert found.bounds[0] is not None
        assert found.bounds[0] <= truth.values[0], number
        if found.placement is not None:
            assert judge(problem, found.placement).scaled == found.values
    assert seen["optimal/optimal"] >= 10
