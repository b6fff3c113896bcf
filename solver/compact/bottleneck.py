"""The highest utilisation in the compact models: a variable above the load of every resource.

What a place sends out is what its tasks send in all, less what stays inside: products of counts,
of which only upper bounds are needed, as for the network cost. So with P_b tasks of class b, x_a(p)
of class a in place p, and s_ab bits from one to another,

    out(p) = sum_ab s_ab x_a(p) P_b - inside(p)       in(p) = sum_ab s_ab P_a x_b(p) - inside(p)

and sending asks of a cpu the costs of the widest level, less what each narrower one saves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Generic

from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, Problem
from slotwise.models.problem.workload import LOCAL, TuplePair, Workload
from slotwise.solver.baseline import least_bottleneck
from slotwise.solver.compact.layout import node_name, short
from slotwise.solver.compact.network import (
    NetworkPlace,
    Product,
    Stars,
    cover,
    node_place,
    rack_places,
    worker_place,
)
from slotwise.solver.compact.variables import Counts, E, ModelBuilder

Weights = dict[tuple[int, int], int]
"""Ordered pair of classes -> weight of a pair of tasks."""


def why_not_linear(problem: Problem, most_steps: int) -> str | None:
    """Return why compact models do not count ``bottleneck`` here; ``None`` where they do.

    `most_steps` is the number of steps that a solver can distinguish.
    """
    workload = problem.workload
    if workload is None:
        return None
    if workload.largest > most_steps:
        return f"'bottleneck' may have more than {most_steps:,} steps; use a coarser unit"
    if not workload.is_linear:
        return f"'bottleneck' with streams by {LOCAL}: what tasks receive is not a sum"
    if problem.matrix is not None:
        return "'bottleneck' with distances by matrix"
    if any(wide < narrow for narrow, wide in pairwise(workload.serialise)):
        return "'bottleneck' where sending costs more between nearer tasks"
    sizes = problem.sizes
    if any(one.source == one.target and sizes[one.source] > 1 for one in workload.pairs.flows):
        return "'bottleneck' with a stream from a component to itself"
    return None


def bottleneck(
    model: ModelBuilder[E], problem: Problem, counts: Counts[E], product: Product[E]
) -> E:
    """State the rows of the part ``bottleneck`` and return it, in its integer steps."""
    workload = problem.workload
    assert workload is not None, "the part is in the objective"
    highest = model.measure("bottleneck", workload.largest)
    model.at_least("least_bottleneck", highest, least_bottleneck(problem))
    rows = _Loads(model, problem, workload, counts, product)
    pairs = workload.pairs
    for n, load in enumerate(rows.work()):
        name = node_name(problem, n)
        model.at_most(f"cpu_{name}", pairs.cpu[n] * load, highest)
    for n, (out, into) in enumerate(rows.crossing(NODE) if pairs.nic_out else ()):
        name = node_name(problem, n)
        model.at_most(f"nic_out_{name}", pairs.nic_out[n] * out, highest)
        model.at_most(f"nic_in_{name}", pairs.nic_in[n] * into, highest)
    for r, (out, into) in enumerate(rows.crossing(RACK) if pairs.uplink else ()):
        name = short(problem.racks[r])
        model.at_most(f"uplink_out_{name}", pairs.uplink[r] * out, highest)
        model.at_most(f"uplink_in_{name}", pairs.uplink[r] * into, highest)
    return highest


class _Loads(Generic[E]):
    """Loads of nodes and racks as linear expressions, never less than what they are."""

    def __init__(
        self,
        model: ModelBuilder[E],
        problem: Problem,
        workload: Workload,
        counts: Counts[E],
        product: Product[E],
    ) -> None:
        self._model, self._problem, self._workload = model, problem, workload
        self._counts, self._product = counts, product
        nodes = range(problem.node_count)
        self._nodes = {
            t: [node_place(model, problem, counts, t, n) for n in nodes]
            for t, rules in enumerate(problem.rules)
            if rules.classes
        }
        self._racks = {
            t: rack_places(model, problem, counts, t, on_node)
            for t, on_node in self._nodes.items()
            if len(problem.racks) > 1
        }

    def crossing(self, level: int) -> Iterator[tuple[E, E]]:
        """Yield the bits that leave each node (or rack), and those that enter it."""
        bits = self._weights(lambda one: one.bits)
        out, into = _sums(bits, self._problem.sizes)
        stars = self._stars(bits)
        for places in zip(*(self._nodes if level == NODE else self._racks).values(), strict=True):
            inside = [
                -1 * self._inside(place, stars.get(t, {}))
                for t, place in zip(self._nodes, places, strict=True)
            ]
            counts = [one for place in places for one in place.counts.items()]
            yield (
                self._model.total([*(out.get(c, 0) * x for c, (x, _) in counts), *inside]),
                self._model.total([*(into.get(c, 0) * x for c, (x, _) in counts), *inside]),
            )

    def work(self) -> Iterator[E]:
        """Yield the load of each node's cpu by its tasks."""
        widest = CLUSTER if self._racks else RACK
        sending, _ = _sums(self._weights(lambda one: one.work[widest]), self._problem.sizes)
        alone = {
            one.source: one.work[WORKER]
            for one in self._workload.pairs.flows
            if one.source == one.target
        }
        steps = {
            (narrow, wide): self._weights(partial(_saved, narrow, wide))
            for narrow, wide in ((WORKER, RACK), (WORKER, NODE), (NODE, RACK), (RACK, CLUSTER))
        }
        stars = {key: self._stars(weights) for key, weights in steps.items()}
        for n in range(self._problem.node_count):
            parts: list[E | int] = []
            for t, on_node in self._nodes.items():
                place, workers = on_node[n], self._counts.workers[t, n]
                for c, (x, _) in place.counts.items():
                    each = self._workload.pairs.work[c] + sending.get(c, 0) + alone.get(c, 0)
                    parts.append(each * x)
                if len(workers) <= 1:
                    parts.append(-1 * self._inside(place, stars[WORKER, RACK].get(t, {})))
                else:
                    parts.append(-1 * self._inside(place, stars[NODE, RACK].get(t, {})))
                    for worker in workers:
                        inside = worker_place(self._problem, self._counts, worker)
                        parts.append(-1 * self._inside(inside, stars[WORKER, NODE].get(t, {})))
                if self._racks:
                    rack = self._racks[t][int(self._problem.node_rack[n])]
                    parts.append(-1 * self._within(place, rack, steps[RACK, CLUSTER]))
            yield self._model.total(parts)

    def _weights(self, weight: Callable[[TuplePair], int]) -> Weights:
        """Return the weights above 0 of pairs of different classes."""
        return {
            (one.source, one.target): weight(one)
            for one in self._workload.pairs.flows
            if one.source != one.target and weight(one)
        }

    def _stars(self, weights: Weights) -> dict[int, Stars]:
        """Return the stars of each topology that cover pairs, both directions added."""
        both: dict[int, dict[tuple[int, int], int]] = {}
        for (a, b), weight in weights.items():
            own = both.setdefault(self._problem.classes[a].topology, {})
            pair = (min(a, b), max(a, b))
            own[pair] = own.get(pair, 0) + weight
        return {t: cover(own, self._problem.sizes, self._model.token) for t, own in both.items()}

    def _inside(self, place: NetworkPlace[E], stars: Stars) -> E:
        """Return the weight of the pairs that share a place, or less."""
        return self._model.total(
            self._product(place, center, leaves)
            for center, leaves in stars.items()
            if center in place.counts and any(leaf in place.counts for leaf in leaves)
        )

    def _within(self, node: NetworkPlace[E], rack: NetworkPlace[E], weights: Weights) -> E:
        """Return the weight of what tasks of a node send to tasks of its rack, or less."""
        leaves: dict[int, dict[int, int]] = {}
        for (a, b), weight in weights.items():
            if a in node.counts and b in rack.counts:
                leaves.setdefault(a, {})[b] = weight
        return self._model.total(
            self._product(
                NetworkPlace(
                    f"{node.name}_in_{rack.name}",
                    {**rack.counts, center: node.counts[center]},
                    rack.capacity,
                ),
                center,
                some,
            )
            for center, some in leaves.items()
        )


def _saved(narrow: int, wide: int, one: TuplePair) -> int:
    """Return how much less sending costs where tasks share the narrower level."""
    return one.work[wide] - one.work[narrow]


def _sums(weights: Weights, sizes: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Return class -> the weight of all pairs of one of its tasks as sender, as receiver."""
    out: dict[int, int] = {}
    into: dict[int, int] = {}
    for (a, b), weight in weights.items():
        out[a] = out.get(a, 0) + weight * sizes[b]
        into[b] = into.get(b, 0) + weight * sizes[a]
    return out, into
