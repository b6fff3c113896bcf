"""The topologies of a problem as separate problems, and which of them are equal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import IntArray, Problem, Rules
from slotwise.models.values import NO_LIMIT, as_decimal
from slotwise.solver.presolve.flow_components import SubProblem, on_classes
from slotwise.solver.structure.separability import only_network_counts


@dataclass(frozen=True, slots=True, eq=False)
class TopologyPart:
    """One topology, to be placed whole.

    Parameters
    ----------
    topology
        Its index in the whole problem.
    part
        Its tasks on all nodes, in the units of the whole problem, by the terms that are not
        ``rejected``: used to judge its placements.
    alone
        The same compiled from an instance of its own: used by engines.
    weight
        Cost of leaving it out in the term ``rejected``; ``None`` = it may not be left out.
    like
        Position of the first part that is equal to this one (its own, if none is earlier): a
        placement of either is one of the other, at the same cost.
    """

    topology: int
    part: SubProblem
    alone: Problem
    weight: int | None
    like: int

    @property
    def problem(self) -> Problem:
        """The topology's problem, in the units of the whole."""
        return self.part.problem

    @property
    def id(self) -> str:
        """The topology's id."""
        return self.problem.rules[self.topology].id


def topology_parts(problem: Problem) -> tuple[TopologyPart, ...]:
    """Return a part for each topology with tasks, in their order.

    Empty where their costs do not add up, or where there are fewer than two of them. They
    add up where all capacities are hard, distances come by level, no move is counted, and every
    term is made of network and overload, save that the first may be ``rejected`` alone.
    """
    used = [t for t, rules in enumerate(problem.rules) if rules.classes]
    whole = without_rejected(problem)
    if (
        len(used) < 2
        or whole is None
        or problem.instance.cluster.matrix is not None
        or problem.move_limit != NO_LIMIT
        or not problem.hard.all()
        or not only_network_counts(whole)
    ):
        return ()
    parts: list[TopologyPart] = []
    first: dict[object, int] = {}
    for t in used:
        part = on_classes(whole, problem.rules[t].classes)
        alone = compile_problem(left_instance(part.problem, t, all_nodes(problem)))
        like = first.setdefault(_signature(alone), len(parts))
        weight = problem.rules[t].reject_weight if problem.may_reject else None
        parts.append(TopologyPart(t, part, alone, weight, like))
    return tuple(parts)


def _signature(problem: Problem) -> object:
    """Return all that characterises a problem of one topology, except names and nodes."""
    components = sorted({one.component for one in problem.classes})
    number = {component: i for i, component in enumerate(components)}
    return (
        tuple(replace(one, component=number[one.component]) for one in problem.classes),
        problem.dims,
        problem.units,
        problem.demand.tobytes(),
        problem.heap.tobytes(),
        problem.flows,
        problem.flow_unit,
        _without_names(problem.rules[0], number),
        tuple(replace(region, id="") for region in problem.regions),
    )


def _without_names(rules: Rules, number: dict[int, int]) -> Rules:
    """Return the rules of components with tasks, renumbered; fields added later count, too."""
    pairs = {
        (min(number[a], number[b]), max(number[a], number[b]))
        for a, b in rules.incompatible
        if a in number and b in number
    }
    most = sorted((number[c], most) for c, most in rules.max_per_node if c in number)
    return replace(
        rules,
        id="",
        reject_weight=0,
        incompatible=tuple(sorted(pairs)),
        max_per_node=tuple(most),
    )


def shares_of(problem: Problem, parts: Sequence[TopologyPart]) -> tuple[float, ...]:
    """Return the largest share of the cluster that each topology needs of any resource."""
    bounded = (problem.capacity != NO_LIMIT).all(axis=0)
    total = np.maximum(problem.capacity[:, bounded].sum(axis=0), 1)
    demands = [np.array(p.problem.sizes, dtype=np.int64) @ p.problem.demand for p in parts]
    return tuple(float((demand[bounded] / total).max(initial=0.0)) for demand in demands)


def flow_per_share(parts: Sequence[TopologyPart], shares: Sequence[float]) -> tuple[float, ...]:
    """Return the flow of each topology per share of the cluster that it needs."""
    flows = [part.problem.total_flow() for part in parts]
    return tuple(flow / max(share, LEAST_SHARE) for flow, share in zip(flows, shares, strict=True))


