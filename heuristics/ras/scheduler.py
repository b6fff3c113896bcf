"""RAS's outer loop: the order of the topologies, and which ones must make room.

``ResourceAwareScheduler`` of Apache Storm 3.0: the order by users and priorities, the attempts at
one topology with evictions on a working copy, the sums that decide whether it could fit, and what
came of each topology. Start with `schedule_round`. Exact counterparts of its choices are in
`solver.admission`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from functools import partial

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.ras.java.hash_codes import JAVA_RELEASE, map_copy
from slotwise.heuristics.ras.java.hash_map import compensated_sum
from slotwise.heuristics.ras.java.iteration_order import (
    code_units,
    map_order,
    sort_in_place,
    string_hash,
)
from slotwise.heuristics.ras.model import (
    CPU_NAME,
    Offer,
    Request,
    offer_of,
    ras_model,
    request_of,
)
from slotwise.heuristics.ras.state import RasState, Slot
from slotwise.heuristics.ras.strategies.strategy import (
    INTERNAL_ERROR,
    INVALID,
    NOT_ENOUGH,
    OTHER,
    STRATEGIES,
    RasLimits,
    StrategyResult,
    schedule_in_place,
)
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.instance import Instance, Running
from slotwise.models.instance.placement import Placement, to_places
from slotwise.models.instance.topology import Topology
from slotwise.models.problem.scaling import CPU, MEMORY

# In which order Storm's Resource Aware Scheduler takes the topologies.
#
# Read from Apache Storm 3.0 (commit 73da988), ``DefaultSchedulingPriorityStrategy``,
# ``GenericResourceAwareSchedulingPriorityStrategy`` and ``FIFOSchedulingPriorityStrategy``. Each
# user has a queue; whose head has the lowest score comes next, as if everything could be
# scheduled:
#
#     score = max over resources of (requested + assigned - guaranteed) / available
#
# A negative score is within the user's guarantee. What runs already plays no part. The oddities
# are kept: ties stay in the order of Java's ``HashMap`` of users, a resource that is used up
# makes every score the largest number, and ``fifo`` sorts a queue again while it computes a
# score.
#
# An owner that is empty is a user like others here (Storm leaves such a topology out, with an
# error in its log: it always knows who submitted one).

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
        request = head.request
        self.assigned = self._assigned_with(request, (request.memory,))
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
        request = self.queue[0].request
        would_be = self._assigned_with(request, request.memory_parts)
        return max(
            (would_be.get(key, 0.0) - self.guaranteed.get(key, 0.0)) / offered
            for key, offered in available.items()
        )

    def _assigned_with(self, request: Request, memory: Sequence[float]) -> dict[str, float]:
        """Return what is assigned with `request`.

        `memory` is added one by one: Storm's scores add its parts, what is assigned their sum.
        """
        amounts = [(CPU, request.cpu), *((MEMORY, mb) for mb in memory), *request.generic.items()]
        together = dict(self.assigned)
        for key, amount in amounts:
            together[key] = together.get(key, 0.0) + amount
        return together


def _users(
    instance: Instance, offer: Offer, java: int, token: CancellationToken | None
) -> list[_User]:
    """Return the users in the order of Java's map of them."""
    by_id = {one.id: one for one in instance.topologies}
    listed = map_copy(map_order(by_id), string_hash, java)  # `Topologies` copies its map
    owners = map_order(dict.fromkeys(by_id[key].owner for key in listed))
    now = max((one.launch_time for one in instance.topologies), default=0)
    waiting = [
        _Waiting(index, topology, now - topology.launch_time, request_of(topology, java, token))
        for index, topology in enumerate(instance.topologies)
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
    resources = (CPU, MEMORY, *offer.generic)
    return {key: float(value) for key, value in pool.items() if key in resources}


def _without(left: Offer, request: Request) -> Offer:
    """Return what the simulation has left; requests of what no node offers are left out."""
    return Offer(
        cpu=left.cpu - request.cpu,
        memory=left.memory - request.memory,
        generic={key: have - request.generic.get(key, 0.0) for key, have in left.generic.items()},
    )


def _compare(left: Offer, a: _User, b: _User) -> int:
    first, second = a.score(left), b.score(left)
    return (first > second) - (first < second)


# What one round of Storm's Resource Aware Scheduler decided about each topology.


class DecisionOutcome(StrEnum):
    """The outcome for a topology."""

    RUNNING = "running"
    """Nothing to do: every task had a place."""
    SCHEDULED = "scheduled"
    """All its tasks have a place now."""
    REFUSED = "refused"
    """Tasks are without a place, for the reason in the message.

    (Storm's message says that it runs where a strategy lost a task and called it a success.)
    """


@dataclass(frozen=True, slots=True)
class Decision:
    """What a round did with a topology.

    Parameters
    ----------
    topology
        Index in the instance.
    outcome, message
        The message is Storm's status of the topology, word by word.
    tried
        Topologies evicted on the working copy, in that order, whether or not it helped.
    evicted
        The same where the working copy was kept; else none.
    attempts
        How often it was tried to make it fit, 0 where nothing was to do.
    states, backtracked
        Of the strategy's search, over all attempts.
    before
        The cluster before that; ``None`` where nothing was to do.
    """

    topology: int
    outcome: DecisionOutcome
    message: str
    tried: tuple[int, ...] = ()
    evicted: tuple[int, ...] = ()
    attempts: int = 0
    states: int = 0
    backtracked: int = 0
    before: Placement | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One round.

    Parameters
    ----------
    instance
        What was scheduled; what ran before is in it.
    order, decisions
        One each per topology, in the order of the round.
    placement
        The cluster after the round.
    """

    instance: Instance
    order: tuple[PriorityEntry, ...]
    decisions: tuple[Decision, ...]
    placement: Placement

    def of(self, topology: int) -> Decision:
        """Return the decision about `topology`."""
        return next(one for one in self.decisions if one.topology == topology)

    @property
    def refused(self) -> tuple[int, ...]:
        """Topologies with tasks that have no place after the round, in its order."""
        return tuple(d.topology for d in self.decisions if d.outcome is DecisionOutcome.REFUSED)

    @property
    def evicted(self) -> tuple[Evicted, ...]:
        """The evicted topologies, for which they were, and whether they were placed again."""
        return tuple(
            Evicted(
                victim, decision.topology, self.of(victim).outcome is not DecisionOutcome.REFUSED
            )
            for decision in self.decisions
            for victim in decision.evicted
        )


@dataclass(frozen=True, slots=True)
class Evicted:
    """A topology that was evicted `by` another, and whether the round placed it again."""

    topology: int
    by: int
    again: bool


# The outer loop of Storm's Resource Aware Scheduler: one round over all topologies, or several.
#
# Read from Apache Storm 3.0 (commit 73da988), ``ResourceAwareScheduler``. Topologies are taken in
# order of priority; one that does not fit makes room by evicting from the end of that
# order, on a working copy that counts only if it succeeds (`TopologyAttempt`). Kept as it is
# there:
#
# - The order is computed afresh each round and ignores what runs.
# - Nobody that runs is moved; an evicted topology is placed again when it comes, if it fits.
# - Who must go is decided by sums over the cluster, wherever the victims sit.
# - A topology whose attempts all fail has evicted nobody in the end.


def schedule_round(
    instance: Instance,
    limits: RoundLimits | None = None,
    strategy: str | None = None,
    java: int = JAVA_RELEASE,
    token: CancellationToken | None = None,
    log: DecisionLog | None = None,
) -> Round:
    """Return what one round makes of `instance`, beginning with what is ``running``.

    `strategy` is used for all topologies in place of their own; ``None`` = their own. `java` is
    the release of Java that Storm would run on: the order of its hash tables depends on it.
    `token` stops the round by `CancelledError`; ``None`` = nobody does. `log` records what is
    assigned and freed, beginning with what is ``running``; ``None`` = nothing does.
    """
    limits = RoundLimits() if limits is None else limits
    token = token or CancellationToken()
    order = priority_order(instance, java, token)
    topologies = [entry.topology for entry in order]
    state = RasState.running(ras_model(instance, java), log)
    decisions = []
    for index, topology in enumerate(topologies):
        if not state.unassigned(topology):
            decisions.append(Decision(topology, DecisionOutcome.RUNNING, "Fully Scheduled"))
            continue
        attempt = TopologyAttempt(state, topology, topologies[:index:-1], limits, strategy, token)
        decision, state = attempt.take()
        decisions.append(decision)
    if log is not None and state.log is not None:
        log.adopt(state.log)
    return Round(instance, order, tuple(decisions), state.placement())


def schedule_rounds(
    instances: Iterable[Instance], limits: RoundLimits | None = None, strategy: str | None = None
) -> Iterator[Round]:
    """Yield a round for each state of a changing cluster.

    Each instance but the first runs what the round before left of topologies and nodes that it
    still has; its own ``running`` is not read.
    """
    last: Round | None = None
    for instance in instances:
        if last is not None:
            instance = replace(instance, running=_still_running(last, instance))
        last = schedule_round(instance, limits, strategy)
        yield last


def _still_running(last: Round, instance: Instance) -> Running:
    """Return what `last` placed, without tasks and nodes that `instance` does not have."""
    tasks = set(instance.task_names())
    nodes = {node.id for node in instance.cluster.nodes}
    return {
        topology: {
            task: place
            for task, place in places.items()
            if (topology, task) in tasks and place.node in nodes
        }
        for topology, places in to_places(last.instance, last.placement).items()
        if any(name == topology for name, _ in tasks)
    }


# One topology in Storm's outer loop: attempts, and evictions on a working copy.
#
# ``ResourceAwareScheduler.scheduleTopology`` of Apache Storm 3.0 (commit 73da988). A topology
# that names no strategy has Storm's default, ``ras-default``; one that names none of the
# scheduler's gets the message of a strategy that cannot be created. Storm stops a strategy at the
# time limit; here it ends on its own, and its answer then counts as too late.

DEFAULT_STRATEGY = "ras-default"
PACKAGE = "org.apache.storm.scheduler.resource.strategies.scheduling."
TIMEOUT_KEY = "scheduling.timeout.seconds.per.topology"
FAILURES = {INVALID: "FAIL_INVALID_TOPOLOGY", OTHER: "FAIL_OTHER"}
"""A strategy's status -> its name in Storm's messages."""


@dataclass(frozen=True, slots=True)
class RoundLimits:
    """When the loop gives up on a topology (Storm's configuration and its defaults).

    Parameters
    ----------
    attempts
        ``resource.aware.scheduler.max.topology.scheduling.attempts``, 1 or more.
    search
        Of one attempt: states and wall-clock seconds.
    """

    attempts: int = 5
    search: RasLimits = field(default_factory=RasLimits)


class TopologyAttempt:
    """The attempts to schedule one topology; `victims` may be evicted, in this order."""

    def __init__(
        self,
        state: RasState,
        topology: int,
        victims: list[int],
        limits: RoundLimits,
        strategy: str | None,
        token: CancellationToken,
    ) -> None:
        self._state = state
        self._working = state.copy()
        self._topology = topology
        self._victims = victims
        self._limits = limits
        self._token = token
        self._id = state.model.instance.topologies[topology].id
        own = state.model.instance.topologies[topology].strategy
        self._strategy = strategy or own or DEFAULT_STRATEGY
        self._sums = SchedulingResources(self._working, topology, token)
        self._tried: list[int] = []
        self._results: list[StrategyResult] = []
        self._attempts = 0

    def take(self) -> tuple[Decision, RasState]:
        """Return the decision and the cluster after it."""
        if self._strategy not in STRATEGIES:
            return self._refuse(
                "Unsuccessful in scheduling - failed to create instance of topology strategy "
                f"{self._strategy}. Please check logs for details"
            )
        while self._attempts < self._limits.attempts:
            self._attempts += 1
            cluster = self._working.copy()
            self._sums.start_attempt()
            begin = self._token.now()
            result = self._run(cluster)
            if self._token.now() - begin > self._limits.search.max_seconds:
                return self._refuse(
                    f"Scheduling took too long for {self._id} using strategy "
                    f"{PACKAGE}{STRATEGIES[self._strategy].storm_class} timeout after "
                    f"{self._limits.search.max_seconds:g} seconds using config {TIMEOUT_KEY}."
                )
            if result.success:
                return self._keep(cluster, f"Running - {result.message}")
            if result.message == INTERNAL_ERROR:
                return self._refuse(INTERNAL_ERROR)
            if result.status in FAILURES:
                status = FAILURES[result.status]
                return self._refuse(f"Status: {status} error message: {result.message}")
            if not self._evict(cluster):
                return self._refuse(
                    "Not enough resources to schedule after evicting lower priority topologies. "
                    f"{self._sums.message()}{result.message}"
                )
        return self._refuse(
            f"Failed to make enough resources for {self._id} by evicting lower priority "
            f"topologies within {self._limits.attempts} attempts. {self._sums.message()}"
        )

    def _run(self, cluster: RasState) -> StrategyResult:
        """Run the strategy, unless the sums say that there is no use."""
        if not self._sums.can_schedule():
            return StrategyResult(NOT_ENOUGH, "")
        result = schedule_in_place(
            cluster, self._topology, self._strategy, self._limits.search, self._token
        )
        self._results.append(result)
        return result

    def _evict(self, failed: RasState) -> bool:
        """Evict until the sums suffice or nobody is left; return whether somebody was evicted."""
        self._sums.failed(failed)
        before = len(self._tried)
        for victim in self._victims:
            if self._working.places[victim]:
                self._sums.evicted(failed, victim)
                self._working.free(victim)
                self._tried.append(victim)
                if self._sums.can_schedule():
                    break
        return len(self._tried) > before

    def _keep(self, cluster: RasState, message: str) -> tuple[Decision, RasState]:
        lost = cluster.unassigned(self._topology)
        outcome = DecisionOutcome.REFUSED if lost else DecisionOutcome.SCHEDULED
        decision = self._decide(outcome, message, evicted=tuple(self._tried))
        self._state.adopt(cluster)
        return decision, self._state

    def _refuse(self, message: str) -> tuple[Decision, RasState]:
        return self._decide(DecisionOutcome.REFUSED, message), self._state

    def _decide(
        self, outcome: DecisionOutcome, message: str, evicted: tuple[int, ...] = ()
    ) -> Decision:
        return Decision(
            topology=self._topology,
            outcome=outcome,
            message=message,
            tried=tuple(self._tried),
            evicted=evicted,
            attempts=self._attempts,
            states=sum(result.states for result in self._results),
            backtracked=sum(result.backtracked for result in self._results),
            before=self._state.placement(),
        )


# The sums by which Storm's outer loop decides whether a topology could fit, and who must go.
#
# Apache Storm's ``ResourceAwareScheduler.TopologySchedulingResources`` (commit 73da988), in its
# doubles. Two tests, on sums over the whole cluster:
#
# - *available*: what all nodes have left, with what the topology itself holds, covers its request;
# - *remaining required* (only after a failure): what was evicted since covers what the topology
#   still needs, whatever was free before. So more is evicted than needed (STORM-3489): kept.


@dataclass(frozen=True, slots=True)
class HeldResources:
    """What assigned executors hold: by request, and all memory with shared regions (MB)."""

    offer: Offer
    memory: float


class SchedulingResources:
    """The sums for scheduling one topology, from the first attempt to the last."""

    def __init__(self, state: RasState, topology: int, token: CancellationToken) -> None:
        self._topology = topology
        self._available = state.available_totals()
        self._available_memory = self._available.memory
        asking = state.model.instance.topologies[topology]
        requested = request_of(asking, state.model.java, token)
        self._required = _offer(requested, self._available)
        self._required_memory = requested.own_memory + (
            requested.shared_offheap + requested.shared_onheap
        )
        self._scheduled = held_by(state, topology)
        self._remaining: Offer | None = None
        self._left = Offer(0.0, 0.0, {})
        self._left_memory = 0.0

    def start_attempt(self) -> None:
        """Forget what earlier evictions had to cover."""
        self._remaining = None
        self._left_memory = 0.0

    def can_schedule(self) -> bool:
        """Whether both tests hold."""
        free = _plus(self._available, self._scheduled.offer)
        if min(_resource_amounts(_minus(free, self._required))) < 0:
            return False
        if self._available_memory + self._scheduled.memory < self._required_memory:
            return False
        if self._remaining is None:
            return True
        return max(_resource_amounts(self._remaining)) <= 0 and self._left_memory <= 0

    def failed(self, state: RasState) -> None:
        """Set what must be evicted, after a failure that left `state` (parts may be assigned)."""
        self._scheduled = held_by(state, self._topology)
        self._remaining = self._left = _clamped(_minus(self._required, self._scheduled.offer))
        self._left_memory = self._required_memory - self._scheduled.memory

    def evicted(self, state: RasState, topology: int) -> None:
        """Count what `topology` holds in `state` as given back."""
        held = held_by(state, topology)
        self._available = _plus(self._available, held.offer)
        self._available_memory += held.memory
        self._remaining = self._left = _clamped(_minus(self._left, held.offer))
        self._left_memory -= held.memory

    def message(self) -> str:
        """Return the missing resources, in Storm's words."""
        available = _clamped(_minus(self._available, self._scheduled.offer))
        text = ""
        if self._left_memory > 0:
            text += f"Additional Memory Required: {double_text(self._left_memory)} MB "
            text += f"(Available: {double_text(available.memory)} MB). "
        if self._left.cpu > 0:
            text += f"Additional CPU Required: {double_text(self._left.cpu)}% CPU "
            text += f"(Available: {double_text(available.cpu)} % CPU)."
        if any(amount > 0 for amount in self._left.generic.values()):
            text += f" Additional Topology Required Resources: {_normalized(self._left)}"
            text += f" Cluster Available Resources: {_normalized(available)}.  "
        return text


def held_by(state: RasState, topology: int) -> HeldResources:
    """Return what the assigned executors of `topology` hold in `state`."""
    model = state.model.topologies[topology]
    places = state.places[topology]
    executors: Iterable[int] = places
    slots: Iterable[Slot] = dict.fromkeys(places.values())
    nodes: Iterable[int] = state.on_node[topology]
    if state.tables is not None:
        tables = state.tables.assignments[topology]
        executors, slots, nodes = tables.executors, tables.resources, tables.nodes
    cpu = onheap = offheap = 0.0
    generic = [0.0] * len(state.model.cluster.generic)
    for task in executors:
        need = model.components[model.component_of[task]].need
        cpu += need.cpu
        onheap += need.onheap
        offheap += need.offheap
        for g, amount in enumerate(need.generic):
            generic[g] += amount
    memory = 0.0
    for node in nodes:
        memory += state.node_shared(topology, node)
    workers = (state.workers[node][label] for node, label in slots)
    memory += compensated_sum(worker.onheap + worker.offheap for worker in workers)
    names = state.model.cluster.generic
    return HeldResources(
        Offer(cpu, onheap + offheap, dict(zip(names, generic, strict=True))), memory
    )


def _offer(requested: Request, like: Offer) -> Offer:
    """Return a request without shared memory, with the generic resources of `like`."""
    sums = requested.approximate
    generic = {key: sums.generic.get(key, 0.0) for key in like.generic}
    return Offer(sums.cpu, sums.memory, generic)


def _plus(a: Offer, b: Offer) -> Offer:
    generic = {key: have + b.generic[key] for key, have in a.generic.items()}
    return Offer(a.cpu + b.cpu, a.memory + b.memory, generic)


def _minus(a: Offer, b: Offer) -> Offer:
    generic = {key: have - b.generic[key] for key, have in a.generic.items()}
    return Offer(a.cpu - b.cpu, a.memory - b.memory, generic)


def _clamped(offer: Offer) -> Offer:
    generic = {key: max(0.0, amount) for key, amount in offer.generic.items()}
    return Offer(max(0.0, offer.cpu), max(0.0, offer.memory), generic)


def _resource_amounts(offer: Offer) -> tuple[float, ...]:
    return (offer.cpu, offer.memory, *offer.generic.values())


def _normalized(offer: Offer) -> str:
    """Return ``NormalizedResources.toString``; memory is not part of it."""
    amounts = {**offer.generic, CPU_NAME: offer.cpu}
    inside = ", ".join(f"{key}={double_text(amounts[key])}" for key in map_order(amounts))
    return f"Normalized resources: {{{inside}}}"


# Numbers as Java writes them into Storm's messages.


def double_text(value: float) -> str:
    """Return ``Double.toString``: ``100.0``, ``1.0E7``, ``5.0E-4``, ``Infinity``.

    With the fewest digits that name the double, as Java writes them since release 19.
    """
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value) if "e" not in repr(value) else f"{value:f}"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int), "finite"
    first, rest = str(digits[0]), "".join(map(str, digits[1:])) or "0"
    power = exponent + len(digits) - 1
    return f"{'-' if sign else ''}{first}.{rest}E{power}"
