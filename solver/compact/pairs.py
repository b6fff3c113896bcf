"""Network cost by pairs of tasks: a boolean for each pair that says whether both share a node.

For few tasks that all differ, on nodes that are all equally far apart (graphs to partition):

    |x[u, n] - x[v, n]| <= 1 - y[u, v]   where u and v exchange tuples: y = 1 only on one node
    y[u, v] + y[u, w] - y[v, w] <= 1                                    (sharing is transitive)
    w(v) + sum over u of w(u) y[u, v] <= sum over n of C(n) x[v, n]     (what v's node holds)

Every placement keeps these rows with the y that it means, and no row makes a y too large that
saves anything. The last two know nothing of how nodes are numbered: relaxations of products of
counts put a part of every task on every node and cut nothing. They are the triangle inequalities
of clique partitioning (Groetschel and Wakabayashi, 1990) and the knapsack rows of Johnson, Mehrotra
and Nemhauser (Min-cut clustering, 1993).
"""

from __future__ import annotations

from itertools import combinations

from slotwise.models.problem.problem import NODE, RACK, WORKER, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.builder import E, ModelBuilder
from slotwise.solver.compact.names import group_names
from slotwise.solver.compact.variables import Counts

LEAST_NODES = 3
"""On two nodes products of counts prove as much with fewer rows; measured on the family
``partition``."""


def counts_pairs(problem: Problem, max_tasks: int) -> bool:
    """Return whether the network cost of a problem of at most `max_tasks` goes by pairs."""
    return (
        problem.task_count <= max_tasks
        and problem.node_count >= LEAST_NODES
        and problem.matrix is None
        and len(problem.racks) == 1
        and problem.distance[WORKER] == problem.distance[NODE]
        and all(one.size == 1 for one in problem.classes)
        and not problem.may_reject
    )


def pair_network(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> E:
    """Return the part ``network`` of a problem that `counts_pairs`."""
    names = group_names(problem, counts.groups)
    on = [
        [
            counts.on_node(model, problem.classes[group.cls].topology, g, n)
            for n in range(problem.node_count)
        ]
        for g, group in enumerate(counts.groups)
    ]
    group = {one.cls: g for g, one in enumerate(counts.groups)}
    flow = {
        (min(group[a], group[b]), max(group[a], group[b])): weight
        for (a, b), weight in problem.pair_flows().items()
        if weight
    }
    tasks = range(len(on))
    both: dict[tuple[int, int], E] = {}
    for u, v in combinations(tasks, 2):
        name = f"{names[u]}_{names[v]}"
        y = both[u, v] = both[v, u] = model.boolean(f"both_{name}")
        for n, (one, other) in enumerate(zip(on[u], on[v], strict=True)):
            if (u, v) in flow:
                model.at_most(f"if{n}_{name}", model.total((y, one)), model.total((1, other)))
                model.at_most(f"then{n}_{name}", model.total((y, other)), model.total((1, one)))
    for u, v, w in combinations(tasks, 3):
        for a, b, c in ((u, v, w), (v, u, w), (w, u, v)):
            name = f"chain_{names[b]}_{names[a]}_{names[c]}"
            model.at_most(name, model.total((both[a, b], both[a, c])), model.total((1, both[b, c])))
    _fill(model, problem, counts, on, both)
    far, near = int(problem.distance[RACK]), int(problem.distance[NODE])
    cost: list[E | int] = [far * sum(flow.values())]
    cost += [-(far - near) * weight * both[pair] for pair, weight in flow.items()]
    return model.total(cost)


def _fill(
    model: ModelBuilder[E],
    problem: Problem,
    counts: Counts[E],
    on: list[list[E]],
    both: dict[tuple[int, int], E],
) -> None:
    """State for each task what its node can hold beside it, in each hard dimension."""
    demand = [problem.demand[group.cls].tolist() for group in counts.groups]
    for d, is_hard in enumerate(problem.hard.tolist()):
        capacity = problem.capacity[:, d].tolist()
        if not is_hard or max(capacity) >= NO_LIMIT:
            continue
        for v, own in enumerate(on):
            beside = [demand[u][d] * both[u, v] for u in range(len(on)) if u != v and demand[u][d]]
            room = model.total(c * x for c, x in zip(capacity, own, strict=True))
            model.at_most(f"fill{d}_{v}", model.total((demand[v][d], *beside)), room)
