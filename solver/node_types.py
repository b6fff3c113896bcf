"""Node types: nodes that differ in nothing but their rack."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.models.problem import Problem
from slotwise.solver.worker_layout import home_labels


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
        linear = () if problem.linear is None else tuple(problem.linear[:, n].tolist())
        home = n if n in homes else None  # no node is like one where tasks run
        key = (tuple(problem.capacity[n].tolist()), int(problem.slots[n]), linear, home)
        groups.setdefault(key, []).append(n)
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
