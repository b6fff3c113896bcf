"""The partitioners on graphs: by hand, capacities, one pass, the cut, relabelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise.heuristics.partitioning import kahip, metis
from slotwise.heuristics.partitioning.orders import fennel, fennel_alpha, ldg
from slotwise.heuristics.partitioning.partition import (
    Partition,
    Parts,
    cut_of,
    equal_parts,
    whole_weights,
)
from slotwise.heuristics.partitioning.partitioners import PARTITIONERS, find_partitioner
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.models.graph_files.vertex_stream import (
    Chunk,
    CsrGraph,
    Totals,
    VertexStream,
    from_edges,
)

QUICK = [name for name in PARTITIONERS if name != "kahip"]
ONE_PASS = ("hash", "ldg", "fennel")


def made(pairs: list[tuple[int, int]], count: int, weights: list[float] | None = None) -> CsrGraph:
    ends = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    return from_edges(ends, np.ones(len(ends)), np.array(weights or [1.0] * count, dtype=float))


def two_cliques(size: int = 6) -> CsrGraph:
    """Two cliques, joined by one edge; the best cut in two is 1."""
    pairs = [(a, b) for b in range(size) for a in range(b)]
    pairs += [(a + size, b + size) for a, b in pairs]
    return made([*pairs, (0, size)], 2 * size)


def run(name: str, graph: VertexStream, parts: Parts, seed: int = 0) -> Partition:
    return find_partitioner(name).run(
        graph, parts, np.random.default_rng(seed), CancellationToken()
    )


class Pipe:
    """A stream that counts how often each vertex is seen and cannot be rewound."""

    names = None

    def __init__(self, graph: CsrGraph) -> None:
        self._graph = graph
        self._begun = False
        self.seen: list[int] = []

    @property
    def totals(self) -> Totals:
        return self._graph.totals

    def __iter__(self) -> Iterator[Chunk]:
        if self._begun:
            raise InputError("cannot be rewound", has_value=False)
        self._begun = True
        for chunk in self._graph:
            self.seen.extend(chunk.vertices.tolist())
            yield chunk


@pytest.mark.parametrize("name", ONE_PASS)
def test_one_pass_sees_each_vertex_once(name: str) -> None:
    pipe = Pipe(two_cliques())
    done = PARTITIONERS[name].run(
        pipe, equal_parts(2, 1.0), np.random.default_rng(0), CancellationToken()
    )
    assert pipe.seen == list(range(12))
    assert done.fits


@pytest.mark.parametrize("name", ["ldg-re", "fennel-re"])
def test_several_passes_need_a_stream_that_can_be_rewound(name: str) -> None:
    with pytest.raises(InputError, match="rewound"):
        PARTITIONERS[name].run(
            Pipe(two_cliques()), equal_parts(2, 1.0), np.random.default_rng(0), CancellationToken()
        )


def test_the_formulas_are_the_published_ones() -> None:
    assert ldg(3.0, 2.0, 8.0) == 3 * (1 - 2 / 8)
    alpha = fennel_alpha(4, 100.0, 300.0)
    assert alpha == pytest.approx(300 * 4**0.5 / 100**1.5)
    assert fennel(3.0, 9.0, 1.0, 1.0, alpha) == pytest.approx(3 - alpha * (10**1.5 - 9**1.5))
    both = fennel(np.array([3.0, 0.0]), np.array([9.0, 0.0]), 1.0, np.ones(2), alpha)
    assert both.tolist() == pytest.approx([3 - alpha * (10**1.5 - 27), -alpha])


def test_ldg_by_hand() -> None:
    # Capacity 2 each. 0 -> any; 1 joins 0: 1 (1 - 1/2); that part is full; 2 and 3 to the other.
    done = run("ldg", made([(0, 1), (1, 2), (2, 3)], 4), equal_parts(2, 1.0))
    part = done.part.tolist()
    assert part in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert done.cut == 1


def test_fennel_weighs_balance_by_alpha() -> None:
    # A star: alpha = 4 sqrt(2) / 5^1.5 = 0.506. Leaf 1: 1 - 0.506 (2^1.5 - 1) = 0.075 against
    # -0.506: to the centre. Leaf 2: 1 - 0.506 (3^1.5 - 2^1.5) = -0.198: the centre.
    # Leaf 3: -0.418: the centre. Leaf 4: 1 - 0.506 (5^1.5 - 8) = -0.609 against -0.506: away.
    star = made([(0, leaf) for leaf in range(1, 5)], 5)
    part = run("fennel", star, equal_parts(2, 2.0)).part.tolist()
    assert [p == part[0] for p in part] == [True, True, True, True, False]


@pytest.mark.parametrize("name", ["ldg-re", "fennel-re", "metis", "kahip"])
def test_two_cliques_are_told_apart(name: str) -> None:
    done = run(name, two_cliques(), equal_parts(2, 1.0))
    assert (done.cut, done.balance) == (1, 1)


def test_a_pass_more_uses_the_parts_of_the_pass_before() -> None:
    cuts = [run(f"ldg-re:passes={n}", two_cliques(20), equal_parts(2, 1.1)).cut for n in (1, 5)]
    assert cuts[1] < cuts[0]
    assert cuts[0] == run("ldg", two_cliques(20), equal_parts(2, 1.1)).cut


def test_hashing_follows_sizes() -> None:
    parts = Parts(np.array([0.6, 0.3, 0.1]), 1.2)
    loads = run("hash", made([(0, 1)], 20_000), parts).loads
    assert loads / 20_000 == pytest.approx([0.6, 0.3, 0.1], abs=0.02)


@st.composite
def cases(draw: st.DrawFn) -> tuple[CsrGraph, Parts]:
    count = draw(st.integers(1, 25))
    pairs = [(a, b) for b in range(count) for a in range(b)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=60)) if pairs else []
    ends = np.array(chosen, dtype=np.int32).reshape(-1, 2)
    weights = draw(st.lists(st.integers(1, 5), min_size=count, max_size=count))
    costs = draw(st.lists(st.integers(0, 9), min_size=len(chosen), max_size=len(chosen)))
    sizes = np.array(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)), dtype=float)
    balance = draw(st.sampled_from((1.0, 1.03, 1.5, 3.0)))
    graph = from_edges(ends, np.array(costs, dtype=float), np.array(weights, dtype=float))
    return graph, Parts(sizes / sizes.sum(), balance)


@given(cases(), st.sampled_from(QUICK), st.integers(0, 3))
def test_the_cut_and_the_loads_are_those_of_the_parts(
    case: tuple[CsrGraph, Parts], name: str, seed: int
) -> None:
    graph, parts = case
    done = run(name, graph, parts, seed)
    assert done.cut == cut_of(graph, done.part)
    loads = np.bincount(done.part, weights=graph.weights, minlength=len(parts.sizes))
    assert done.loads.tolist() == loads.tolist()
    assert done.capacities.tolist() == parts.capacities(graph.totals).tolist()
    assert done.fits == bool((loads <= done.capacities * (1 + 1e-12)).all())
    assert run(name, graph, parts, seed).part.tolist() == done.part.tolist()


@given(cases(), st.sampled_from(QUICK))
def test_vertices_of_weight_1_always_fit(case: tuple[CsrGraph, Parts], name: str) -> None:
    graph, parts = case
    plain = replace(graph, weights=np.ones(len(graph.weights)))
    assert run(name, plain, parts).fits


@given(cases(), st.data())
def test_other_labels_change_no_cost(case: tuple[CsrGraph, Parts], data: st.DataObject) -> None:
    graph, parts = case
    part = run("ldg", graph, parts).part
    order = np.array(data.draw(st.permutations(range(len(parts.sizes)))), dtype=np.int32)
    assert cut_of(graph, order[part]) == cut_of(graph, part)
    new = np.array(data.draw(st.permutations(range(len(part)))))
    rows = np.repeat(np.arange(len(part)), np.diff(graph.offsets))
    once = rows < graph.neighbours
    ends = np.stack((new[rows[once]], new[graph.neighbours[once]]), axis=1).astype(np.int32)
    renamed = from_edges(ends, graph.edge_weights[once], graph.weights[np.argsort(new)])
    assert cut_of(renamed, part[np.argsort(new)]) == cut_of(graph, part)


@settings(max_examples=6, deadline=None)
@given(cases())
def test_kahip_keeps_what_it_says(case: tuple[CsrGraph, Parts]) -> None:
    graph, parts = case
    done = run("kahip", graph, parts)
    assert done.cut == cut_of(graph, done.part)


@pytest.mark.parametrize("module", [metis, kahip])
def test_a_missing_extra_is_named(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    extra = str(module.__name__).rpartition(".")[2]  # type: ignore[attr-defined]
    assert f"slotwise[{extra}]" in str(module.missing())  # type: ignore[attr-defined]
    assert f"slotwise[{extra}]" in str(PARTITIONERS[extra].missing())


@pytest.mark.parametrize("name", ["metis", "kahip"])
def test_edges_of_weight_0_do_not_count(name: str) -> None:
    if find_partitioner(name).missing():
        pytest.skip(f"needs the extra {name}")
    # Even and odd vertices are two cliques; all else is joined by edges of weight 0.
    pairs = [(a, b) for b in range(12) for a in range(b)]
    weights = np.array([float((a + b) % 2 == 0) for a, b in pairs])
    graph = from_edges(np.array(pairs, dtype=np.int32), weights, np.ones(12))
    for seed in range(4):
        assert run(name, graph, equal_parts(2, 1.0), seed).cut == 0


def test_weights_that_are_not_whole_are_scaled() -> None:
    assert whole_weights(np.array([2.0, 3.0]), 0).tolist() == [2, 3]
    scaled = whole_weights(np.array([0.5, 1.0, 0.25]), 1)
    assert scaled[1] / scaled[0] == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize(
    "name", ["lgd", "ldg:passes=3", "ldg-re:passes=0", "ldg-re:passes=x", "ldg-re:n=3", "ldg-re:"]
)
def test_wrong_names_and_parameters_are_named(name: str) -> None:
    with pytest.raises(InputError):
        find_partitioner(name)


@pytest.mark.parametrize(
    ("loads", "parts", "balance"),
    [
        ([1.0] * 49, 49, 1.0),  # 49 * (1 / 49) is below 1.
        ([5.0, 3.0, 2.0], 3, 1.5),
        ([4.0, 3.0], 2, 8 / 7),
        ([1e-9, 2e-9], 2, 4 / 3),
        ([2e9 + 1, 2e9], 2, 1 + 1 / (4e9 + 1)),
    ],
)
def test_balance_is_exact_to_the_last_digit(loads: list[float], parts: int, balance: float) -> None:
    shares = np.full(parts, 1 / parts) * sum(loads)
    made = Partition(np.arange(parts), 0.0, np.array(loads), shares, shares)
    assert made.balance == balance
