"""What the engine ``connected`` takes: topologies whose cost comes from nodes and workers alone.

No flow connects two topologies, so a connected configuration is of one. They share the room of
nodes, never a worker.

Rules on workers are those of `node_rules`. Soft capacities bind where overload comes first: all
bounds after it hold for placements without overload. Where network comes first they do not bind.

Places are taken to be as large as the largest, and all in one rack: a relaxation, so bounds hold;
where the configurations fit into one real rack, values do too. The cost is ``far * pairs - a * N -
b * W`` with N the flow inside nodes and W that inside workers, and each of them is bounded at duals
of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import NODE, RACK, WORKER, BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.configurations.enumeration import (
    within_node_caps,
)
from slotwise.solver.column_generation.connected.graph import (
    Admits,
    FlowGraph,
    make_flow_graph,
)
from slotwise.solver.column_generation.connected.node_rules import (
    NodeRules,
    TopologyKinds,
    has_own_workers,
    heap_of,
    kinds_by_topology,
    within_worker,
)
from slotwise.solver.column_generation.connected.worker_rules import (
    WorkerRule,
    coarse,
    in_common_units,
)
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.structure.node_types import has_single_workers
from slotwise.solver.structure.separability import only_network_counts
from slotwise.solver.structure.task_types import TaskTypes, merge_twins

FINEST_BITS, MAX_BITS = 20, 59
"""Bits of the finest grid of duals, and of the largest sum: far below `NEG_INF`."""


@dataclass(frozen=True, slots=True, eq=False)
class PlaceModel:
    """A problem as kinds on nodes and, where that matters, in workers.

    Parameters
    ----------
    problem, kinds
        The problem, with the capacities that bind (`binding`), and its kinds.
    topologies
        The kinds and the rules of each topology.
    rules
        What a node counts.
    nodes
        The kinds on a node as large as the largest, by each rule that fills many nodes: every one
        of these graphs bounds what nodes hold.
    node_saving
        What a unit of flow inside a node saves against one between nodes of a rack; inside its
        single worker where that is all there is.
    workers, worker_saving
        The kinds in a worker, and what a unit of flow inside it saves against one in its node;
        ``None`` and 0 where workers make no difference.
    per_worker
        [K] most tasks of a kind in a worker where each kind has workers of its own; ``None``
        elsewhere.
    most_workers
        Of a node, by its slots and what each worker counts at least.
    """

    problem: Problem
    kinds: TaskTypes
    topologies: tuple[TopologyKinds, ...]
    rules: NodeRules
    nodes: tuple[FlowGraph, ...]
    node_saving: int
    workers: FlowGraph | None
    worker_saving: int
    per_worker: IntArray | None
    most_workers: int

    @property
    def farthest(self) -> int:
        """Cost of the flow of all pairs at the distance of two nodes of a rack."""
        return int(self.problem.distance[RACK]) * int(self.kinds.pairs(self.kinds.sizes))

    def by_topology(self, configuration: IntArray) -> list[IntArray]:
        """Return the configurations [K] of the topologies of which there is a task."""
        parts = []
        for one in self.topologies:
            if configuration[one.at].any():
                parts.append(np.zeros_like(configuration))
                parts[-1][one.at] = configuration[one.at]
        return parts


def dual_scale(problem: Problem) -> int:
    """Return the finest grid of duals on which no sum leaves `MAX_BITS`; 0 where there is none.

    No configuration and no solution has more flow inside than that of all pairs. A proven dual is
    at most twice that, and all tasks that many times as much; levels weigh it with their savings.
    """
    saving = max(1, int(problem.distance[RACK] - problem.distance[WORKER]))
    largest = 2 * (problem.task_count + 2) * saving * max(1, problem.total_flow())
    bits = MAX_BITS - largest.bit_length()
    return 1 << min(FINEST_BITS, bits) if bits >= 0 else 0


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
        "shared_memory",
        "worker_min_cpu",
        "soft",
    }
)
"""Rules that keep a part of a configuration valid where the whole is."""


@declares(RULES, ("network", "overload", "linear"))
def why_not_connected(problem: Problem) -> str | None:
    """Return ``None``, or what keeps the problem from being one of connected configurations."""
    if problem.matrix is not None:
        return "distances come as a matrix"
    if not only_network_counts(problem):
        return "the objective counts more than network and overload"
    if problem.linear is not None:
        return "linear costs depend on the node"
    if problem.move_limit != NO_LIMIT:
        return "the moves of running tasks are limited"
    if not dual_scale(problem):
        return "the flows are too large for duals of 64 bits"
    if overload_leads(problem) and (_needed(problem) > offered(problem.capacity)).any():
        return "tasks need more of a resource than all nodes offer: overload comes first, never 0"
    return None


def overload_leads(problem: Problem) -> bool:
    """Return whether the first term is overload alone."""
    return all(part == "overload" for part, _ in problem.terms[0].parts)


def _needed(problem: Problem) -> IntArray:
    """Return [D] what all tasks take of soft resources; 0 of others."""
    needed = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    return np.asarray(np.where(problem.hard, 0, needed))


def offered(capacity: IntArray) -> IntArray:
    """Return [D] what nodes of capacity [N, D] offer; `NO_LIMIT` where one offers without limit."""
    unlimited = (capacity >= NO_LIMIT).any(axis=0)
    return np.asarray(np.where(unlimited, NO_LIMIT, np.where(unlimited, 0, capacity).sum(axis=0)))


def binding(problem: Problem) -> Problem:
    """Return the problem with the capacities that no placement of interest exceeds.

    Soft ones are among them where overload is the first term, and it alone: what is proven of the
    terms after it holds for placements whose overload equals its bound, 0.
    """
    binds = problem.hard | overload_leads(problem)
    return replace(problem, capacity=np.where(binds, problem.capacity, NO_LIMIT))


def make_place_model(
    problem: Problem, token: CancellationToken, params: ConnectedParams = CONNECTED_DEFAULTS
) -> PlaceModel:
    """Return the problem as kinds on places; `why_not_connected` must have returned ``None``."""
    problem = binding(problem)
    kinds = merge_twins(problem, token)
    topologies = kinds_by_topology(problem, kinds)
    single = all(has_single_workers(problem, one.topology) for one in topologies)
    isolated = not single and all(has_own_workers(problem, one) for one in topologies)
    alone = np.concatenate([one.alone for one in topologies])
    rules = NodeRules(problem, topologies, isolated=isolated)
    most_workers = _most_workers(problem)
    split = not single and not isolated
    distance = problem.distance
    return PlaceModel(
        problem=problem,
        kinds=kinds,
        topologies=topologies,
        rules=rules,
        nodes=_nodes(problem, kinds, rules, alone, most_workers, params, token),
        node_saving=int(distance[RACK] - distance[WORKER if single else NODE]),
        workers=_workers(problem, kinds, topologies, params, token) if split else None,
        worker_saving=int(distance[NODE] - distance[WORKER]) if split else 0,
        per_worker=alone if isolated else None,
        most_workers=most_workers,
    )


def _most_workers(problem: Problem) -> int:
    """Return the most workers that a node has slots, cpu and tasks for."""
    most = problem.slots
    if problem.cpu is not None and problem.min_worker_cpu:
        most = np.minimum(most, problem.capacity[:, problem.cpu] // problem.min_worker_cpu)
    return min(int(most.max()), problem.task_count)


def _nodes(
    problem: Problem,
    kinds: TaskTypes,
    rules: NodeRules,
    alone: IntArray,
    most_workers: int,
    params: ConnectedParams,
    token: CancellationToken,
) -> tuple[FlowGraph, ...]:
    capacity = problem.capacity.max(axis=0)
    most = most_on_nodes(problem, kinds).max(axis=1)
    most = np.minimum(most, alone * most_workers)

    def admits(counts: IntArray) -> BoolArray:
        load, workers = rules.load(counts)
        mask = (
            (load <= capacity).all(axis=1)
            & (counts <= most).all(axis=1)
            & (workers <= most_workers)
        )
        return np.asarray(mask & within_node_caps(problem, kinds, counts))

    most = np.where(admits(np.eye(kinds.count, dtype=np.int64)), most, 0)
    additive = [
        (kinds.demand[:, d], int(capacity[d]))
        for d in range(len(problem.dims))
        if capacity[d] < NO_LIMIT and kinds.demand[:, d].any()
    ]
    additive += rules.slot_rules(most_workers)
    tasks = int(kinds.sizes.sum())
    additive.append((np.ones(kinds.count, dtype=np.int64), tasks))
    filled = [int(kinds.sizes @ weights) / max(units, 1) for weights, units in additive]
    tight = [
        coarse(*rule, params.max_units)
        for rule, share in zip(additive, filled, strict=True)
        if share >= params.tightest_fraction * max(filled)
    ]
    return tuple(_graph(kinds, rule, most, admits, params, token) for rule in tight)


def _graph(
    kinds: TaskTypes,
    rule: tuple[IntArray, int],
    most: IntArray,
    admits: Admits,
    params: ConnectedParams,
    token: CancellationToken,
) -> FlowGraph:
    """Return the graph of a rule; cycles are relaxed where a round of pricing would take long."""
    steps = rule[1] ** 2 // 2 * int((most + 1).sum())  # of the tables of one choice of counts
    few = min(params.max_assignments, params.max_round_steps // max(steps, 1))
    return make_flow_graph(kinds.sizes, kinds.flow, *rule, most, admits, token, few)


def most_on_nodes(problem: Problem, kinds: TaskTypes) -> IntArray:
    """Return [K, N] the most tasks of each kind that each node holds, if alone there."""
    most = np.empty((kinds.count, problem.node_count), dtype=np.int64)
    for k in range(kinds.count):
        needs = kinds.demand[k] > 0
        fits = problem.capacity[:, needs] // kinds.demand[k][needs]
        most[k] = fits.min(axis=1, initial=int(kinds.sizes[k]))
    return np.where(problem.slots > 0, most, 0)


def _workers(
    problem: Problem,
    kinds: TaskTypes,
    topologies: Sequence[TopologyKinds],
    params: ConnectedParams,
    token: CancellationToken,
) -> FlowGraph:
    rules = [within_worker(problem, one) for one in topologies]
    most = np.concatenate([most for most, _ in rules])

    def admits(counts: IntArray) -> BoolArray:
        mask = (counts <= most).all(axis=1)
        present = np.zeros(len(counts), dtype=np.int64)
        for one, (_, keeps) in zip(topologies, rules, strict=True):
            mask &= keeps(counts[:, one.at])
            present += counts[:, one.at].any(axis=1)
        return np.asarray(mask & (present <= 1))

    most = np.where(admits(np.eye(kinds.count, dtype=np.int64)), most, 0)
    heap = [WorkerRule(heap_of(problem, one.kinds), one.rules.heap_limit) for one in topologies]
    rule = coarse(*in_common_units(heap), params.max_units)
    return _graph(kinds, rule, most, admits, params, token)
