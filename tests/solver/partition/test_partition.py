"""Engine ``partition`` against exhaustive search, published optima, and cases by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise.models.cancellation import CancellationToken
from slotwise.models.importers.matrix_assignment import instance_from_matrices
from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import read_instance
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.partition.engine import PARTITION, PartitionParams
from slotwise.solver.partition.model import make_partition
from slotwise.solver.solve import solve
from slotwise.solver.structure.separability import without_matrix

LIMITS = Limits(time_s=60.0)
Matrices = dict[str, Any]


@dataclass(frozen=True)
class Graph:
    """A tiny graph to partition; `weights` has a row per vertex, `edges` may repeat a pair."""

    weights: list[list[int]]
    edges: list[tuple[int, int, int]]
    capacity: list[int]
    parts: int
    near: int = 0
    far: int = 1

    def document(self) -> Matrices:
        """As the data of a matrix file: the distances are a matrix."""
        rows = range(self.parts)
        return {
            "format": "matrix-assignment",
            "name": "graph",
            "weights": self.weights,
            "capacities": [self.capacity] * self.parts,
            "flow": [list(edge) for edge in self.edges],
            "distance": [[self.near if a == b else self.far for b in rows] for a in rows],
            "linear": None,
        }

    def problem(self) -> Problem:
        return compile_problem(instance_from_matrices(self.document()))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs of up to 7 vertices and 4 parts, from roomy to infeasible; some vertices are twins."""
    size, dims = draw(st.integers(1, 7)), draw(st.integers(1, 2))
    weights = [[draw(st.integers(0, 5)) for _ in range(dims)] for _ in range(size)]
    vertex = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex, st.integers(1, 9)), max_size=12))
    parts = draw(st.integers(1, 4))
    share = [-(-sum(column) // parts) for column in zip(*weights, strict=True)]
    capacity = [max(0, one + draw(st.integers(-1, 4))) for one in share]
    near = draw(st.sampled_from([0, 0, 2]))
    return Graph(weights, [edge for edge in edges if edge[0] != edge[1]], capacity, parts, near, 3)


def settled(problem: Problem, found: Outcome) -> tuple[Status, tuple[int, ...] | None]:
    """The claim, after the judge has looked at its placement."""
    if found.placement is not None:
        verdict = judge(problem, found.placement)
        assert (verdict.violations, verdict.scaled) == ((), found.values)
        assert found.bounds == found.values
    return found.status, found.values


def partitioned(problem: Problem) -> tuple[Status, tuple[int, ...] | None]:
    """What the engine claims; it must have settled the problem."""
    claim = settled(problem, PARTITION.run(problem, LIMITS, None))
    assert claim[0] in (Status.OPTIMAL, Status.INFEASIBLE)
    return claim


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(graphs())
def test_equals_exhaustive_search(graph: Graph) -> None:
    problem = graph.problem()
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    assert partitioned(problem) == (truth.status, truth.values)


def random_graph(rng: np.random.Generator) -> Graph:
    size, parts = int(rng.integers(4, 8)), int(rng.integers(2, 5))
    weights = rng.integers(1, 6, (size, 1)).tolist()
    pairs = [(a, b) for a in range(size) for b in range(a) if rng.random() < 0.5]
    edges = [(a, b, int(rng.integers(1, 9))) for a, b in pairs]
    share = -(-sum(w[0] for w in weights) // parts)
    return Graph(weights, edges, [share + int(rng.integers(-1, 3))], parts)


@pytest.mark.slow
def test_equals_exhaustive_search_where_parts_run_short_and_where_not() -> None:
    rng = np.random.default_rng(11)
    seen: Counter[object] = Counter()
    for _ in range(80):
        graph = random_graph(rng)
        if rng.random() < 0.4:
            graph = replace(graph, parts=graph.parts + 2)
        problem = graph.problem()
        truth = EXHAUSTIVE.run(without_matrix(problem) or problem, LIMITS, None)  # has symmetry
        claim = partitioned(problem)
        assert claim == (truth.status, truth.values), graph
        seen[claim[0]] += 1
        seen[make_partition(problem, CancellationToken()).ample] += 1
    assert min(seen[what] for what in (Status.OPTIMAL, Status.INFEASIBLE, True, False)) >= 10


@settings(max_examples=40, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_labels_do_not_matter(graph: Graph, random: Any) -> None:
    names = list(range(len(graph.weights)))
    random.shuffle(names)
    weights = [graph.weights[names.index(i)] for i in range(len(names))]
    edges = [(names[b], names[a], weight) for a, b, weight in graph.edges]
    random.shuffle(edges)
    moved = replace(graph, weights=weights, edges=edges)
    assert partitioned(moved.problem()) == partitioned(graph.problem())


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(graphs(), st.integers(0, 1), st.integers(0, 3))
def test_more_room_never_hurts(graph: Graph, more_parts: int, more_room: int) -> None:
    wide = replace(
        graph,
        parts=graph.parts + more_parts,
        capacity=[room + more_room for room in graph.capacity],
    )
    before, after = partitioned(graph.problem()), partitioned(wide.problem())
    if before[1] is not None:
        assert after[1] is not None
        assert after[1] <= before[1]


def by_levels(graph: nx.Graph[int], parts: int, room: int, each: int = 1) -> Problem:
    """A graph with `each` interchangeable tasks a vertex, on nodes of one rack."""
    nodes = tuple(Node(f"n{n}", "r", resources={"cpu": Decimal(room)}) for n in range(parts))
    zero, one = Decimal(0), Decimal(1)
    return compile_problem(
        Instance(
            name="levels",
            cluster=Cluster(nodes, Distance(zero, zero, one, one)),
            topologies=(
                Topology(
                    "g",
                    tuple(Component(f"v{v}", "bolt", each, {"cpu": one}) for v in graph),
                    tuple(Stream(f"v{a}", f"v{b}", rate=one) for a, b in graph.edges),
                ),
            ),
            objective=Objective(("network",)),
            flow="rates",
        )
    )


def test_a_grid_falls_into_equal_blocks() -> None:
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6))
    assert partitioned(by_levels(grid, 4, 9)) == (Status.OPTIMAL, (12,))


def test_interchangeable_tasks_are_counted() -> None:
    problem = by_levels(nx.path_graph(3), 3, 3, each=3)
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    assert make_partition(problem, CancellationToken()).kinds.count == 2  # the ends are twins
    assert partitioned(problem) == (Status.OPTIMAL, truth.values)


def test_forced_cases() -> None:
    edge = Graph([[1], [1]], [(0, 1, 5)], [1], 2)
    assert partitioned(edge.problem())[1] == (5,)
    assert partitioned(replace(edge, capacity=[2]).problem())[1] == (0,)
    assert partitioned(replace(edge, parts=1).problem())[0] == Status.INFEASIBLE
    assert partitioned(replace(edge, weights=[[2], [1]]).problem())[0] == Status.INFEASIBLE
    assert partitioned(replace(edge, near=1).problem())[1] == (5,)
    assert partitioned(replace(edge, edges=[]).problem())[1] == (0,)


def test_what_it_does_not_take() -> None:
    graph = Graph([[1], [1]], [(0, 1, 5)], [1], 3)
    document = graph.document()
    for change, word in [
        ({"distance": [[0, 1, 2], [1, 0, 1], [2, 1, 0]]}, "equally far"),
        ({"distance": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}, "equally far"),
        ({"capacities": [[1], [1], [2]]}, "differ"),
        ({"linear": [[0, 1, 0], [0, 0, 0]]}, "differ"),
    ]:
        problem = compile_problem(instance_from_matrices(document | change))
        assert word in (PARTITION.supports(problem) or "")
    assert PARTITION.supports(graph.problem()) is None


def test_what_it_sees_only_while_it_runs() -> None:
    pairs = [(a, b, 1) for a in range(40) for b in range(a)]
    dense = Graph([[1 + v] for v in range(40)], pairs, [500], 3).problem()
    assert PARTITION.supports(dense) is None
    with pytest.raises(NotTakenError, match="too many with flow to later ones"):
        PARTITION.run(dense, LIMITS, None)
    many = by_levels(nx.path_graph(401), 3, 200)
    assert "401 classes" in (PARTITION.supports(many) or "")


def test_coarse_units_prove_the_same() -> None:
    rng = np.random.default_rng(5)
    assert PARTITION.with_parameters is not None
    coarse = PARTITION.with_parameters(PartitionParams(max_cells=3_000))
    proven = 0
    for _ in range(12):
        graph = random_graph(rng)
        wide = replace(
            graph,
            weights=[[1_000 * w[0] + int(rng.integers(0, 400))] for w in graph.weights],
            capacity=[1_000 * graph.capacity[0] + 900],
        )
        problem = wide.problem()
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = coarse.run(problem, LIMITS, None)
        assert settled(problem, found) == (truth.status, truth.values)
        proven += 1
    assert proven == 12


def test_a_bound_stands_when_time_is_short() -> None:
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 6))
    problem = by_levels(graph, 5, 6)
    best = PARTITION.run(problem, LIMITS, None)
    assert best.values is not None
    short = PARTITION.run(problem, replace(LIMITS, time_s=0.05), best.placement)
    assert short.values == best.values
    assert short.bounds[0] is None or short.bounds[0] <= best.values[0]


