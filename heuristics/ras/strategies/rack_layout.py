"""Where the nodes of each rack lie in the arrays of `fast_node_sorter`, host by host."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slotwise.heuristics.ras.model.cluster import RasCluster

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RackLayout:
    """One rack.

    Parameters
    ----------
    start
        Position of its first node in the arrays of all nodes.
    rank
        Its place among the racks by name.
    nodes
        Indices of its nodes; a position in the rack is an index into them.
    host_positions
        Positions of each host's nodes, one after another.
    host_starts, host_ranks
        First position of each host; the hosts' places by name.
    node_ranks
        The nodes' places by id.
    nth_nodes
        Hosts that have a first, a second, ... node, and the positions of these.
    """

    start: int
    rank: int
    nodes: tuple[int, ...]
    host_positions: tuple[tuple[int, ...], ...]
    host_starts: Ints
    host_ranks: Ints
    node_ranks: Ints
    nth_nodes: tuple[tuple[Ints, Ints], ...]

    @property
    def span(self) -> slice:
        """Its part of the arrays of all nodes."""
        return slice(self.start, self.start + len(self.nodes))

    @property
    def crowded(self) -> bool:
        """Whether a host has several nodes."""
        return len(self.host_positions) < len(self.nodes)

    def host_left(self, left: Doubles) -> Doubles:
        """Return what each host has left, added up node by node, from that of the nodes."""
        sums = np.zeros((len(left), len(self.host_positions)))
        for hosts, positions in self.nth_nodes:
            sums[:, hosts] += left[:, positions]
        return sums


def rack_layouts(cluster: RasCluster) -> list[RackLayout]:
    """Return the layouts of the racks of `cluster`, in its order."""
    keys = cluster.text_keys
    rank = _ranks([keys[rack.name] for rack in cluster.racks])
    layouts: list[RackLayout] = []
    start = 0
    for r, rack in enumerate(cluster.racks):
        positions, first = [], 0
        for host in rack.hosts:
            positions.append(tuple(range(first, first + len(host.nodes))))
            first += len(host.nodes)
        layouts.append(
            RackLayout(
                start=start,
                rank=int(rank[r]),
                nodes=rack.nodes,
                host_positions=tuple(positions),
                host_starts=np.array([own[0] for own in positions], dtype=np.int64),
                host_ranks=_ranks([keys[host.name] for host in rack.hosts]),
                node_ranks=_ranks([keys[cluster.ids[node]] for node in rack.nodes]),
                nth_nodes=_nth_nodes(positions),
            )
        )
        start += first
    return layouts


def _nth_nodes(positions: list[tuple[int, ...]]) -> tuple[tuple[Ints, Ints], ...]:
    found = []
    for n in range(max(map(len, positions))):
        hosts = [h for h, own in enumerate(positions) if len(own) > n]
        nth = [positions[h][n] for h in hosts]
        found.append((np.array(hosts, dtype=np.int64), np.array(nth, dtype=np.int64)))
    return tuple(found)


def _ranks(names: list[tuple[int, ...]]) -> Ints:
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks
