"""The orders of a stream: by hand on a path, two triangles and a cycle."""

from __future__ import annotations

import numpy as np
import pytest

from slotwise.heuristics.partitioning.orders import (
    ORDERS,
    OrderedGraph,
    adversarial,
    breadth_first,
    depth_first,
)
from slotwise.heuristics.partitioning.partition import Partition, equal_parts
from slotwise.heuristics.partitioning.partitioners import find_partitioner
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.models.graph_files.vertex_stream import CsrGraph, from_edges, in_memory


def graph(pairs: list[tuple[int, int]], count: int) -> CsrGraph:
    ends = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    return from_edges(ends, np.arange(1.0, len(ends) + 1), np.arange(1.0, count + 1))


PATH = graph([(0, 1), (1, 2), (2, 3), (3, 4)], 5)
TRIANGLES = graph([(0, 2), (0, 4), (2, 4), (1, 3), (1, 5), (3, 5)], 7)


def test_breadth_and_depth_first_on_a_path() -> None:
    starts = np.array([2, 0, 1, 3, 4], dtype=np.int32)
    assert breadth_first(PATH, starts).tolist() == [2, 1, 3, 0, 4]
    assert depth_first(PATH, starts).tolist() == [2, 1, 0, 3, 4]


def test_each_component_is_ended_before_the_next_begins() -> None:
    starts = np.array([3, 6, 0, 1, 2, 4, 5], dtype=np.int32)
    for search in (breadth_first, depth_first):
        assert search(TRIANGLES, starts).tolist() == [3, 1, 5, 6, 0, 2, 4]


def test_the_adversarial_order_has_every_second_vertex_of_a_cycle_first() -> None:
    cycle = graph([(v, v + 1) for v in range(5)] + [(0, 5)], 6)
    assert adversarial(cycle).tolist() == [0, 2, 4, 1, 3, 5]
    assert adversarial(PATH).tolist() == [0, 2, 4, 1, 3]
    assert adversarial(TRIANGLES).tolist() == [0, 1, 6, 2, 3, 4, 5]


@pytest.mark.parametrize("order", ORDERS)
def test_every_vertex_comes_once_with_its_own_row(order: str) -> None:
    made = ORDERS[order](TRIANGLES, np.random.default_rng(3))
    assert sorted(made.tolist()) == list(range(7))
    assert made.tolist() == ORDERS[order](TRIANGLES, np.random.default_rng(3)).tolist()
    (chunk,) = OrderedGraph(TRIANGLES, made)
    (plain,) = TRIANGLES
    for here, vertex in enumerate(chunk.vertices):
        assert chunk.weights[here] == plain.weights[vertex]
        rows = (
            list(zip(one.neighbours[begin:end], one.edge_weights[begin:end], strict=True))
            for one, begin, end in (
                (chunk, chunk.offsets[here], chunk.offsets[here + 1]),
                (plain, plain.offsets[vertex], plain.offsets[vertex + 1]),
            )
        )
        assert next(rows) == next(rows)


def test_random_orders_depend_on_the_seed() -> None:
    one, other = (ORDERS["random"](PATH, np.random.default_rng(s)).tolist() for s in (0, 1))
    assert one != other


def run(name: str, cycle: CsrGraph) -> Partition:
    parts, rng = equal_parts(2, 1.0), np.random.default_rng(0)
    return find_partitioner(name).run(cycle, parts, rng, CancellationToken())


def test_ldg_on_a_cycle_in_an_adversarial_order() -> None:
    """In its natural order LDG cuts few edges; without neighbours at first, half of them."""
    ends = np.array([(v, v + 1) for v in range(39)] + [(0, 39)], dtype=np.int32)
    cycle = from_edges(ends, np.ones(40), np.ones(40))
    fifo, worst = run("fennel:order=natural", cycle), run("fennel:order=adversarial", cycle)
    assert fifo.cut < 20 <= worst.cut
    assert run("fennel", cycle).part.tolist() == fifo.part.tolist()
    for made in (fifo, worst):
        assert made.fits
        part = made.part
        assert made.cut == sum(part[a] != part[b] for a, b in ends)


def test_metis_takes_no_order() -> None:
    with pytest.raises(InputError, match="takes no parameters; write only metis"):
        find_partitioner("metis:order=bfs")


def test_names_of_vertices_stay() -> None:
    named = CsrGraph(PATH.weights, PATH.offsets, PATH.neighbours, PATH.edge_weights, tuple("abcde"))
    assert OrderedGraph(named, adversarial(named)).names == tuple("abcde")
    assert in_memory(named) is named
