"""Cheap reductions: nodes that no optimal placement needs are left out before any engine starts.

Moving all workers of one node onto an equal node of the same rack breaks no rule if the loads
fit together, and costs no more in any term: distances shrink or stay, and a node falls free. So
there is an optimal placement in which no two used nodes of a rack and type could be merged. With
``s_i = sum_d load_i,d / capacity_d`` two such nodes have ``s_i + s_j > 1``, hence u used nodes
have ``sum s_i > u / 2``, and ``u < 2 * sum_d demand_d / capacity_d``: more nodes of a rack and type
are never needed. In the same way a whole rack's workers may move to equal or larger free nodes of
another rack; where that always has room, one rack is enough, and in it the largest type of node
if it offers at least as much of everything as every other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem, TaskClass
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.declared_rules import unknown
from slotwise.solver.presolve.single_node import SingleNode, as_one_node, least_cpu_may_bind
from slotwise.solver.structure.node_types import NodeType, has_single_workers, node_types

RULES = frozenset(
    {
        "placed",
        "capacity",
        "slots",
        "heap",
        "one_topology_per_worker",
        "one_task_per_worker",
        "one_component_per_worker",
        "incompatible",
        "max_per_node",
        "max_moved",
        "worker_min_cpu",
        "soft",
    }
)
"""Rules that hold where the workers of two nodes that have room for both are on one."""
PARTS = frozenset({"overload", "network", "rejected", "nodes", "workers", "moved", "linear"})
"""Parts of the objective that this does not make worse."""


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """A problem on fewer nodes with the same optimum, and the way back.

    Parameters
    ----------
    problem
        The reduced problem.
    nodes
        Original index of each of its nodes.
    """

    problem: Problem
    nodes: tuple[int, ...]

    def restore(self, placement: Placement) -> Placement:
        """Return a placement of the reduced problem as one of the original."""
        nodes = [n if n == UNPLACED else self.nodes[n] for n in placement.nodes]
        return Placement(tuple(nodes), placement.workers)

    def project(self, placement: Placement) -> Placement | None:
        """Return a placement of the original on the reduced nodes; ``None`` if it uses others."""
        index = {n: i for i, n in enumerate(self.nodes)}
        if any(n != UNPLACED and n not in index for n in placement.nodes):
            return None
        nodes = [n if n == UNPLACED else index[n] for n in placement.nodes]
        return Placement(tuple(nodes), placement.workers)


def reductions(problem: Problem, token: CancellationToken) -> tuple[Reduction | SingleNode, ...]:
    """Return the problem on the nodes that it needs and, where that is one, on its workers.

    Each is derived from the one before, and all have the same optimum.
    """
    on_nodes_needed = reduce_nodes(problem)
    on_workers = as_one_node(on_nodes_needed.problem, token)
    return (on_nodes_needed,) if on_workers is None else (on_nodes_needed, on_workers)


def reduce_nodes(problem: Problem) -> Reduction:
    """Return the problem without the nodes that some optimal placement does not use."""
    everything = Reduction(problem, tuple(range(problem.node_count)))
    spread_pays = problem.workload is not None
    if spread_pays or any(c.home for c in problem.classes) or unknown(problem, RULES, PARTS):
        return everything
    types = node_types(problem)
    needed = [_most_used(problem, kind.sample) for kind in types]
    in_rack = [
        [[n for n in kind.nodes if problem.node_rack[n] == r] for kind in types]
        for r in range(len(problem.racks))
    ]
    largest = largest_type(problem, types)
    for members in in_rack:
        large = [] if largest is None else members[largest]
        if largest is not None and large and len(large) >= needed[largest].in_union:
            reduced_nodes = large[: needed[largest].alone]
            return Reduction(on_nodes(problem, reduced_nodes), tuple(reduced_nodes))
        if all(
            len(nodes) >= need.in_union or len(nodes) == len(kind.nodes)
            for nodes, need, kind in zip(members, needed, types, strict=True)
        ):
            in_rack = [members]
            break
    reduced_nodes = sorted(
        n
        for members in in_rack
        for nodes, need in zip(members, needed, strict=True)
        for n in nodes[: need.alone]
    )
    if len(reduced_nodes) == problem.node_count:
        return everything
    return Reduction(on_nodes(problem, reduced_nodes), tuple(reduced_nodes))


def largest_type(problem: Problem, types: tuple[NodeType, ...]) -> int | None:
    """Return the type that offers at least as much of everything as any other, at equal costs."""
    for t, kind in enumerate(types):
        n = kind.sample
        if (
            (problem.capacity[n] >= problem.capacity).all()
            and (problem.slots[n] >= problem.slots).all()
            and (problem.linear is None or (problem.linear == problem.linear[:, [n]]).all())
        ):
            return t
    return None


def on_nodes(problem: Problem, nodes: list[int]) -> Problem:
    """Return the problem on some of its nodes only (at least one), in this order.

    The home of a task on another node is out of reach, and the task nowhere at home: that it moves
    is then neither counted nor limited.
    """
    index = np.array(nodes, dtype=np.int64)
    new_node = {node: i for i, node in enumerate(nodes)}
    racks, rack_of = np.unique(problem.node_rack[index], return_inverse=True)
    return replace(
        problem,
        capacity=problem.capacity[index],
        slots=problem.slots[index],
        node_rack=np.asarray(rack_of, dtype=np.int64).reshape(-1),
        racks=tuple(problem.racks[r] for r in racks.tolist()),
        linear=None if problem.linear is None else problem.linear[:, index],
        classes=tuple(_at_home(one, new_node) for one in problem.classes),
    )


def _at_home(task_class: TaskClass, new_node: Mapping[int, int]) -> TaskClass:
    """Return the class with its home under the node's new number."""
    if task_class.home is None:
        return task_class
    node, label = task_class.home
    return replace(task_class, home=(new_node[node], label) if node in new_node else None)


