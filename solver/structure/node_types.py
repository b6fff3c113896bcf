"""Node types: groups of nodes that differ only in their rack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.models.values import NO_LIMIT


@dataclass(frozen=True, slots=True)
class NodeType:
    """Equal nodes (`nodes`, indices): same capacities, slots, linear costs; nothing runs there."""

    nodes: tuple[int, ...]

    @property
    def sample(self) -> int:
        """Index of one of them."""
        return self.nodes[0]


@dataclass(frozen=True, slots=True)
class Site:
    """Nodes between which all distances are equal: a rack, or the whole cluster.

    `types` are indices of node types, `nodes` the nodes of each of them in this site.
    """

    types: tuple[int, ...]
    nodes: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of nodes of each of its types."""
        return tuple(len(nodes) for nodes in self.nodes)


def node_types(problem: Problem) -> tuple[NodeType, ...]:
    """Group the nodes of the cluster, whatever their rack; a node with running tasks is alone."""
    groups: dict[object, list[int]] = {}
    homes = {n for t in range(len(problem.rules)) for n in home_labels(problem, t)}
    for n in range(problem.node_count):
        home = n if n in homes else None  # no node is like one where tasks run
        groups.setdefault((signature(problem, n), home), []).append(n)
    return tuple(NodeType(tuple(nodes)) for nodes in groups.values())


def sites(problem: Problem, types: tuple[NodeType, ...], *, by_rack: bool) -> tuple[Site, ...]:
    """Return one site per rack, or one for the whole cluster."""
    racks = range(len(problem.racks)) if by_rack else (None,)
    grouped = []
    for rack in racks:
        nodes = {
            t: tuple(n for n in kind.nodes if rack is None or problem.node_rack[n] == rack)
            for t, kind in enumerate(types)
        }
        used = {t: members for t, members in nodes.items() if members}
        grouped.append(Site(tuple(used), tuple(used.values())))
    return tuple(grouped)


def equal_nodes(problem: Problem) -> list[list[int]]:
    """Return groups of equal nodes of one rack; no task runs on them now."""
    homes = _homes(problem)
    groups: dict[object, list[int]] = {}
    for n in range(problem.node_count):
        if n not in homes:
            groups.setdefault((int(problem.node_rack[n]), signature(problem, n)), []).append(n)
    return list(groups.values())


def equal_racks(problem: Problem) -> list[list[list[int]]]:
    """Return groups of racks (as lists of nodes) that hold the same kinds of nodes."""
    homes = _homes(problem)
    racks: list[list[int]] = [[] for _ in problem.racks]
    for n, rack in enumerate(problem.node_rack.tolist()):
        racks[rack].append(n)
    groups: dict[object, list[list[int]]] = {}
    for nodes in racks:
        if homes.isdisjoint(nodes):
            uplinks = () if problem.workload is None else problem.workload.pairs.uplink
            uplink = uplinks[int(problem.node_rack[nodes[0]])] if uplinks else None
            key = (uplink, *sorted(repr(signature(problem, n)) for n in nodes))
            groups.setdefault(key, []).append(nodes)
    return list(groups.values())


def signature(problem: Problem, node: int) -> tuple[object, ...]:
    """Return all that characterises a node, except its rack and the tasks that run there.

    Two nodes of one rack with the same signature where no task runs are equal: exchanging them
    changes neither a rule nor a cost (unless there is a matrix of distances).
    """
    linear = () if problem.linear is None else tuple(problem.linear[:, node].tolist())
    offered = (tuple(problem.capacity[node].tolist()), int(problem.slots[node]), linear)
    if problem.workload is None:
        return offered
    pairs = problem.workload.pairs
    network = (pairs.nic_out[node : node + 1], pairs.nic_in[node : node + 1])
    return (*offered, pairs.cpu[node], *network)


def _homes(problem: Problem) -> set[int]:
    """Return the nodes where some task runs now."""
    return {one.home[0] for one in problem.classes if one.home is not None}


