"""The ways of tuples between tasks: network interfaces, uplinks, and distance.

A tuple passes the sender's interface, both uplinks where it changes racks, and the receiver's
interface, one after the other, and is then under way for the delay of its level. It occupies each
of them for its bytes over the bandwidth, after the tuples that came before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from slotwise.models.instance.cluster import Cluster
from slotwise.models.prediction.loads import LEVELS, MS_PER_S, Kind
from slotwise.models.simulation.sharing import Link, Then, after
from slotwise.models.tuples import needed

if TYPE_CHECKING:
    from simpy import Environment

BITS_OF_A_BYTE = 8
BITS_OF_A_MEGABIT = 10**6


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a task is: index of its node, number of the worker there."""

    node: int
    worker: int


@dataclass(frozen=True, slots=True)
class Way:
    """From one task to another.

    Parameters
    ----------
    serialise
        Seconds of the sender's thread on a core of 100 points.
    passages
        What is passed, and seconds on it alone.
    delay
        Seconds on the way without waiting.
    """

    serialise: float
    passages: tuple[tuple[Link, float], ...]
    delay: float


class Network:
    """Interfaces and uplinks of a cluster, made as they are needed.

    Parameters
    ----------
    env
        The simulation's.
    cluster
        Its bandwidths and times by level.
    """

    def __init__(self, env: Environment, cluster: Cluster) -> None:
        self._env = env
        self._cluster = cluster
        self._ways: dict[tuple[Spot, Spot, Decimal | None], Way] = {}
        self.links: dict[tuple[Kind, int], Link] = {}

    def way(self, start: Spot, end: Spot, tuple_bytes: Decimal | None, bytes_path: str) -> Way:
        """Return the way of tuples of this size; `bytes_path` is the key that says the size.

        Raises
        ------
        InputError
            Naming the key that is needed and not given.
        """
        key = (start, end, tuple_bytes)
        if key not in self._ways:
            level = self._level(start, end)
            passages: tuple[tuple[Link, float], ...] = ()
            if start.node != end.node:
                if tuple_bytes is None:
                    raise needed(bytes_path)
                passages = self._passages(start.node, end.node, float(tuple_bytes))
            times = (self._ms(name, level) / MS_PER_S for name in ("serialise_ms", "delay_ms"))
            serialise, delay = times
            self._ways[key] = Way(serialise, passages, delay)
        return self._ways[key]

    def carry(self, way: Way, arrive: Then) -> None:
        """Send a tuple on its way; `arrive` is called at the other end."""
        self._pass(way, 0, arrive)

    def _pass(self, way: Way, passed: int, arrive: Then) -> None:
        if passed < len(way.passages):
            link, seconds = way.passages[passed]
            link.use(seconds, lambda: self._pass(way, passed + 1, arrive))
        elif way.delay:
            after(self._env, way.delay, arrive)
        else:
            arrive()

    def _level(self, start: Spot, end: Spot) -> int:
        """Return the index into `LEVELS` of the lowest place that holds both."""
        nodes = self._cluster.nodes
        if start == end:
            return 0
        if start.node == end.node:
            return 1
        return 2 if nodes[start.node].rack == nodes[end.node].rack else 3

    def _ms(self, key: str, level: int) -> float:
        value = getattr(self._cluster, key).levels[level]
        if value is None:
            raise needed(f"cluster.{key}.{LEVELS[level]}")
        return float(value)

    def _passages(self, start: int, end: int, tuple_bytes: float) -> tuple[tuple[Link, float], ...]:
        if tuple_bytes == 0:
            return ()
        nodes, racks = self._cluster.nodes, self._cluster.racks
        out, into = nodes[start], nodes[end]
        passed = [
            (Kind.NIC_OUT, start, out.bandwidth_out_mbit_s, f"nodes[{start}].bandwidth_out_mbit_s")
        ]
        if out.rack != into.rack:
            uplinks = self._cluster.uplink_mbit_s
            for kind, rack in ((Kind.UPLINK_OUT, out.rack), (Kind.UPLINK_IN, into.rack)):
                mbit_s = uplinks.get(rack)
                passed.append((kind, racks.index(rack), mbit_s, f"uplink_mbit_s.{rack}"))
        passed.append(
            (Kind.NIC_IN, end, into.bandwidth_in_mbit_s, f"nodes[{end}].bandwidth_in_mbit_s")
        )
        links = []
        for kind, place, mbit_s, key in passed:
            if mbit_s is None:
                raise needed(f"cluster.{key}")
            seconds = tuple_bytes * BITS_OF_A_BYTE / (float(mbit_s) * BITS_OF_A_MEGABIT)
            link = self.links.setdefault((kind, place), Link(self._env))
            links.append((link, seconds))
        return tuple(links)
