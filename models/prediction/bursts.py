"""Tuples that are sent together arrive together: a burst.

A bolt that sends several tuples for each one that it receives makes the arrivals at their receivers
burstier than Poisson's. In a burst of X a tuple waits for half of its X - 1 siblings in the mean,
as in M/M/1 with batch arrivals: E X(X - 1) / (2 E X). Siblings meet at a thread and
on links. That they also share the cores of a node is left out: threads there take turns anyway.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import floor

import numpy as np

from slotwise.models.prediction.flows import FloatArray, Flows
from slotwise.models.prediction.loads import Hop, Kind, Loads

IN_TURN = ("shuffle", "local_or_shuffle", "none", "global", "all")
"""Groupings that deal tuples in turn: siblings go to different receivers first."""


@dataclass(frozen=True, slots=True, eq=False)
class Bursts:
    """How many siblings a tuple waits for, in the mean.

    Parameters
    ----------
    thread
        [E] of each visit: at the same thread.
    link
        [R, L] on network interfaces and uplinks.
    receivers
        [H] of each hop: different threads that siblings on it go to, 1 or more.
    """

    thread: FloatArray
    link: FloatArray
    receivers: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Family:
    """A hop as a part of what its sender sends at once.

    Parameters
    ----------
    many
        Tuples on it for each one that the sender receives.
    receivers
        Threads among which they are dealt.
    in_turn
        Whether siblings go to different ones first.
    node_shares
        Share of its tuples by the node of the receiver.
    leaves
        Share of its tuples that go to another node.
    """

    many: float
    receivers: float
    in_turn: bool
    node_shares: FloatArray
    leaves: float

    @property
    def siblings(self) -> float:
        """Mean number of siblings on the hop that a tuple on it has."""
        return _siblings(self.many)

    @property
    def at_thread(self) -> float:
        """Mean number of them that go to the same thread."""
        return (
            _siblings(self.many / self.receivers)
            if self.in_turn
            else self.siblings / self.receivers
        )

    @property
    def distinct(self) -> float:
        """Mean number of different threads that they go to."""
        if self.in_turn or self.many <= 1:
            return max(1.0, min(self.many, self.receivers))
        return float(self.receivers * (1 - (1 - 1 / self.receivers) ** self.many))


def _siblings(many: float) -> float:
    """Return E M(M - 1) / E M of a number M that is `many` in the mean, rounded up or down."""
    whole = floor(many)
    return whole * (whole - 1 + 2 * (many - whole)) / many


def bursts(loads: Loads) -> Bursts:
    """Return the bursts of all routes."""
    flows, passages, first = loads.flows, loads.passages, loads.first[Kind.NIC_OUT]
    families: dict[tuple[int, int], list[int]] = defaultdict(list)
    family_of: dict[int, _Family] = {}
    for index, hop in enumerate(loads.hops):
        if not flows.links[hop.link].acks:
            family_of[index] = _family(flows, hop)
            families[hop.route, flows.links[hop.link].source].append(index)
    thread, out, into, receivers = np.zeros((4, len(loads.hops)))
    receivers[:] = 1.0
    for together in families.values():
        for index in together:
            one = family_of[index]
            others = [family_of[other] for other in together if other != index]
            meet = one.siblings * float(one.node_shares @ one.node_shares)
            meet += sum(other.many * float(one.node_shares @ other.node_shares) for other in others)
            leave = one.siblings * one.leaves + sum(other.many * other.leaves for other in others)
            thread[index], receivers[index] = one.at_thread / 2, one.distinct
            out[index], into[index] = leave / 2, meet * one.leaves / 2
    link, copies = (
        np.zeros_like(loads.demand[:, first:]),
        np.asarray([h.copies for h in loads.hops]),
    )
    route = np.asarray([hop.route for hop in loads.hops], dtype=np.int64)[passages.hop]
    kinds = [one.kind for one in loads.resources]
    sends = np.asarray(
        [kinds[k] in (Kind.NIC_OUT, Kind.UPLINK_OUT) for k in passages.resource.tolist()]
    )
    waits = np.where(sends, out[passages.hop], into[passages.hop])
    seconds = copies[passages.hop] * passages.seconds
    np.add.at(link, (route, passages.resource - first), seconds * waits)
    demand = loads.demand[:, first:]
    link = np.divide(link, demand, out=np.zeros_like(link), where=demand > 0)
    return Bursts(_at_visits(loads, thread), link, receivers)


def _family(flows: Flows, hop: Hop) -> _Family:
    link, route = flows.links[hop.link], flows.routes[hop.route]
    groups = slice(link.receivers.start, link.receivers.stop)
    received = flows.groups.size[groups] * (
        flows.groups.first[groups] if link.grouping == "global" else 1
    )
    nodes = len(flows.instance.cluster.nodes)
    node_shares = np.bincount(flows.groups.node[groups], received, nodes) / received.sum()
    levels = link.copies()
    stays = float(link.stays.mean())
    receivers = float(np.where(link.stays, link.reach[:, 0], link.reach[:, 3]).mean())
    if stays:  # then siblings go to the node of their sender
        of_source = flows.components[link.source].groups
        senders = slice(of_source.start, of_source.stop)
        staying = flows.groups.size[senders] * link.stays
        near = np.bincount(flows.groups.node[senders], staying, nodes) / staying.sum()
        node_shares = (1 - stays) * node_shares + stays * near
    return _Family(
        hop.copies / float(route.visits[link.source]),
        receivers,
        link.grouping in IN_TURN,
        node_shares,
        float(levels[:, 2:].sum() / levels.sum()),
    )


def _at_visits(loads: Loads, by_hop: FloatArray) -> FloatArray:
    """Return [E] of each visit the mean over the hops to its component."""
    flows, visits = loads.flows, loads.visits
    total = np.zeros((len(flows.routes), len(flows.components)))
    weight = np.zeros_like(total)
    for value, hop in zip(by_hop.tolist(), loads.hops, strict=True):
        if not flows.links[hop.link].acks:
            target = flows.links[hop.link].target
            total[hop.route, target] += hop.copies * value
            weight[hop.route, target] += hop.copies
    mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    sizes: FloatArray = mean[visits.route, flows.groups.component[visits.group]]
    return sizes
