"""The sums by which Storm's outer loop decides whether a topology could fit, and who must go.

Apache Storm's ``ResourceAwareScheduler.TopologySchedulingResources`` (commit 73da988), in its
doubles. Two tests, on sums over the whole cluster:

- *available*: what all nodes have left, with what the topology itself holds, covers its request;
- *remaining required* (only after a failure): what was evicted since covers what the topology
  still needs, whatever was free before. So more is evicted than needed (STORM-3489): kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slotwise.heuristics.ras.java.hash_map import compensated_sum
from slotwise.heuristics.ras.java.iteration_order import map_order
from slotwise.heuristics.ras.java.text import double_text
from slotwise.heuristics.ras.model.requests import Offer, Request, request_of
from slotwise.heuristics.ras.state.assignment_tables import Slot
from slotwise.heuristics.ras.state.state import RasState
from slotwise.models.cancellation import CancellationToken

CPU_NAME = "cpu.pcore.percent"


@dataclass(frozen=True, slots=True)
class Held:
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
        if min(_amounts(_minus(free, self._required))) < 0:
            return False
        if self._available_memory + self._scheduled.memory < self._required_memory:
            return False
        if self._remaining is None:
            return True
        return max(_amounts(self._remaining)) <= 0 and self._left_memory <= 0

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
        """Return what is missing, in Storm's words."""
        there = _clamped(_minus(self._available, self._scheduled.offer))
        text = ""
        if self._left_memory > 0:
            text += f"Additional Memory Required: {double_text(self._left_memory)} MB "
            text += f"(Available: {double_text(there.memory)} MB). "
        if self._left.cpu > 0:
            text += f"Additional CPU Required: {double_text(self._left.cpu)}% CPU "
            text += f"(Available: {double_text(there.cpu)} % CPU)."
        if any(amount > 0 for amount in self._left.generic.values()):
            text += f" Additional Topology Required Resources: {_normalized(self._left)}"
            text += f" Cluster Available Resources: {_normalized(there)}.  "
        return text


def held_by(state: RasState, topology: int) -> Held:
    """Return what the assigned executors of `topology` hold in `state`."""
    of = state.model.topologies[topology]
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
        need = of.components[of.component_of[task]].need
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
    return Held(Offer(cpu, onheap + offheap, dict(zip(names, generic, strict=True))), memory)


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


def _amounts(offer: Offer) -> tuple[float, ...]:
    return (offer.cpu, offer.memory, *offer.generic.values())


def _normalized(offer: Offer) -> str:
    """Return ``NormalizedResources.toString``; memory is not part of it."""
    amounts = {**offer.generic, CPU_NAME: offer.cpu}
    inside = ", ".join(f"{key}={double_text(amounts[key])}" for key in map_order(amounts))
    return f"Normalized resources: {{{inside}}}"