def test_the_matrix_is_dropped_only_where_it_says_no_more() -> None:
    problem = Graph([[1], [2]], [(0, 1, 5)], [2], 3, near=1, far=4).problem()
    levels = without_matrix(problem)
    assert levels is not None
    assert levels.matrix is None
    for placement in (
        EXHAUSTIVE.run(problem, LIMITS, None).placement,
        EXHAUSTIVE.run(replace(problem, capacity=problem.capacity + 9), LIMITS, None).placement,
    ):
        assert placement is not None
        assert judge(levels, placement).scaled == judge(problem, placement).scaled
    assert without_matrix(levels) is None
    uneven = problem.matrix
    assert uneven is not None
    uneven = uneven.copy()
    uneven[0, 1] = 5
    assert without_matrix(replace(problem, matrix=uneven)) is None


@pytest.mark.parametrize("number", [0, 5, 10])
def test_published_optima(shared: Path, number: int) -> None:
    path = shared / "instances" / "gpcap" / f"series-parallel-{number}.json"
    if not path.exists():
        pytest.skip("no shared instances")
    published = {0: 5625, 5: 9322, 10: 6881}[number]
    found = solve(read_instance(path), time_limit_s=60.0)
    assert (found.status, found.objective[0].value) == (Status.OPTIMAL, published)
    assert found.objective[0].bound == published
    assert found.engine == "partition"


