"""The weights of one topology: the better of two sources for each.

JSON lines tell more than Storm's (CPU time, bytes, receiving tasks), so that theirs are taken where
a topology has both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from slotwise.models.instance.topology import Stream, Topology
from slotwise.pipeline.statistics.schema import JSON, STORM
from slotwise.pipeline.statistics.weights import series
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.collected import Collected, Subject, Value
from slotwise.pipeline.statistics.weights.instance import RESOURCES
from slotwise.pipeline.statistics.weights.measured import (
    ComponentWeights,
    Line,
    StreamWeights,
    Weight,
)
from slotwise.pipeline.statistics.weights.message_sizes import EVEN, LOCAL, SIZE_OF_SOME
from slotwise.pipeline.statistics.weights.reporting import DEFAULT_INTERVAL_S
from slotwise.pipeline.statistics.weights.units import (
    GHZ_MS,
    PER_SECOND,
    weight_of,
)

COST_SOURCES = ((w.COST, JSON), (w.COST, STORM), (series.REST_COST, STORM))
CPU_SOURCES = ((w.CPU, JSON), (w.CPU, STORM), (series.REST_CPU, STORM))
FLOW_SOURCES = ((w.SENT, JSON), (w.RECEIVED, STORM))
"""Subjects and the kind of lines that tell them, the best first."""


@dataclass(frozen=True, slots=True)
class TopologyReader:
    """What the tables say of one topology.

    `collected` has rows of this topology only. Points of cpu are counted at
    `reference_hz`. `onheap` and `offheap` are by component, as `memory_weights` gives them.
    """

    topology: Topology
    collected: Collected
    reference_hz: int
    onheap: Mapping[str, Weight]
    offheap: Mapping[str, Weight]

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        """Components that a stream joins, each pair once."""
        return list(dict.fromkeys((one.source, one.target) for one in self.topology.streams))

    def _between(self, source: str, target: str) -> list[Stream]:
        return [
            one for one in self.topology.streams if (one.source, one.target) == (source, target)
        ]

    def _first(
        self, among: Sequence[tuple[str, str]], a: str, b: str | None = None
    ) -> tuple[Subject, Value] | None:
        """Return the first value that there is of some subjects and sources, and its key."""
        for subject, source in among:
            key = (subject, self.topology.id, source, a, b)
            if value := self.collected.values.get(key):
                return key, value
        return None

    def components(self) -> list[ComponentWeights]:
        """Return the weights of each component of which the logs have tasks."""
        tasks: dict[str, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
        for one in self.collected.presences:
            tasks[one.component][one.source, one.submission].add(one.task)
        return [
            ComponentWeights(
                self.topology.id,
                component.id,
                max(len(several) for several in tasks[component.id].values()),
                self._cost(component.id, GHZ_MS),
                self._cpu(component.id),
                self.onheap.get(component.id),
                self.offheap.get(component.id),
                self._cost(component.id, GHZ_MS * Fraction(10**9, self.reference_hz)),
            )
            for component in self.topology.placed_components
            if component.id in tasks
        ]

    def lines(self) -> list[Line]:
        """Return cpu of each component, and tuples of each joined pair, over time."""
        lines = []
        for component in self.topology.placed_components:
            if found := self._first(CPU_SOURCES, component.id):
                lines.append(self._line(component.id, "points", self._points(), found[0]))
        for a, b in self._pairs:
            if found := self._first(FLOW_SOURCES, a, b):
                scale = self._per_second(found[0])
                lines.append(self._line(f"{a} -> {b}", "tuples/s", scale, found[0]))
        return lines

    def _line(self, name: str, unit: str, scale: Fraction, key: Subject) -> Line:
        moments = (one for one in self.collected.timeline if one.subject == key)
        points = tuple((one.time, float(one.value * scale)) for one in moments)
        return Line(self.topology.id, name, unit, points)

    def _points(self) -> Fraction:
        """Return points of cpu per ns Hz in a microsecond."""
        return Fraction(100 * PER_SECOND, 10**9 * self.reference_hz)

    def _per_second(self, key: Subject) -> Fraction:
        """Return tuples per second in all, per tuple in a microsecond of one part."""
        return Fraction(self.collected.parts[key] * PER_SECOND)

    def _cost(self, component: str, scale: Fraction) -> Weight | None:
        found = self._first(COST_SOURCES, component)
        return found and weight_of(found[1], scale, found[0][0] == series.REST_COST)

    def _cpu(self, component: str) -> Weight | None:
        found = self._first(CPU_SOURCES, component)
        return found and weight_of(found[1], self._points(), found[0][0] == series.REST_CPU)

    def streams(self) -> list[StreamWeights]:
        """Return the weights of each pair of joined components that the logs tell something of."""
        streams = [
            StreamWeights(self.topology.id, *pair, self._received(*pair), self._size(*pair))
            for pair in self._pairs
        ]
        return [one for one in streams if one.received is not None or one.tuple_bytes is not None]

    def _size(self, source: str, target: str) -> Weight | None:
        if found := self._first([(w.SIZE, JSON), (w.SIZE, STORM)], source, target):
            return weight_of(found[1], Fraction(1))
        found = self._first([(SIZE_OF_SOME, STORM)], source, target)
        groupings = {one.grouping for one in self._between(source, target)}
        if found is None or not groupings.isdisjoint(LOCAL):
            return None
        return weight_of(found[1], Fraction(1), estimated=not groupings.issubset(EVEN))

    def _received(self, source: str, target: str) -> Weight | None:
        if found := self._first(FLOW_SOURCES, source, target):
            return weight_of(found[1], self._per_second(found[0]))
        return self._emitted(source, target)

    def _emitted(self, source: str, target: str) -> Weight | None:
        """Estimate what a target receives from what its source emits, if on one stream only."""
        mine = (w.EMITTED, self.topology.id, STORM, source)
        keys = [key for key in self.collected.values if key[:4] == mine]
        tasks = {one.id: one.parallelism for one in self.topology.placed_components}
        if len(keys) != 1:
            return None
        streams = self._between(source, target)
        copies = sum(tasks[target] if one.grouping == "all" else 1 for one in streams)
        scale = copies * self._per_second(keys[0])
        return weight_of(self.collected.values[keys[0]], scale, estimated=True)

    def notes(self, weights: Sequence[ComponentWeights]) -> list[str]:
        """Say which components and streams keep the values of the file, and why.

        `weights` are those of `components`.
        """
        name = self.topology.id
        measured_ids = {one.component for one in weights}
        absent = [o.id for o in self.topology.placed_components if o.id not in measured_ids]
        notes = [f"{name}/{one}: no samples; its demands stay as in the file" for one in absent]
        for resource in RESOURCES:
            untold = ", ".join(o.component for o in weights if getattr(o, resource) is None)
            if untold:
                notes.append(f"{name}: logs do not tell {resource} of {untold}; as in the file")
        measured = {(one.source, one.target) for one in self.streams()}
        notes += [
            f"{name}: {a} -> {b}: no samples; its rate stays as in the file"
            for a, b in self._pairs
            if (a, b) not in measured and a != b
        ]
        for source in (STORM, JSON):
            key = (name, source)
            if key in self.collected.overview and key not in self.collected.interval_s:
                notes.append(
                    f"{name}: one sample of each task; taken as {DEFAULT_INTERVAL_S:g} seconds"
                )
        return notes
