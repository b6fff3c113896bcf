"""Node types: nodes that differ in nothing but their rack."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.models.problem.problem import Problem
from slotwise.solver.structure.worker_layout import home_labels


@dataclass(frozen=True, slots=True)
class NodeType:
    """Equal nodes: same capacities, slots, linear costs, and nobody's home. `nodes`: indices."""

    nodes: tuple[int, ...]

    @property
    def sample(self) -> int:
        """Index of one of them."""
        return self.nodes[0]


@dataclass(frozen=True, slots=True)
class Site:
    """Nodes among which no distance matters beyond "same node": a rack, or the whole cluster.

    `types` are indices of node types, `nodes` the nodes of each of them in this site.
    """

    types: tuple[int, ...]
    nodes: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of nodes of each of its types."""
        return tuple(len(nodes) for nodes in self.nodes)


def node_types(problem: Problem) -> tuple[NodeType, ...]:
    """Group the nodes of the cluster, racks aside; a node where tasks run is a type of its own."""
    groups: dict[object, list[int]] = {}
    homes = {n for t in range(len(problem.rules)) for n in home_labels(problem, t)}
    for n in range(problem.node_count):
        home = n if n in homes else None  # no node is like one where tasks run
        groups.setdefault((signature(problem, n), home), []).append(n)
    return tuple(NodeType(tuple(nodes)) for nodes in groups.values())


def sites(problem: Problem, types: tuple[NodeType, ...], *, by_rack: bool) -> tuple[Site, ...]:
    """Return one site per rack, or one for the whole cluster."""
    racks = range(len(problem.racks)) if by_rack else (None,)
    found = []
    for rack in racks:
        nodes = {
            t: tuple(n for n in kind.nodes if rack is None or problem.node_rack[n] == rack)
            for t, kind in enumerate(types)
        }
        used = {t: members for t, members in nodes.items() if members}
        found.append(Site(tuple(used), tuple(used.values())))
    return tuple(found)


def equal_nodes(problem: Problem) -> list[list[int]]:
    """Return groups of nodes of one rack that are alike; no task has its home on them."""
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
            key = tuple(sorted(repr(signature(problem, n)) for n in nodes))
            groups.setdefault(key, []).append(nodes)
    return list(groups.values())


def signature(problem: Problem, node: int) -> tuple[object, ...]:
    """Return all that makes a node, apart from where it is and what runs there.

    Two nodes with the same signature in one rack, where no task has its home, are alike: to change
    one for the other changes neither a rule nor a cost (unless there is a matrix of distances).
    """
    linear = () if problem.linear is None else tuple(problem.linear[:, node].tolist())
    return (tuple(problem.capacity[node].tolist()), int(problem.slots[node]), linear)


def _homes(problem: Problem) -> set[int]:
    """Return the nodes where some task runs now."""
    return {one.home[0] for one in problem.classes if one.home is not None}