def racks_by_matrix(seed: int, *, kinds: int) -> Problem:
    """Six nodes of `kinds` capacities, two racks of them in turn, distances 1, 2 and 5."""
    edges = [(i, (i * 3 + seed) % 7 + 1, i + 1) for i in range(7) if i % 3]
    problem = Graph([[1]] * 8, [edge for edge in edges if edge[0] != edge[1]], [4], 6).problem()
    rack = np.arange(6) % 2
    matrix = np.where(rack[:, None] == rack[None], 2, 5)
    np.fill_diagonal(matrix, 1)
    capacity = problem.capacity + np.arange(6)[:, None] % kinds
    return replace(problem, matrix=matrix.astype(np.int64), capacity=capacity)


def test_a_matrix_of_racks_says_no_more_than_levels() -> None:
    rng = np.random.default_rng(0)
    for seed in range(5):
        problem = racks_by_matrix(seed, kinds=1 + seed % 2)
        levels = without_matrix(problem)
        assert levels is not None
        assert (levels.matrix, len(levels.racks)) == (None, 2)
        assert levels.distance.tolist() == [1, 1, 2, 5]
        for _ in range(20):
            nodes = tuple(rng.integers(0, 6, problem.task_count).tolist())
            placement = Placement(nodes, (0,) * problem.task_count)
            assert judge(levels, placement).scaled == judge(problem, placement).scaled
        assert PARTITION.supports(problem) is not None
    assert "equally far apart" in str(PARTITION.supports(racks_by_matrix(0, kinds=1)))


def test_three_distances_or_no_groups_need_the_matrix() -> None:
    problem = racks_by_matrix(0, kinds=1)
    assert problem.matrix is not None
    three, chain, closer, own = (problem.matrix.copy() for _ in range(4))
    three[0, 1] = three[1, 0] = 7
    chain[0, 1] = chain[1, 0] = 2  # 0 is near 1 and 2, which are far apart
    closer[np.diag_indices(6)] = 3  # further within a node than within a rack
    own[0, 0] = 0
    for matrix in (three, chain, closer, own):
        assert without_matrix(replace(problem, matrix=matrix)) is None
