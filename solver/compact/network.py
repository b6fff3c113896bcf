"""Network cost of the compact model.

By levels the cost is ``d_cluster * pairs - sum over levels of saving * pairs inside its places``:
a pair that shares a rack, node or worker saves the step of distance that the level takes off.
Pairs inside a place are products of counts, which each back end linearises in its own way. Only
upper bounds on products are needed, for savings are maximised. By matrix: by level-1
reformulation-linearisation, at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import CLUSTER, RACK, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.layout import group_names, node_name, short
from slotwise.solver.compact.variables import Counts, E, ModelBuilder, Worker


@dataclass(frozen=True, slots=True, eq=False)
class NetworkPlace(Generic[E]):
    """A worker, node or rack, restricted to the tasks of one topology.

    Parameters
    ----------
    name
        For use within names.
    counts
        Group -> (count, its upper bound).
    capacity
        [R] of the resources and the heap; `NO_LIMIT` = none.
    """

    name: str
    counts: Mapping[int, tuple[E, int]]
    capacity: IntArray


Product: TypeAlias = Callable[[NetworkPlace[E], int, Mapping[int, int]], E]
"""(place, center, leaf -> weight) -> center * (weighted leaves) there, or an expression that is
never more and can be as much. The center and some leaf can be in the place. Groups are classes."""


def network(model: ModelBuilder[E], problem: Problem, counts: Counts[E], product: Product[E]) -> E:
    """Return the part ``network``."""
    if problem.matrix is not None:
        return network_by_matrix(model, problem, counts)
    farthest = int(problem.distance[CLUSTER if len(problem.racks) > 1 else RACK])
    cost: list[E | int] = []
    for t, stars in stars_of(problem, model.token).items():
        flow = farthest * total_flow(problem, stars)
        cost.append(flow)
        if t in counts.rejected:
            cost.append(-flow * counts.rejected[t])
        for saving, places in _savings(model, problem, counts, t):
            for place in places if saving else ():
                inside = [
                    product(place, center, leaves)
                    for center, leaves in stars.items()
                    if center in place.counts and any(leaf in place.counts for leaf in leaves)
                ]
                cost.append(-saving * model.total(inside))
    return model.total(cost)


def _savings(
    model: ModelBuilder[E], problem: Problem, counts: Counts[E], topology: int
) -> Iterable[tuple[int, list[NetworkPlace[E]]]]:
    """Yield (saving of a pair inside one of the places, the places), finest level first."""
    worker, node, rack, cluster = (int(d) for d in problem.distance)
    nodes = range(problem.node_count)
    on_node = [node_place(model, problem, counts, topology, n) for n in nodes]
    if all(len(counts.workers[topology, n]) <= 1 for n in nodes):
        yield rack - worker, on_node
    else:
        workers = (w for w in counts.all_workers() if w.topology == topology)
        yield node - worker, [worker_place(problem, counts, w) for w in workers]
        yield rack - node, on_node
    if len(problem.racks) > 1:
        yield cluster - rack, rack_places(model, problem, counts, topology, on_node)


def worker_place(problem: Problem, counts: Counts[E], worker: Worker[E]) -> NetworkPlace[E]:
    """Return a worker as a place of its topology."""
    limit = problem.rules[worker.topology].heap_limit
    return NetworkPlace(
        worker.name,
        {g: (x, counts.most[g, worker.node]) for g, x in worker.counts.items()},
        np.append(problem.capacity[worker.node], limit),
    )


def node_place(
    model: ModelBuilder[E], problem: Problem, counts: Counts[E], topology: int, node: int
) -> NetworkPlace[E]:
    """Return a node as a place of a topology."""
    place_counts = {
        g: (counts.on_node(model, topology, g, node), counts.most[g, node])
        for g in counts.groups_of(problem.rules[topology].classes)
        if (g, node) in counts.most
    }
    limit = NO_LIMIT
    if len(counts.workers[topology, node]) == 1:
        limit = problem.rules[topology].heap_limit
    return NetworkPlace(
        node_name(problem, node), place_counts, np.append(problem.capacity[node], limit)
    )


def rack_places(
    model: ModelBuilder[E],
    problem: Problem,
    counts: Counts[E],
    topology: int,
    on_node: list[NetworkPlace[E]],
) -> list[NetworkPlace[E]]:
    """Return all racks as places of a topology whose nodes are `on_node`."""
    places = []
    for r, name in enumerate(problem.racks):
        nodes = [n for n in range(problem.node_count) if problem.node_rack[n] == r]
        rack: dict[int, tuple[E, int]] = {}
        for g in counts.groups_of(problem.rules[topology].classes):
            inside = [on_node[n].counts[g] for n in nodes if g in on_node[n].counts]
            most = min(sum(upper for _, upper in inside), counts.groups[g].size)
            if inside:
                rack[g] = (model.total(count for count, _ in inside), most)
        offered = np.stack([on_node[n].capacity for n in nodes])
        limited = (offered != NO_LIMIT).all(axis=0)
        summed = np.where(limited, offered, 0).sum(axis=0)
        places.append(NetworkPlace(short(name), rack, np.where(limited, summed, NO_LIMIT)))
    return places


# Network cost of the compact model by a matrix of distances (RLT-1).
#
# Every group is one task; ``x_ik`` = task i is on node k. The cost is linear in ``z_ikjl`` = "i on
# k and j on l", with ``sum_l z_ikjl = x_ik`` and ``sum_k z_ikjl = x_jl``; z of two tasks that do
# not fit one node together is 0.


def network_by_matrix(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> E:
    """Return the part ``network`` where the problem has a matrix."""
    names = group_names(problem, counts.groups)
    cost: list[E] = []
    for (a, b), flow in both_ways(problem).items():
        for i in counts.groups_of((a,)):
            for j in counts.groups_of((b,)):
                cost += _pair_cost(model, problem, counts, (i, j), flow, names)
    return model.total(cost)


def _pair_cost(
    model: ModelBuilder[E],
    problem: Problem,
    counts: Counts[E],
    pair: tuple[int, int],
    flow: tuple[int, int],
    names: list[str],
) -> list[E]:
    matrix = problem.matrix
    assert matrix is not None, "only called with a matrix"
    i, j = pair
    topology = problem.classes[counts.groups[i].cls].topology
    nodes = {g: [n for n in range(problem.node_count) if (g, n) in counts.most] for g in pair}
    products = {}
    for k in nodes[i]:
        for m in nodes[j]:
            if k != m or _fit(problem, counts, pair, k):
                name = f"{names[i]}_{node_name(problem, k)}_{names[j]}_{node_name(problem, m)}"
                products[k, m] = model.number(f"z_{name}", 1)
    for g, h, side in ((i, j, 0), (j, i, 1)):
        for n in nodes[g]:
            met = model.total(z for key, z in products.items() if key[side] == n)
            name = f"meets_{names[g]}_{node_name(problem, n)}_{names[h]}"
            model.equal(name, met, counts.on_node(model, topology, g, n))
    return [
        (flow[0] * int(matrix[k, m]) + flow[1] * int(matrix[m, k])) * z
        for (k, m), z in products.items()
    ]


def _fit(problem: Problem, counts: Counts[E], pair: tuple[int, int], node: int) -> bool:
    """Return whether the hard capacities of a node leave room for both tasks."""
    need = sum(problem.demand[counts.groups[g].cls] for g in pair)
    return bool(np.all((need <= problem.capacity[node]) | ~problem.hard))


# The flows between classes, arranged for linearisation.

Stars = dict[int, dict[int, int]]
"""Center class -> leaf class -> flow weight of a pair; every flow is in exactly one star."""


def stars_of(problem: Problem, token: CancellationToken) -> dict[int, Stars]:
    """Cover the flows of each topology by few stars, greedily by number of open flows.

    Few centers mean few products; among equals the smaller class needs fewer booleans.
    """
    by_topology: dict[int, dict[tuple[int, int], int]] = {}
    for (a, b), weight in problem.pair_flows().items():
        if weight:
            by_topology.setdefault(problem.classes[a].topology, {})[a, b] = weight
    return {t: cover(flows, problem.sizes, token) for t, flows in by_topology.items()}


def cover(
    flows: dict[tuple[int, int], int], sizes: tuple[int, ...], token: CancellationToken
) -> Stars:
    """Cover the flows of pairs by few stars; `sizes` has every class of the pairs."""
    left = dict(flows)
    stars: Stars = {}
    while left:
        token.check()
        degree: dict[int, int] = {}
        for a, b in left:
            degree[a] = degree.get(a, 0) + 1
            degree[b] = degree.get(b, 0) + 1
        center = min(degree, key=lambda c: (-degree[c], sizes[c], c))
        stars[center] = {a + b - center: w for (a, b), w in left.items() if center in (a, b)}
        left = {pair: w for pair, w in left.items() if center not in pair}
    return stars


def total_flow(problem: Problem, stars: Stars) -> int:
    """Return the flow over all pairs of tasks in the stars."""
    sizes = problem.sizes
    return sum(w * sizes[a] * sizes[b] for a, leaves in stars.items() for b, w in leaves.items())


def both_ways(problem: Problem) -> dict[tuple[int, int], tuple[int, int]]:
    """Return, per unordered pair of classes a < b, the flow from a to b and from b to a."""
    flows: dict[tuple[int, int], tuple[int, int]] = {}
    for flow in problem.flows:
        a, b = min(flow.source, flow.target), max(flow.source, flow.target)
        forth, back = flows.get((a, b), (0, 0))
        if flow.source == a:
            flows[a, b] = (forth + flow.weight, back)
        else:
            flows[a, b] = (forth, back + flow.weight)
    return flows
