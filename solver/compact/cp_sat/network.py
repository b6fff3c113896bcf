"""Network cost of the compact model.

By levels the cost is ``d_cluster * pairs - sum over levels of saving * pairs inside its places``:
a pair that shares a rack, node or worker saves the step of distance that the level takes off.
Pairs inside a place are products of counts. A product is order-encoded: with ``u = sum_i b_i``
(b_i = "u is at least i"), ``u * v = sum_i z_i`` where ``z_i <= v`` and ``z_i = 0`` unless b_i.
Only upper bounds on z are needed, for savings are maximised. Flows that share a class share its
product: ``u * (w_1 v_1 + w_2 v_2 + ...)``. Their weights are divided by their gcd. (To split
large weights into digits, each with a product of its own, is exact too, and keeps coefficients
small; searches took up to 10,000 times as long.)

By matrix every group is one task and the cost is linear in ``z_ikjl`` (task i on node k and j on
l) with ``sum_l z_ikjl = x_ik`` and ``sum_k z_ikjl = x_jl`` (RLT-1).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from itertools import pairwise

from ortools.sat.python import cp_model

from slotwise.models.problem.problem import CLUSTER, RACK, Problem
from slotwise.solver.compact.cp_sat.variables import Count, Counts
from slotwise.solver.compact.star_cover import Stars, both_ways, stars_of, total_flow
from slotwise.solver.core.ctrl_c import check_stop

Place = Mapping[int, tuple[Count, int]]
"""Group -> (count, its upper bound) in one place."""


class BuildingTooLongError(Exception):
    """The model was not built before the deadline; nothing is known by that."""


def network(
    model: cp_model.CpModel, problem: Problem, counts: Counts, deadline: float = math.inf
) -> Count:
    """Return the part ``network``; raises `BuildingTooLongError` after the deadline."""
    if problem.matrix is not None:
        return _by_matrix(model, problem, counts)
    cost: Count = 0
    farthest = int(problem.distance[CLUSTER if len(problem.racks) > 1 else RACK])
    for t, stars in stars_of(problem).items():
        cost += farthest * _pairs(problem, counts, t, stars)
        for saving, places in _savings(problem, counts, t):
            for place in places if saving else ():
                check_stop()
                if time.perf_counter() > deadline:
                    raise BuildingTooLongError
                for center, leaves in stars.items():
                    cost -= saving * product(model, place, center, leaves)
    return cost


def _pairs(problem: Problem, counts: Counts, topology: int, stars: Stars) -> Count:
    """Return the flow of the whole topology, 0 if it is left out."""
    return total_flow(problem, stars) * (1 - counts.rejected.get(topology, 0))


def _savings(problem: Problem, counts: Counts, topology: int) -> Iterable[tuple[int, list[Place]]]:
    """Yield (saving of a pair inside one of the places, the places), finest level first."""
    worker, node, rack, cluster = (int(d) for d in problem.distance)
    on_node = [_node_place(problem, counts, topology, n) for n in range(problem.node_count)]
    if all(len(counts.workers[topology, n]) <= 1 for n in range(problem.node_count)):
        yield rack - worker, on_node
    else:
        yield node - worker, _worker_places(problem, counts, topology)
        yield rack - node, on_node
    if len(problem.racks) > 1:
        yield cluster - rack, _rack_places(problem, counts, on_node)


def _worker_places(problem: Problem, counts: Counts, topology: int) -> list[Place]:
    return [
        {g: (x, counts.most[g, n]) for g, x in worker.counts.items()}
        for n in range(problem.node_count)
        for worker in counts.workers[topology, n]
    ]


def _node_place(problem: Problem, counts: Counts, topology: int, node: int) -> Place:
    return {
        g: (counts.on_node(topology, g, node), counts.most[g, node])
        for g in counts.groups_of(problem.rules[topology].classes)
        if (g, node) in counts.most
    }


def _rack_places(problem: Problem, counts: Counts, on_node: list[Place]) -> list[Place]:
    racks: list[dict[int, tuple[Count, int]]] = [{} for _ in problem.racks]
    for n, place in enumerate(on_node):
        rack = racks[int(problem.node_rack[n])]
        for g, (count, most) in place.items():
            before, bound = rack.get(g, (0, 0))
            rack[g] = (before + count, min(bound + most, counts.groups[g].size))
    return list(racks)


def product(model: cp_model.CpModel, place: Place, center: int, leaves: dict[int, int]) -> Count:
    """Return center * (weighted leaves) in a place, as a sum that is never more than that."""
    if center not in place:
        return 0
    there = [(weight, *place[leaf]) for leaf, weight in leaves.items() if leaf in place]
    if not there:
        return 0
    u, most_u = place[center]
    steps = [model.new_bool_var(f"at_least_{i + 1}") for i in range(most_u)]
    model.add(sum(steps) == u)
    for lower, higher in pairwise(steps):
        model.add_implication(higher, lower)
    common = math.gcd(*(weight for weight, _, _ in there))
    v = sum(weight // common * count for weight, count, _ in there)
    most_v = sum(weight // common * most for weight, _, most in there)
    total: Count = 0
    for step in steps:
        z = model.new_int_var(0, most_v, "z")
        model.add(z <= v)
        model.add(z <= most_v * step)
        total += z
    return common * total


def _by_matrix(model: cp_model.CpModel, problem: Problem, counts: Counts) -> Count:
    assert problem.matrix is not None, "only called with a matrix"
    cost: Count = 0
    for (a, b), (there, back) in both_ways(problem).items():
        for i in counts.groups_of((a,)):
            for j in counts.groups_of((b,)):
                cost += _pair_cost(model, problem, counts, (i, j), (there, back))
    return cost


def _pair_cost(
    model: cp_model.CpModel,
    problem: Problem,
    counts: Counts,
    pair: tuple[int, int],
    flow: tuple[int, int],
) -> Count:
    matrix = problem.matrix
    assert matrix is not None, "only called with a matrix"
    i, j = pair
    topology = problem.classes[counts.groups[i].cls].topology
    nodes_i = [k for k in range(problem.node_count) if (i, k) in counts.most]
    nodes_j = [k for k in range(problem.node_count) if (j, k) in counts.most]
    z = {(k, m): model.new_bool_var(f"z_{i}_{k}_{j}_{m}") for k in nodes_i for m in nodes_j}
    for k in nodes_i:
        model.add(sum(z[k, m] for m in nodes_j) == counts.on_node(topology, i, k))
    for m in nodes_j:
        model.add(sum(z[k, m] for k in nodes_i) == counts.on_node(topology, j, m))
    return sum(
        (flow[0] * int(matrix[k, m]) + flow[1] * int(matrix[m, k])) * both
        for (k, m), both in z.items()
    )
