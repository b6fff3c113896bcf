"""The whole compact model: variables, rules, symmetry, and the terms of the objective."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import Generic

from slotwise.models.problem.problem import NODE, RACK, WORKER, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.bottleneck import bottleneck
from slotwise.solver.compact.constraints import add_rules
from slotwise.solver.compact.layout import group_names, node_name
from slotwise.solver.compact.network import Product, network
from slotwise.solver.compact.variables import Counts, E, ModelBuilder, make_counts
from slotwise.solver.structure.node_types import equal_nodes, equal_racks

PARTS = frozenset(
    ("overload", "network", "rejected", "nodes", "workers", "moved", "linear", "bottleneck")
)
"""Parts of the objective that the compact models count; ``bottleneck`` not everywhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Formulation(Generic[E]):
    """The variables and terms of a model.

    Parameters
    ----------
    counts
        The variables that describe a placement.
    terms
        Each term of the objective in its integer steps.
    """

    counts: Counts[E]
    terms: tuple[E, ...]


def formulate(
    model: ModelBuilder[E], problem: Problem, product: Product[E], max_pair_tasks: int = 0
) -> Formulation[E]:
    """State the compact model of a problem, without an objective.

    Parameters
    ----------
    model
        Where to state it; exceptions of its rows and variables are passed on.
    problem
        The problem.
    product
        How this back end linearises products of counts.
    max_pair_tasks
        Most tasks for which the network cost goes by pairs where it can.
    """
    counts = make_counts(model, problem)
    overload = add_rules(model, problem, counts)
    break_symmetry(model, problem, counts)
    if counts_pairs(problem, max_pair_tasks):
        cost = partial(pair_network, model, problem, counts)
    else:
        cost = partial(network, model, problem, counts, product)
    highest = partial(bottleneck, model, problem, counts, product)
    return Formulation(counts, add_terms(model, problem, counts, overload, cost, highest))


def add_terms(
    model: ModelBuilder[E],
    problem: Problem,
    counts: Counts[E],
    overload: E,
    cost: Callable[[], E],
    highest: Callable[[], E],
) -> tuple[E, ...]:
    """Return each term of the objective, in its integer steps; state the limits of parts.

    `cost` states the network cost, `highest` the highest utilisation.
    """
    used = problem.instance.objective.parts
    parts = {"overload": overload}
    if "network" in used:
        parts["network"] = cost()
    if "nodes" in used:
        parts["nodes"] = _nodes(model, problem, counts)
    if "linear" in used:
        parts["linear"] = _linear(model, problem, counts)
    if problem.counts_moves:
        parts["moved"] = _moved(model, problem, counts)
        if problem.move_limit != NO_LIMIT:
            model.at_most("move_limit", parts["moved"], problem.move_limit)
    if "bottleneck" in used:
        parts["bottleneck"] = highest()
    if "workers" in used:
        parts["workers"] = model.total(worker.opened for worker in counts.all_workers())
    parts["rejected"] = model.total(
        problem.rules[t].reject_weight * left_out for t, left_out in counts.rejected.items()
    )
    return tuple(
        model.total(multiplier * parts[part] for part, multiplier in term.parts)
        for term in problem.terms
    )