@dataclass(frozen=True, slots=True)
class _Needed:
    """Most nodes of a type that one rack uses (`alone`), and two racks together (`in_union`)."""

    alone: int
    in_union: int


def _most_used(problem: Problem, node: int) -> _Needed:
    """Bound the used nodes like `node`, by whichever bound on workers serves best."""
    if problem.slots[node] == 0:
        return _Needed(1, 0)
    if _holds_everything(problem, node):
        return _Needed(1, 1)
    shares = _demand_shares(problem, node)
    bounds = [_bound(problem, node, shares, workers) for workers in _workers(problem)]
    return min(bounds, key=lambda needed: needed.alone)


def _bound(problem: Problem, node: int, shares: Fraction, workers: _Workers) -> _Needed:
    """Solve ``u < 2 * (shares + per_node * u)`` for u."""
    per_node = Fraction(0)
    slots = int(problem.slots[node])
    if workers.apart or workers.per_node > slots:
        shares += workers.total / slots
        per_node += Fraction(workers.per_node, slots)
    if problem.cpu is not None and problem.min_worker_cpu:
        cpu = int(problem.capacity[node, problem.cpu])
        if 0 < cpu < NO_LIMIT:
            shares += workers.total * problem.min_worker_cpu / cpu
            per_node += Fraction(workers.per_node * problem.min_worker_cpu, cpu)
    if 2 * per_node >= 1:
        return _Needed(NO_LIMIT, NO_LIMIT)
    bound = 2 * shares / (1 - 2 * per_node)
    return _Needed(max(1, math.ceil(bound) - 1), math.floor(bound) + 2)


def _holds_everything(problem: Problem, node: int) -> bool:
    """Return whether all tasks fit one such node, with as many workers as any placement needs."""
    total = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    if (total > problem.capacity[node]).any():
        return False
    if any(rules.max_per_node for rules in problem.rules):
        return False
    needed = min(workers.per_node + workers.total for workers in _workers(problem))
    return needed <= int(problem.slots[node]) and not least_cpu_may_bind(problem, node, needed)


def _demand_shares(problem: Problem, node: int) -> Fraction:
    """Return the sum over dimensions and caps of all demand over what such a node offers.

    A dimension of which the node offers nothing keeps nobody apart: if hard, nothing that needs
    it is there; if soft, overload adds up.
    """
    shares = Fraction(0)
    total = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    for d in range(len(problem.dims)):
        capacity = int(problem.capacity[node, d])
        if 0 < capacity < NO_LIMIT:
            shares += Fraction(int(total[d]), capacity)
    for rules in problem.rules:
        for component, most in rules.max_per_node:
            tasks = sum(one.size for one in problem.classes if one.component == component)
            shares += Fraction(tasks, most)
    return shares


@dataclass(frozen=True, slots=True)
class _Workers:
    """Workers of u nodes: at most ``per_node * u + total``.

    `apart` says whether workers of one topology may have to stay apart on a node; if not, the
    workers of merged nodes merge too.
    """

    per_node: int
    total: Fraction
    apart: bool


def _workers(problem: Problem) -> tuple[_Workers, _Workers]:
    """Bound the workers needed: by the tasks, and by heaps (two that could share are merged)."""
    apart = [t for t in range(len(problem.rules)) if not has_single_workers(problem, t)]
    single = len(problem.rules) - len(apart)
    by_tasks = _Workers(single, Fraction(0), apart=bool(apart))
    by_heap = by_tasks
    for t in apart:
        rules = problem.rules[t]
        tasks = Fraction(sum(problem.classes[c].size for c in rules.classes))
        by_tasks = replace(by_tasks, total=by_tasks.total + tasks)
        if rules.one_task_per_worker or rules.incompatible or not 0 < rules.heap_limit < NO_LIMIT:
            by_heap = replace(by_heap, total=by_heap.total + tasks)
            continue
        kept_apart = {problem.classes[c].component for c in rules.classes}
        heap = sum(int(problem.heap[c]) * problem.classes[c].size for c in rules.classes)
        by_heap = replace(
            by_heap,
            per_node=by_heap.per_node + (len(kept_apart) if rules.one_component_per_worker else 1),
            total=by_heap.total + 2 * Fraction(heap, rules.heap_limit),
        )
    return by_tasks, by_heap