# Which topologies need their workers modelled one by one, and how many a node can have.
#
# Merging all workers of a topology on a node into one never breaks a rule and never costs more,
# unless something keeps its tasks apart: a heap limit that can bind, worker isolation,
# incompatible components, workers in which tasks run now, or the cost of sending inside a worker.
# (Merging lowers the least cpu, counts shared memory once, frees slots, and the distance within a
# worker is at most that within a node.) So all other topologies have one worker on each node used.


def has_single_workers(problem: Problem, topology: int) -> bool:
    """Return whether one worker per node and topology is enough for an optimal placement."""
    apart = keeps_apart(problem, topology) or bool(home_labels(problem, topology))
    return not problem.rules[topology].classes or not apart


def keeps_apart(problem: Problem, topology: int) -> bool:
    """Return whether a rule or a cost can forbid merging two workers of a topology."""
    rules = problem.rules[topology]
    return rules.isolates or _heap_can_bind(problem, topology) or _merging_costs(problem)


def _merging_costs(problem: Problem) -> bool:
    """Return whether merging two workers may add work to a cpu.

    It may where sending costs more within a worker than between workers, and where it redirects
    streams by ``local_or_shuffle``.
    """
    if problem.workload is None:
        return False
    worker, node, _, _ = problem.workload.serialise
    return worker > node or not problem.workload.is_linear


def _heap_can_bind(problem: Problem, topology: int) -> bool:
    rules = problem.rules[topology]
    if rules.heap_limit == NO_LIMIT:
        return False
    tasks = sum(int(problem.heap[c]) * problem.classes[c].size for c in rules.classes)
    shared = sum(
        region.size
        for region in problem.regions
        if region.topology == topology and region.kind == "onheap"
    )
    return tasks + shared > rules.heap_limit


def home_labels(problem: Problem, topology: int) -> dict[int, tuple[int, ...]]:
    """Return, per node, the labels of the workers in which tasks of the topology run now.

    Empty where moves are neither counted nor limited.
    """
    labels: dict[int, set[int]] = {}
    if problem.counts_moves:
        for c in problem.rules[topology].classes:
            home = problem.classes[c].home
            if home is not None:
                labels.setdefault(home[0], set()).add(home[1])
    return {node: tuple(sorted(found)) for node, found in labels.items()}


def most_tasks(problem: Problem) -> IntArray:
    """Return [C, N]: most tasks of a class on an otherwise empty node, by size and hard capacity.

    A cap per component on a node (``max_per_node``) counts too.
    """
    most = np.repeat(np.array(problem.sizes, dtype=np.int64)[:, None], problem.node_count, axis=1)
    for d in np.flatnonzero(problem.hard).tolist():
        need = problem.demand[:, d]
        for c in np.flatnonzero(need).tolist():
            most[c] = np.minimum(most[c], problem.capacity[:, d] // need[c])
    for rules in problem.rules:
        for component, cap in rules.max_per_node:
            for c in rules.classes:
                if problem.classes[c].component == component:
                    most[c] = np.minimum(most[c], cap)
    return most


def worker_count(
    problem: Problem, topology: int, node: int, most: IntArray, token: CancellationToken
) -> int:
    """Return the number of workers of the topology to model on the node, labelled ones included.

    Where nothing but the heap limit keeps tasks apart (in one component, if workers are isolated
    by component), two workers whose heaps fit together are merged without loss: w of them hold
    more than w/2 heaps.
    """
    token.check()
    if has_single_workers(problem, topology):
        return 1
    rules = problem.rules[topology]
    tasks = sum(int(most[c, node]) for c in rules.classes)
    fresh = min(tasks, int(problem.slots[node]))
    mergeable = not (
        _merging_costs(problem)
        or rules.one_task_per_worker
        or rules.incompatible
        or rules.heap_limit in (0, NO_LIMIT)
        or any(r.topology == topology and r.kind == "onheap" for r in problem.regions)
    )
    if mergeable:
        heaps: dict[int, int] = {}
        for c in rules.classes:
            key = problem.classes[c].component if rules.one_component_per_worker else -1
            heaps[key] = heaps.get(key, 0) + int(problem.heap[c] * most[c, node])
        enough = sum(max(1, -(-2 * heap // rules.heap_limit) - 1) for heap in heaps.values())
        fresh = min(fresh, enough)
    return fresh + len(home_labels(problem, topology).get(node, ()))