LEAST_SHARE = 1e-9
"""Stands for the share of a topology that needs nothing."""

REJECTED = "rejected"


def without_rejected(problem: Problem) -> Problem | None:
    """Return the problem by its terms after ``rejected``, no topology left out.

    The problem itself where none may be left out; ``None`` where ``rejected`` is not the first
    term, not alone in it, or the only term.
    """
    if not problem.may_reject:
        return problem
    first, *others = problem.terms
    if [part for part, _ in first.parts] != [REJECTED] or not others:
        return None
    if any(part == REJECTED for term in others for part, _ in term.parts):
        return None
    instance = problem.instance
    objective = replace(instance.objective, terms=tuple(term.name for term in others))
    return replace(problem, terms=tuple(others), instance=replace(instance, objective=objective))


# One topology on the capacity left by the others, as an instance of its own.

ALL_NODES = 0.3
"""Probability that no node is withheld."""

FEW_NODES = 0.3
"""Parameter of the geometric distribution of the number withheld; its mean is 1 / FEW_NODES."""


@dataclass(frozen=True, slots=True, eq=False)
class NodesLeft:
    """Nodes with the capacity [N, D] and slots [N] that may be used, as in `Problem`."""

    nodes: IntArray
    capacity: IntArray
    slots: IntArray

    def restored(self, placement: Placement) -> Placement:
        """Return a placement on these nodes as one on all of them."""
        return Placement(tuple(int(self.nodes[n]) for n in placement.nodes), placement.workers)

    def projected(self, placement: Placement | None) -> Placement | None:
        """Return a placement on all nodes as one on these; ``None`` if it uses others."""
        index = {n: i for i, n in enumerate(self.nodes.tolist())}
        if placement is None or any(n not in index for n in placement.nodes):
            return None
        return Placement(tuple(index[n] for n in placement.nodes), placement.workers)


def all_nodes(problem: Problem) -> NodesLeft:
    """Return every node, empty."""
    return NodesLeft(np.arange(problem.node_count), problem.capacity, problem.slots)


def left_instance(problem: Problem, topology: int, left: NodesLeft) -> Instance:
    """Return the instance of one topology on the capacity left.

    By the terms of `problem`'s instance, which count no topologies left out.
    """
    instance = problem.instance
    nodes = tuple(
        _node(problem, instance.cluster.nodes[n], capacity, slots)
        for n, capacity, slots in zip(
            left.nodes.tolist(), left.capacity.tolist(), left.slots.tolist(), strict=True
        )
    )
    return replace(
        instance,
        name=instance.topologies[topology].id,
        cluster=Cluster(nodes, instance.cluster.distance),
        topologies=(instance.topologies[topology],),
        scheduler=replace(instance.scheduler, pools={}),
        running=None,
        linear=(),
        objective=replace(instance.objective, soft={}, limits={}),
    )


def _node(problem: Problem, node: Node, capacity: list[int], slots: int) -> Node:
    left = {
        name: None if amount == NO_LIMIT else as_decimal(amount * unit)
        for name, unit, amount in zip(problem.dims, problem.units, capacity, strict=True)
    }
    return replace(node, resources=left, slots=None if slots == NO_LIMIT else slots)


def nodes_left(
    problem: Problem, capacity: IntArray, slots: IntArray, kinds: int, token: CancellationToken
) -> NodesLeft | None:
    """Return the nodes that can hold a task of `problem`, as at most `kinds` kinds of nodes.

    The capacity left of a node is rounded down to that of others until at most `kinds` remain,
    because equal nodes make a problem easy. ``None`` where no node can hold a task.

    Parameters
    ----------
    problem
        Of the topology.
    capacity, slots
        [N, D], [N]: what is left.

    Raises
    ------
    CancelledError
        When `token` is cancelled before enough nodes are alike.
    """
    least = problem.demand.min(axis=0)
    nodes = np.flatnonzero((capacity >= least).all(axis=1) & (slots > 0))
    if not len(nodes):
        return None
    amounts = np.column_stack([capacity[nodes], slots[nodes]])
    amounts = np.minimum(amounts, _most_used(problem))
    unique, inverse, counts = np.unique(amounts, axis=0, return_inverse=True, return_counts=True)
    groups = _merged(unique.astype(np.float64), counts, kinds, token)
    rounded = np.empty_like(unique)
    for group in groups:
        rounded[group] = unique[group].min(axis=0)
    reduced = rounded[inverse.reshape(-1)]
    mask = (reduced[:, :-1] >= least).all(axis=1) & (reduced[:, -1] > 0)
    nodes, reduced = nodes[mask], reduced[mask]
    if not len(nodes):
        return None
    return NodesLeft(nodes, reduced[:, :-1].copy(), reduced[:, -1].copy())


