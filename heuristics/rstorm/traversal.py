"""R-Storm, Algorithm 2: the order in which a topology's components are visited.

Neighbours are the components at the other end of a stream in either direction, first those a
component sends to, then those it receives from, each in the order of the streams (`research_graph`
has the research code's order). A cycle ends at what has been visited. A component without tasks is
passed through like any other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from slotwise.heuristics.rstorm.research_graph import research_graph
from slotwise.models.instance.topology import Topology


def bfs_topology_traversal(topology: Topology) -> list[str]:
    """Return every component once, breadth first from the spouts.

    - Several spouts: one traversal after another, each from the first spout that no earlier one
      reached (the paper passes one ``root`` and says "starting from the spouts").
    - Components that no spout reaches, ackers among them, follow by further traversals in the
      order of the topology, so that every task is scheduled.
    """
    neighbours = _neighbours(topology)
    components = topology.placed_components
    roots = sorted(components, key=lambda component: component.kind != "spout")
    visited: dict[str, None] = {}
    for root in roots:
        if root.id not in visited:
            _traverse(root.id, neighbours, visited)
    return list(visited)


def from_first_spout(topology: Topology) -> list[str]:
    """Return the components that one traversal reaches, from one spout: the research code's way.

    Which spout, and the order of neighbours, are those of its hash maps (`research_graph`). Empty
    = there is no spout.
    """
    graph = research_graph(topology)
    visited: dict[str, None] = {}
    if graph.first_spout is not None:
        _traverse(graph.first_spout, graph.neighbours, visited)
    return list(visited)


def _traverse(root: str, neighbours: Mapping[str, list[str]], visited: dict[str, None]) -> None:
    queue = deque([root])
    visited[root] = None
    while queue:
        component = queue.popleft()
        for neighbour in neighbours[component]:
            if neighbour not in visited:
                queue.append(neighbour)
                visited[neighbour] = None


def _neighbours(topology: Topology) -> dict[str, list[str]]:
    receivers: dict[str, list[str]] = {c.id: [] for c in topology.placed_components}
    senders: dict[str, list[str]] = {c.id: [] for c in topology.placed_components}
    for stream in topology.streams:
        receivers[stream.source].append(stream.target)
        senders[stream.target].append(stream.source)
    return {component: receivers[component] + senders[component] for component in receivers}
