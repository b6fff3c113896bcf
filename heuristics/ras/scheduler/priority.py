"""In which order Storm's Resource Aware Scheduler takes the topologies.

Read from Apache Storm 3.0 (commit 73da988), ``DefaultSchedulingPriorityStrategy``,
``GenericResourceAwareSchedulingPriorityStrategy`` and ``FIFOSchedulingPriorityStrategy``. Each
user has a queue; whose head has the lowest score comes next, as if everything could be scheduled:

    score = max over resources of (requested + assigned - guaranteed) / available

A negative score is within the user's guarantee. What runs already plays no part. The oddities are
kept: ties stay in the order of Java's ``HashMap`` of users, a resource that is used up makes every
score the largest number, and ``fifo`` sorts a queue again while it computes a score.

An owner that is empty is a user like others here (Storm leaves such a topology out, with an
error in its log: it always knows who submitted one).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import partial

from slotwise.heuristics.ras.java.hash_codes import JAVA_RELEASE, map_copy
from slotwise.heuristics.ras.java.iteration_order import (
    code_units,
    map_order,
    sort_in_place,
    string_hash,
)
from slotwise.heuristics.ras.model.requests import Offer, Request, offer_of, request_of
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
from slotwise.models.problem.scaling import CPU, MEMORY

WORST = sys.float_info.max
"""Java's ``Double.MAX_VALUE``: no head, or nothing of some resource left."""


@dataclass(frozen=True, slots=True)
class PriorityEntry:
    """A topology in the order of a round.

    Parameters
    ----------
    topology
        Index in the instance.
    score
        With which it was chosen. With ``fifo`` it may be an up-time in seconds, counted from the
        latest launch of the instance.
    guaranteed
        Whether its owner's guarantee covers it together with the owner's topologies before it.
    """

    topology: int
    score: float
    guaranteed: bool


def priority_order(
    instance: Instance, java: int = JAVA_RELEASE, token: CancellationToken | None = None
) -> tuple[PriorityEntry, ...]:
    """Return all topologies by ``scheduler.priority_strategy`` and ``scheduler.pools``.

    `java` is the release of Java whose hash tables are followed. Topologies without tasks are
    among them, as in Storm. `token` stops it; ``None`` = nobody does.
    """
    strategy = instance.scheduler.priority_strategy
    left = offer_of(instance.cluster, java)
    if strategy != "generic":
        left = Offer(left.cpu, left.memory, {})
    users = _users(instance, left, java, token)
    order = []
    while users:
        sort_in_place(users, partial(_compare, left))
        user = users[0]
        if not user.queue:
            del users[0]
            continue
        score = user.score(left)
        guaranteed = user.plain_score(left) <= 0
        head = user.take()
        left = _without(left, head.request)
        order.append(PriorityEntry(head.index, score, guaranteed))
    return tuple(order)


@dataclass(frozen=True, slots=True)
class _Waiting:
    index: int
    topology: Topology
    up_time: int
    request: Request

    def by_priority(self) -> tuple[int, int, tuple[int, ...]]:
        return self.topology.priority, -self.up_time, code_units(self.topology.id)

    def youngest_first(self) -> tuple[int, tuple[int, ...]]:
        return self.up_time, code_units(self.topology.id)


@dataclass(slots=True)
class _User:
    """A user of the simulation: guarantee and what was assigned so far, per resource."""

    queue: list[_Waiting]
    guaranteed: dict[str, float]
    fifo: bool
    assigned: dict[str, float] = field(default_factory=dict)

    def take(self) -> _Waiting:
        head = self.queue.pop(0)
        for key, amount in _amounts(head.request).items():
            self.assigned[key] = self.assigned.get(key, 0.0) + amount
        return head

    def score(self, left: Offer) -> float:
        """Return the score of the head; with ``fifo`` this may bring another head to the front."""
        score = self.plain_score(left)
        if not self.fifo or score < 0:
            return score
        self.queue.sort(key=_Waiting.youngest_first)
        return float(self.queue[0].up_time) if self.queue else WORST

    def plain_score(self, left: Offer) -> float:
        """Return the score of the head as ``default`` and ``generic`` have it."""
        available = {CPU: left.cpu, MEMORY: left.memory, **left.generic}
        if not self.queue or min(available.values()) <= 0:
            return WORST
        wanted = _amounts(self.queue[0].request)
        return max(
            (self.assigned.get(key, 0.0) + wanted.get(key, 0.0) - self.guaranteed.get(key, 0.0))
            / there
            for key, there in available.items()
        )


def _users(
    instance: Instance, offer: Offer, java: int, token: CancellationToken | None
) -> list[_User]:
    """Return the users in the order of Java's map of them."""
    by_id = {one.id: one for one in instance.topologies}
    listed = map_copy(map_order(by_id), string_hash, java)  # `Topologies` copies its map
    owners = map_order(dict.fromkeys(by_id[key].owner for key in listed))
    now = max((one.launch_time for one in instance.topologies), default=0)
    waiting = [
        _Waiting(index, one, now - one.launch_time, request_of(one, java, token))
        for index, one in enumerate(instance.topologies)
    ]
    return [
        _User(
            queue=sorted(
                (one for one in waiting if one.topology.owner == owner), key=_Waiting.by_priority
            ),
            guaranteed=_guarantee(instance, owner, offer),
            fifo=instance.scheduler.priority_strategy == "fifo",
        )
        for owner in owners
    ]


def _guarantee(instance: Instance, owner: str, offer: Offer) -> dict[str, float]:
    pool = instance.scheduler.pools.get(owner, {})
    known = (CPU, MEMORY, *offer.generic)
    return {key: float(value) for key, value in pool.items() if key in known}


def _amounts(request: Request) -> dict[str, float]:
    return {CPU: request.cpu, MEMORY: request.memory, **request.generic}


def _without(left: Offer, request: Request) -> Offer:
    """Return what the simulation has left; requests of what no node offers are left out."""
    return Offer(
        cpu=left.cpu - request.cpu,
        memory=left.memory - request.memory,
        generic={key: have - request.generic.get(key, 0.0) for key, have in left.generic.items()},
    )


def _compare(left: Offer, a: _User, b: _User) -> int:
    one, other = a.score(left), b.score(left)
    return (one > other) - (one < other)
