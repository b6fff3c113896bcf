"""Graphs to partition: balance, the judge, and the same as an instance of placement."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise.heuristics.partitioning.partition import equal_parts
from slotwise.models.errors import InputError
from slotwise.models.graph_files.vertex_stream import CsrGraph, Totals, from_edges
from slotwise.models.graph_partition import (
    PartitionProblem,
    balanced_capacities,
    instance_of,
    judge_partition,
    part_of,
    partition_problem,
    placement_of,
)
from slotwise.models.judge.judge import judge


@pytest.mark.parametrize(
    ("total", "balance", "sizes", "expected"),
    [
        (10, 1, (1, 1), (5, 5)),
        (11, 1, (1, 1), (6, 6)),  # rounded up: KaHIP's (1 + 0) ceil(11 / 2)
        (11, "1.09", (1, 1), (6, 6)),  # 5.995, and 6 all the same
        (100, 1.15, (1,), (115,)),  # 1.15 * 100 is 114.99... in doubles
        (100, 1.03, (1, 1, 1), (34, 34, 34)),  # METIS: 34.33
        (3, 2, (1,) * 5, (1,) * 5),
        (12, 1, ("2", "0.5", "0.5"), (8, 2, 2)),
        (0, 2, (1, 1), (0, 0)),
    ],
)
def test_capacities(
    total: int, balance: float | str, sizes: tuple[float | str, ...], expected: tuple[int, ...]
) -> None:
    assert balanced_capacities(total, balance, sizes) == expected


@given(st.integers(0, 10**6), st.integers(100, 300), st.integers(1, 40))
def test_a_partitioner_may_fill_a_part_as_far_and_no_further(
    total: int, percent: int, count: int
) -> None:
    allowed = equal_parts(count, percent / 100).capacities(Totals(1, 0, total, 0, whole=True))
    rounded = np.floor(allowed).astype(int).tolist()
    assert rounded == [*balanced_capacities(total, percent / 100, (1,) * count)]


@pytest.mark.parametrize(
    ("balance", "sizes", "message"),
    [
        (0.99, (1,), "balance = 0.99: must be 1 or more"),
        (1, (), "sizes = []: must be numbers above 0"),
        (1, (1, 0), "sizes = [1, 0]: must be numbers above 0"),
        (1, (1, -1), "must be 0 or more"),
    ],
)
def test_wrong_balance(balance: float, sizes: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        balanced_capacities(5, balance, sizes)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("weights", "edges", "capacities", "message"),
    [
        ((), (), (1,), "weights: must not be empty"),
        ((1,), (), (), "capacities: must not be empty"),
        ((1, -1), (), (1,), "weights[1] = -1"),
        ((1, 1), ((0, 1, -1),), (1,), "edges[0].weight = -1"),
        ((1, 1), ((1, 0, 1),), (1,), "the lower one first"),
        ((1, 1), ((1, 1, 1),), (1,), "the lower one first"),
        ((1, 1), ((0, 2, 1),), (1,), "edges[0] = (0, 2)"),
        ((1, 1), ((0, 1, 1), (0, 1, 2)), (1,), "edges[1] = (0, 1)"),
        ((10**15,) * 10, (), (1,), "weights = 10000000000000000: must add up to at most"),
    ],
)
def test_wrong_graphs(
    weights: tuple[int, ...],
    edges: tuple[tuple[int, int, int], ...],
    capacities: tuple[int, ...],
    message: str,
) -> None:
    with pytest.raises(InputError) as caught:
        PartitionProblem(weights, edges, capacities)
    assert message in str(caught.value)


def read(edge_weights: list[float], weights: list[float]) -> CsrGraph:
    """A path with these weights."""
    ends = np.array([(v, v + 1) for v in range(len(edge_weights))], dtype=np.int32)
    return from_edges(ends, np.array(edge_weights), np.array(weights))


def test_a_graph_that_was_read() -> None:
    problem = partition_problem(read([3, 0], [1, 0, 4]), 1, (1, 1))
    assert problem.weights == (1, 0, 4)
    assert problem.edges == ((0, 1, 3), (1, 2, 0))
    assert problem.capacities == (3, 3)


@pytest.mark.parametrize(
    ("edge_weights", "weights", "message"),
    [([0.5], [1, 1], "0.5: is the weight of an edge"), ([1], [1, 2.5], "weight of a vertex")],
)
def test_weights_that_are_not_whole(
    edge_weights: list[float], weights: list[float], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        partition_problem(read(edge_weights, weights), 1, (1, 1))
    assert message in str(caught.value)
    assert "must be whole for a proof" in str(caught.value)


def test_the_judge_recomputes_everything() -> None:
    edges = ((0, 1, 5), (1, 2, 3), (0, 3, 2))
    problem = PartitionProblem((1, 2, 3, 0), edges, (4, 2), (2, 1))
    good = judge_partition(problem, (0, 1, 0, 1))
    assert (good.cut, good.loads, good.balance) == (10, (4, 2), Fraction(1))
    assert good.valid
    bad = judge_partition(problem, (0, 1, 1, 2))
    assert bad.violations == (
        "vertex 3 is in part 2, not in 0 to 1",
        "part 1 weighs 5, more than 2",
    )
    assert bad.balance == Fraction(5, 2)
    with pytest.raises(InputError, match="for each of the 4 vertices"):
        judge_partition(problem, (0, 1))


@pytest.mark.parametrize("seed", range(5))
def test_the_cut_is_that_of_networkx_and_of_the_judge_of_placements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(9, 16, seed=seed)
    edges = tuple((a, b, int(rng.integers(1, 9))) for a, b in sorted(graph.edges))
    graph.add_weighted_edges_from(edges)
    problem = PartitionProblem(tuple(rng.integers(0, 4, 9).tolist()), edges, (30, 30, 30))
    part = rng.integers(0, 2, 9).tolist()
    verdict = judge_partition(problem, part)
    assert verdict.cut == nx.cut_size(graph, [v for v in range(9) if part[v]], weight="weight")
    placement = placement_of(problem, part)
    placed = judge(instance_of(problem), placement)
    assert placed.violations == ()
    assert placed.objective[0].value == verdict.cut
    assert list(part_of(problem, placement)) == part


def test_of_more_parts_than_vertices_the_largest_are_nodes() -> None:
    problem = PartitionProblem((1, 1), ((0, 1, 1),), (1, 3, 1, 2))
    nodes = instance_of(problem).cluster.nodes
    assert [node.id for node in nodes] == ["part-1", "part-3"]
    assert part_of(problem, placement_of(problem, (3, 1))) == (3, 1)
    # Parts that are not nodes give way to free ones, a part still a part.
    assert part_of(problem, placement_of(problem, (2, 0))) == (3, 1)
    assert part_of(problem, placement_of(problem, (2, 2))) == (1, 1)
    assert part_of(problem, placement_of(problem, (3, 0))) == (3, 1)
    assert placement_of(problem, (1, 7)).nodes == (0, -1)
