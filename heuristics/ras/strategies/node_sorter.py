"""In which order a strategy tries the nodes (``S/sorter/NodeSorterHostProximity``).

Favoured hosts first, as listed; then racks, in a rack its hosts, on a host its nodes, each level
sorted by the same rule; then unfavoured hosts. A rack's hosts are sorted when the walk comes to
the rack, a host's nodes when it comes to the host, and stay so for all executors that use the
same order; the counts of executors are those of its beginning.

This is the plain form, for reading and for small clusters; `fast_node_sorter` gives the same
orders on large ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from slotwise.heuristics.ras.model import Host, Rack
from slotwise.heuristics.ras.strategies.fit import Fit

COMMON, GENERIC_RAS, DEFAULT_RAS = "common", "generic-ras", "default-ras"
"""How items are compared: today's rule, and those of the two ``...Old`` strategies."""

Amounts = tuple[float, ...]
"""Memory, cpu, then the generic resources."""

Key = tuple[float | int | tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A rack, host or node to be sorted: executors of the topology on it, what it has left."""

    name: tuple[int, ...]
    count: int
    left: Amounts


class SortedNodes(Protocol):
    """An order of nodes."""

    def nodes(self) -> Iterator[int]:
        """Yield all nodes."""

    def walk(self, component: int) -> Iterator[tuple[int, int]]:
        """Yield (node, slots passed since the node before) for an executor of `component`.

        Nodes without room for the executor alone (`Fit.could_ever_fit`) are left out, and their
        slots do not count; so are nodes known to take no executor of the component, whose slots
        count as passed. A last pair with node -1 counts what came after.
        """

    def reject(self, node: int, component: int) -> None:
        """Take note that no slot of `node` takes the component as long as the node stays so."""


class NodeSorter(Protocol):
    """What sorts nodes."""

    def sort(self, component: int | None) -> SortedNodes:
        """Return the order for an executor of `component`; ``None`` = for no one in particular."""


def sorted_items(items: Sequence[Item], kind: str, request: Amounts | None) -> list[int]:
    """Return the positions of `items`, the best first.

    Parameters
    ----------
    items
        All members of one group.
    kind
        `COMMON`, `GENERIC_RAS` or `DEFAULT_RAS`.
    request
        Generic resources that the executor asks for; ``None`` = no executor.
    """
    total = [0.0] * (len(items[0].left) if items else 0)
    for item in items:
        for r, amount in enumerate(item.left):
            total[r] += amount
    flip = request is not None and kind != DEFAULT_RAS
    keys = []
    for item in items:
        left = _turned(item.left, request) if request is not None and flip else item.left
        keys.append(sort_key(kind, item, *shares(left, total)))
    return sorted(range(len(items)), key=keys.__getitem__)


def shares(left: Sequence[float], total: Sequence[float]) -> tuple[float, float]:
    """Return average and least share of the group's resources in percent, as Storm rounds them.

    Resources of which the group has nothing left do not count.
    """
    added, least, counted = 0.0, 1.0, 0
    for own, whole in zip(left, total, strict=True):
        if whole != 0.0:
            share = own / whole
            added += share
            least = min(least, share)
            counted += 1
    return (added * 100.0 / counted if counted else 100.0), least * 100.0


def sort_key(kind: str, item: Item, average: float, least: float) -> Key:
    """Return what a group is sorted by, ascending."""
    if kind == COMMON:
        return -item.count, -average, -least, item.name
    if kind == GENERIC_RAS:
        return -item.count, -average, item.name
    return -item.count, -least, -average, item.name


def _turned(left: Amounts, request: Amounts) -> Amounts:
    """Return what is left with resources that are not asked for negative: keep them for others."""
    generic = (
        -own if want == 0.0 and own > 0.0 else own
        for own, want in zip(left[2:], request, strict=True)
    )
    return (*left[:2], *generic)


class PlainNodeSorter:
    """The sorter of one strategy call."""

    def __init__(self, fit: Fit, kind: str) -> None:
        self._fit = fit
        self._kind = kind
        topology = fit.view.topology
        self.first = self._listed(topology.favored_nodes)
        self.last = [
            node for node in self._listed(topology.unfavored_nodes) if node not in self.first
        ]

    def sort(self, component: int | None) -> PlainSortedNodes:
        """Return the order of the nodes as they are now."""
        return PlainSortedNodes(self._fit, self._kind, component, self.first, self.last)

    def _listed(self, hosts: Sequence[str]) -> list[int]:
        all_hosts = self._fit.state.model.cluster.hosts
        return [node for host in hosts for node in all_hosts.get(host, ())]


class PlainSortedNodes:
    """An order of nodes, found out as far as it is asked for."""

    def __init__(
        self,
        fit: Fit,
        kind: str,
        component: int | None,
        first: Sequence[int],
        last: Sequence[int],
    ) -> None:
        self._fit = fit
        self._kind = kind
        self._first, self._last = first, last
        self._skipped = {*first, *last}
        view = fit.view
        self._request = None if component is None else view.components[component].need.generic
        self._counts = dict(fit.state.on_node[fit.topology])
        self._hosts: dict[str, list[Host]] = {}
        self._nodes: dict[str, list[int]] = {}
        self.racks = self._sorted_racks()

    def walk(self, component: int) -> Iterator[tuple[int, int]]:
        """Yield the nodes that have room for an executor of `component`."""
        for node in self.nodes():
            if self._fit.could_ever_fit(node, component):
                yield node, 0

    def reject(self, node: int, component: int) -> None:
        """Do nothing: the plain order looks again."""

    def nodes(self) -> Iterator[int]:
        """Yield all nodes."""
        yield from self._first
        for rack in self.racks:
            for host in self._sorted_hosts(rack):
                for node in self._sorted_nodes(host):
                    if node not in self._skipped:
                        yield node
        yield from self._last

    def _sorted_racks(self) -> list[Rack]:
        racks = self._fit.state.model.cluster.racks
        items = [self._item(rack.name, rack.nodes, self._counts) for rack in racks]
        return [racks[i] for i in sorted_items(items, self._kind, self._request)]

    def _sorted_hosts(self, rack: Rack) -> list[Host]:
        if rack.name not in self._hosts:
            items = [self._item(host.name, host.nodes, self._counts) for host in rack.hosts]
            order = sorted_items(items, self._kind, self._request)
            self._hosts[rack.name] = [rack.hosts[i] for i in order]
        return self._hosts[rack.name]

    def _sorted_nodes(self, host: Host) -> list[int]:
        if host.name not in self._nodes:
            ids = self._fit.state.model.cluster.ids
            items = [self._item(ids[node], (node,), self._counts) for node in host.nodes]
            order = sorted_items(items, self._kind, self._request)
            self._nodes[host.name] = [host.nodes[i] for i in order]
        return self._nodes[host.name]

    def _item(self, name: str, nodes: Sequence[int], counts: Mapping[int, int]) -> Item:
        state = self._fit.state
        memory = cpu = 0.0
        generic = [0.0] * len(state.model.cluster.generic)
        for node in nodes:
            memory += state.memory[node]
            cpu += state.cpu[node]
            for g, amount in enumerate(state.generic[node]):
                generic[g] += amount
        count = sum(counts.get(node, 0) for node in nodes)
        return Item(state.model.cluster.text_keys[name], count, (memory, cpu, *generic))