def may_fit(part: TopologyPart, capacity: IntArray, slots: IntArray, spare: float = 0.0) -> bool:
    """Return whether capacity [N, D] and slots [N] have places for tasks of each demand or more.

    And enough for all in sum: both are necessary, not sufficient. With `spare` there must be this
    part more of both than is needed.
    """
    problem, used = part.problem, slots > 0
    sizes, room = np.array(problem.sizes, dtype=np.int64), capacity[used]
    limited = (room < NO_LIMIT).all(axis=0)
    needed = (1 + spare) * (sizes @ problem.demand)
    if (needed > room.sum(axis=0, where=limited))[limited].any():
        return False
    for demand in np.unique(problem.demand, axis=0):
        needs, at_least = demand > 0, (problem.demand >= demand).all(axis=1)
        enough = int((1 + spare) * int(sizes[at_least].sum()))
        places = (room[:, needs] // demand[needs]).min(axis=1, initial=enough)
        if int(places.sum()) < enough:
            return False
    return True


def some_nodes(problem: Problem, left: NodesLeft, rng: Generator) -> NodesLeft:
    """Return the nodes without a few, which other topologies may need.

    Enough stay to have 5 % more than `problem` demands, on average.
    """
    demand = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    bounded = (left.capacity != NO_LIMIT).all(axis=0)
    mean = np.maximum(left.capacity.mean(axis=0)[bounded], 1e-9)
    needed = 1 + math.ceil(1.05 * float((demand[bounded] / mean).max(initial=0.0)))
    spare = len(left.nodes) - needed
    if spare < 1 or rng.random() < ALL_NODES:
        return left
    count = min(int(rng.geometric(FEW_NODES)), spare)
    keep = np.ones(len(left.nodes), dtype=np.bool_)
    keep[rng.choice(len(keep), size=count, replace=False)] = False
    return NodesLeft(left.nodes[keep], left.capacity[keep], left.slots[keep])


def _most_used(problem: Problem) -> IntArray:
    """Return an upper bound of the use of each resource, and of slots, on one node.

    Shared regions and the least cpu of workers are counted as if every task had its own.
    """
    tasks = problem.task_count
    total = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    if problem.memory is not None:
        total[problem.memory] += tasks * sum(region.size for region in problem.regions)
    if problem.cpu is not None:
        total[problem.cpu] += tasks * problem.min_worker_cpu
    return np.append(total, tasks)


def _merged(
    kinds: np.ndarray, counts: IntArray, most: int, token: CancellationToken
) -> list[list[int]]:
    """Return at most `most` groups of kinds; the two that lose least are merged first."""
    if len(kinds) <= most:
        return [[i] for i in range(len(kinds))]
    scale = np.maximum(kinds.max(axis=0), 1)
    low = kinds / scale
    weight = counts.astype(np.float64)
    groups = {i: [i] for i in range(len(kinds))}
    losses = np.full((len(kinds), len(kinds)), np.inf)

    def compare(a: int) -> None:
        """Set what merging group `a` with each other one loses."""
        token.check()
        others = [i for i in groups if i != a]
        floor = np.minimum(low[a], low[others])
        loss = (low[a] - floor).sum(axis=1) * weight[a]
        loss += (low[others] - floor).sum(axis=1) * weight[others]
        losses[a, others] = losses[others, a] = loss

    for i in range(len(kinds)):
        compare(i)
    while len(groups) > most:
        a, b = sorted(divmod(int(np.argmin(losses)), len(kinds)))
        low[a] = np.minimum(low[a], low[b])
        weight[a] += weight[b]
        groups[a] += groups.pop(b)
        losses[b] = losses[:, b] = np.inf
        compare(a)
    return list(groups.values())