def _nodes(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> E:
    """Nodes in use: each open worker has its node used."""
    used = [model.boolean(f"node_{node_name(problem, n)}") for n in range(problem.node_count)]
    for worker in counts.all_workers():
        model.implies(f"uses_node_{worker.name}", worker.opened, used[worker.node])
    return model.total(used)


def _linear(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> E:
    """Cost of each task on its node."""
    if problem.linear is None:
        return model.total(())
    return model.total(
        int(problem.linear[counts.groups[g].cls, worker.node]) * count
        for worker in counts.all_workers()
        for g, count in worker.counts.items()
    )


def _moved(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> E:
    """Tasks with a home, less those that are there."""
    homed = sum(one.size for one in problem.classes if one.home is not None)
    stay = model.total(
        count
        for worker in counts.all_workers()
        for g, count in worker.counts.items()
        if problem.classes[counts.groups[g].cls].home == (worker.node, worker.label)
    )
    return model.total((homed, -1 * stay))


# Network cost by pairs of tasks: a boolean for each pair that says whether both share a node.
#
# For few tasks that all differ, on nodes that are all equally far apart (graphs to partition):
#
#     |x[u, n] - x[v, n]| <= 1 - y[u, v]   where u and v exchange tuples: y = 1 only on one node
#     y[u, v] + y[u, w] - y[v, w] <= 1                                    (sharing is transitive)
#     w(v) + sum over u of w(u) y[u, v] <= sum over n of C(n) x[v, n]     (what v's node holds)
#
# Every placement satisfies these rows with its own y, and no y that saves anything can be too
# large. The last two do not depend on how nodes are numbered: relaxations of products of counts
# put a part of every task on every node and cut nothing. They are the triangle
# inequalities of clique partitioning (Groetschel and Wakabayashi, 1990) and the knapsack rows of
# Johnson, Mehrotra and Nemhauser (Min-cut clustering, 1993).

LEAST_NODES = 3
"""Fewest nodes: on two, products of counts prove as much with fewer rows; measured on the family
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
    together: dict[tuple[int, int], E] = {}
    for u, v in combinations(tasks, 2):
        name = f"{names[u]}_{names[v]}"
        y = together[u, v] = together[v, u] = model.boolean(f"both_{name}")
        for n, (on_first, on_second) in enumerate(zip(on[u], on[v], strict=True)):
            if (u, v) in flow:
                model.at_most(
                    f"if{n}_{name}", model.total((y, on_first)), model.total((1, on_second))
                )
                model.at_most(
                    f"then{n}_{name}", model.total((y, on_second)), model.total((1, on_first))
                )
    for u, v, w in combinations(tasks, 3):
        for a, b, c in ((u, v, w), (v, u, w), (w, u, v)):
            name = f"chain_{names[b]}_{names[a]}_{names[c]}"
            model.at_most(
                name,
                model.total((together[a, b], together[a, c])),
                model.total((1, together[b, c])),
            )
    _fill(model, problem, counts, on, together)
    far, near = int(problem.distance[RACK]), int(problem.distance[NODE])
    cost: list[E | int] = [far * sum(flow.values())]
    cost += [-(far - near) * weight * together[pair] for pair, weight in flow.items()]
    return model.total(cost)


def _fill(
    model: ModelBuilder[E],
    problem: Problem,
    counts: Counts[E],
    on: list[list[E]],
    together: dict[tuple[int, int], E],
) -> None:
    """State for each task what its node can hold beside it, in each hard dimension."""
    demand = [problem.demand[group.cls].tolist() for group in counts.groups]
    for d, is_hard in enumerate(problem.hard.tolist()):
        capacity = problem.capacity[:, d].tolist()
        if not is_hard or max(capacity) >= NO_LIMIT:
            continue
        for v, own in enumerate(on):
            beside = [
                demand[u][d] * together[u, v] for u in range(len(on)) if u != v and demand[u][d]
            ]
            room = model.total(c * x for c, x in zip(capacity, own, strict=True))
            model.at_most(f"fill{d}_{v}", model.total((demand[v][d], *beside)), room)


# Symmetry of the compact model: equal places are ordered by what they hold.
#
# Sound together: the order of workers concerns the inside of a node, that of nodes the inside of
# a rack, that of racks whole racks; each is reached by exchanging equal places of its own level,
# which leaves the sums that the other orders compare as they are or moves them along whole.


def break_symmetry(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> None:
    """Order interchangeable workers, nodes, racks and (by matrix) tasks."""
    order_workers(model, counts)
    if problem.matrix is not None:
        _order_tasks(model, problem, counts)
        return
    keys = [_key(model, problem, counts, n) for n in range(problem.node_count)]
    for nodes in equal_nodes(problem):
        _descending(model, "order_nodes", [keys[n] for n in nodes])
    for racks in equal_racks(problem):
        sums = [model.total(keys[n] for n in nodes) for nodes in racks]
        _descending(model, "order_racks", sums)


def _descending(model: ModelBuilder[E], name: str, keys: Sequence[E]) -> None:
    for more, less in pairwise(keys):
        model.at_least(name, more, less)


def _key(model: ModelBuilder[E], problem: Problem, counts: Counts[E], node: int) -> E:
    """Return a weighted sum of all counts, which distinguishes nodes as far as one sum can."""
    return model.total(
        (g + 1) * count
        for t in range(len(problem.rules))
        for worker in counts.workers[t, node]
        for g, count in worker.counts.items()
    )


def order_workers(model: ModelBuilder[E], counts: Counts[E]) -> None:
    """Order fresh workers of one topology on one node by their number of tasks."""
    for workers in counts.workers.values():
        fresh = [model.total(w.counts.values()) for w in workers if w.label is None]
        _descending(model, "order_workers", fresh)


def _order_tasks(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> None:
    """Order the single tasks of a class by the index of their node; all or none are placed.

    Only where a node has one worker of the topology, so that the node determines the place.
    """
    nodes = range(problem.node_count)
    for c, task_class in enumerate(problem.classes):
        if any(len(counts.workers[task_class.topology, n]) > 1 for n in nodes):
            continue
        keys = [
            model.total(n * counts.on_node(model, task_class.topology, g, n) for n in nodes)
            for g in counts.groups_of((c,))
        ]
        _descending(model, "order_tasks", keys)
