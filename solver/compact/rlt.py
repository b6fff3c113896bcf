"""Network cost of the compact model by a matrix of distances (RLT-1).

Every group is one task; ``x_ik`` = task i is on node k. The cost is linear in ``z_ikjl`` = "i on k
and j on l", with ``sum_l z_ikjl = x_ik`` and ``sum_k z_ikjl = x_jl``; z of two tasks that do not
fit one node together is 0.
"""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.builder import E, ModelBuilder
from slotwise.solver.compact.names import group_names, node_name
from slotwise.solver.compact.star_cover import both_ways
from slotwise.solver.compact.variables import Counts


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
    both = {}
    for k in nodes[i]:
        for m in nodes[j]:
            if k != m or _fit(problem, counts, pair, k):
                name = f"{names[i]}_{node_name(problem, k)}_{names[j]}_{node_name(problem, m)}"
                both[k, m] = model.number(f"z_{name}", 1)
    for g, h, side in ((i, j, 0), (j, i, 1)):
        for n in nodes[g]:
            met = model.total(z for key, z in both.items() if key[side] == n)
            name = f"meets_{names[g]}_{node_name(problem, n)}_{names[h]}"
            model.equal(name, met, counts.on_node(model, topology, g, n))
    return [
        (flow[0] * int(matrix[k, m]) + flow[1] * int(matrix[m, k])) * z
        for (k, m), z in both.items()
    ]


def _fit(problem: Problem, counts: Counts[E], pair: tuple[int, int], node: int) -> bool:
    """Return whether the hard capacities of a node leave room for both tasks."""
    need = sum(problem.demand[counts.groups[g].cls] for g in pair)
    return bool(np.all((need <= problem.capacity[node]) | ~problem.hard))
