"""From the collected tables to a `Measured`: units, and the better of two sources for each weight.

JSON lines tell more than Storm's (CPU time, bytes, receiving tasks), so that theirs are taken where
a topology has both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from slotwise.benchmarks.statistics.schema import JSON, STORM
from slotwise.benchmarks.statistics.weights import memory, series
from slotwise.benchmarks.statistics.weights import windows as w
from slotwise.benchmarks.statistics.weights.measured import (
    ComponentWeights,
    Measured,
    PairCost,
    StreamWeights,
    TaskCost,
    TaskPlace,
    Weight,
    rounded,
)
from slotwise.benchmarks.statistics.weights.run import Collected, Seen, Value
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Topology

GHZ_MS = Fraction(1, 10**15)
"""A nanosecond times a hertz, in milliseconds times GHz."""
MB, KIB = 2**20, 2**10
DEFAULT_INTERVAL_S = 60.0
"""Of Storm's metrics (``topology.builtin.metrics.bucket.size.secs``)."""
WORKER = "-1"


def measured_of(
    instance: Instance,
    collected: Collected,
    statistic: str,
    window_s: int,
    thrown_away: Mapping[str, int] | None = None,
) -> Measured:
    """Return what the collected tables say of the topologies of `instance`.

    Parameters
    ----------
    instance
        The topology file.
    collected
        See `run.collect_weights`.
    statistic, window_s
        With which it was collected.
    thrown_away
        Reason -> lines kept aside; ``None`` = none.
    """
    ids = [one.id for one in instance.topologies]
    known = {key: one for key, one in collected.overview.items() if key[0] in ids}
    components, streams, notes = [], [], []
    for topology in instance.topologies:
        reader = _Reader(topology, collected)
        found = [reader.component(one) for one in topology.placed_components]
        components += [one for one in found if one is not None]
        streams += reader.streams()
        notes += reader.notes()
    return Measured(
        statistic=statistic,
        window_s=window_s,
        first=min(one.first for one in known.values()),
        last=max(one.last for one in known.values()),
        samples=sum(one.samples for one in known.values()),
        components=tuple(components),
        streams=tuple(streams),
        tasks=_task_costs(collected, ids),
        pairs=_pair_costs(collected, ids),
        places=_places(collected.seen, ids),
        thrown_away=dict(thrown_away or {}),
        notes=tuple([*notes, *_strangers(collected, ids)]),
    )


def _weight(value: Value, scale: Fraction, estimated: bool = False) -> Weight:
    low, high = (
        None if one is None else rounded(one * scale) for one in (value.low, value.high)
    )
    return Weight(rounded(value.value * scale), value.samples, low, high, estimated)


@dataclass(frozen=True, slots=True)
class _Reader:
    """What the tables say of one topology."""

    topology: Topology
    collected: Collected

    def _value(self, subject: str, source: str, a: str, b: str | None = None) -> Value | None:
        return self.collected.values.get((subject, self.topology.id, source, a, b))

    def _interval(self, source: str) -> Fraction:
        return interval(self.collected, self.topology.id, source)

    def component(self, component: Component) -> ComponentWeights | None:
        """Return the weights of a component; ``None`` = the logs have none of its tasks."""
        by_source: dict[str, set[str]] = defaultdict(set)
        for one in self.collected.seen:
            if (one.topology, one.component) == (self.topology.id, component.id):
                by_source[one.source].add(one.task)
        if not by_source:
            return None
        onheap, offheap = self._memory()
        return ComponentWeights(
            self.topology.id,
            component.id,
            max(len(tasks) for tasks in by_source.values()),
            self._cost(component.id),
            self._cpu(component.id),
            onheap.get(component.id),
            offheap.get(component.id),
        )

    def _cost(self, component: str) -> Weight | None:
        for subject, source in ((w.COST, JSON), (w.COST, STORM), (series.REST_COST, STORM)):
            if value := self._value(subject, source, component):
                return _weight(value, GHZ_MS, subject == series.REST_COST)
        return None

    def _cpu(self, component: str) -> Weight | None:
        reference = reference_hz(self.collected.clocks, self.collected.seen)
        for subject, source in ((w.CPU, JSON), (w.CPU, STORM), (series.REST_CPU, STORM)):
            if value := self._value(subject, source, component):
                interval_ns = self._interval(source) * 10**9
                points = Fraction(100) / (interval_ns * reference)
                return _weight(value, points, subject == series.REST_CPU)
        return None

    def _memory(self) -> tuple[dict[str, Weight], dict[str, Weight]]:
        """Return on-heap and off-heap memory of a task of each component."""
        heap = self._levels(w.HEAP)
        whole = self._levels(w.MEMORY)
        beside = {
            place: _difference(value, heap[place])
            for place, value in whole.items()
            if place in heap
        }
        return self._split(heap, "onheap_mb"), self._split(beside, "offheap_mb")

    def _levels(self, kind: str) -> dict[tuple[str, str], Value]:
        return {
            (a, b or ""): value
            for (subject, topology, _, a, b), value in self.collected.values.items()
            if (subject, topology) == (kind, self.topology.id) and a is not None
        }

    def _split(self, levels: Mapping[tuple[str, str], Value], resource: str) -> dict[str, Weight]:
        placed = compositions(self.collected.seen, self.topology.id)
        used = {place: value for place, value in levels.items() if placed.get(place)}
        if not used:
            return {}
        workers = [placed[place] for place in used]
        declared = {
            one.id: float(one.resources.get(resource, 0)) for one in self.topology.placed_components
        }
        bounds = [
            memory.split(workers, [float(one) for one in several], declared)
            for several in (
                [value.value for value in used.values()],
                [value.value if value.low is None else value.low for value in used.values()],
                [value.value if value.high is None else value.high for value in used.values()],
            )
        ]
        sure = all(value.low is not None and value.high is not None for value in used.values())
        return {
            name: _weight(
                Value(
                    Fraction(value),
                    sum(one.samples for place, one in used.items() if name in placed[place]),
                    Fraction(min(value, bounds[1][name])) if sure else None,
                    Fraction(max(value, bounds[2][name])) if sure else None,
                ),
                Fraction(1, MB),
                estimated=any(name in one and len(one) > 1 for one in workers),
            )
            for name, value in bounds[0].items()
        }

    def streams(self) -> list[StreamWeights]:
        """Return the weights of each pair of joined components that the logs tell something of."""
        pairs = dict.fromkeys((one.source, one.target) for one in self.topology.streams)
        found = [
            StreamWeights(self.topology.id, *pair, self._received(*pair), self._size(*pair))
            for pair in pairs
        ]
        return [one for one in found if one.received is not None or one.tuple_bytes is not None]

    def _size(self, source: str, target: str) -> Weight | None:
        value = self._value(w.SIZE, JSON, source, target)
        return None if value is None else _weight(value, Fraction(1))

    def _received(self, source: str, target: str) -> Weight | None:
        for subject, lines in ((w.SENT, JSON), (w.RECEIVED, STORM)):
            if value := self._value(subject, lines, source, target):
                key = (subject, self.topology.id, lines, source, target)
                return _weight(value, self.collected.parts[key] / self._interval(lines))
        return self._emitted(source, target)

    def _emitted(self, source: str, target: str) -> Weight | None:
        """Estimate what a target receives from what its source emits, if on one stream only."""
        mine = ("emitted", self.topology.id, STORM, source)
        keys = [key for key in self.collected.values if key[:4] == mine]
        tasks = {one.id: one.parallelism for one in self.topology.placed_components}
        ends = [one for one in self.topology.streams if (one.source, one.target) == (source, target)]
        if len(keys) != 1:
            return None
        copies = sum(tasks[target] if one.grouping == "all" else 1 for one in ends)
        scale = copies * self.collected.parts[keys[0]] / self._interval(STORM)
        return _weight(self.collected.values[keys[0]], scale, estimated=True)

    def notes(self) -> list[str]:
        """Say which components and streams keep the values of the file, and why."""
        name = self.topology.id
        seen = {one.component for one in self.collected.seen if one.topology == name}
        absent = [one.id for one in self.topology.placed_components if one.id not in seen]
        found = [f"{name}/{one}: no samples; its demands stay as in the file" for one in absent]
        measured = {(one.source, one.target) for one in self.streams()}
        ends = dict.fromkeys((one.source, one.target) for one in self.topology.streams)
        found += [
            f"{name}: {a} -> {b}: no samples; its rate stays as in the file"
            for a, b in ends
            if (a, b) not in measured and a != b
        ]
        for source in (STORM, JSON):
            key = (name, source)
            if key in self.collected.overview and key not in self.collected.interval_s:
                found.append(
                    f"{name}: one sample of each task; taken as {DEFAULT_INTERVAL_S:g} seconds"
                )
        return found


def interval(collected: Collected, topology: str, source: str) -> Fraction:
    """Return the seconds between two samples of a task."""
    return Fraction(str(collected.interval_s.get((topology, source), DEFAULT_INTERVAL_S)))


def reference_hz(clocks: Mapping[str, int], seen: Iterable[Seen]) -> int:
    """Return the clock rate that points of cpu are counted at: that of the slowest known node.

    A demand in these points is enough on every node, and too much on faster ones.
    """
    used = {one.node for one in seen}
    return min((hz for node, hz in clocks.items() if node in used), default=w.DEFAULT_HZ)


def compositions(seen: Iterable[Seen], topology: str) -> dict[tuple[str, str], dict[str, float]]:
    """Return (node, worker) -> component -> number of its tasks in it, on average over windows."""
    mine = [one for one in seen if one.topology == topology and one.source == STORM]
    windows: dict[tuple[str, str], int] = defaultdict(int)
    for one in mine:
        place = (one.node, str(one.worker))
        windows[place] = max(windows[place], one.windows)
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for one in mine:
        if one.task != WORKER:
            place = (one.node, str(one.worker))
            found[place][one.component] += one.windows / windows[place]
    return {place: dict(counts) for place, counts in found.items()}


def _difference(whole: Value, heap: Value) -> Value:
    rest = max(whole.value - heap.value, Fraction(0))
    low, high = None, None
    if whole.low is not None and whole.high is not None:
        low = max(whole.low - heap.value, Fraction(0))
        high = max(whole.high - heap.value, Fraction(0))
    return Value(rest, whole.samples, low, high)


def _task_costs(collected: Collected, ids: list[str]) -> tuple[TaskCost, ...]:
    found = [
        TaskCost(topology, component, task, _weight(value, GHZ_MS))
        for (subject, topology, _, component, task), value in collected.values.items()
        if subject == series.TASK_COST and topology in ids and component and task
    ]
    return tuple(sorted(found, key=lambda one: (one.topology, one.component, one.task)))


def _pair_costs(collected: Collected, ids: list[str]) -> tuple[PairCost, ...]:
    pairs: dict[tuple[str, str, str], dict[str, Weight]] = defaultdict(dict)
    for (subject, topology, source, a, b), value in collected.values.items():
        if topology in ids and a and b and subject in (series.PAIR_SIZE, series.PAIR_VOLUME):
            seconds = interval(collected, topology, source)
            scale = Fraction(1, KIB) / (seconds if subject == series.PAIR_VOLUME else 1)
            pairs[topology, a, b][subject] = _weight(value, scale)
    return tuple(
        PairCost(*key, costs.get(series.PAIR_SIZE), costs.get(series.PAIR_VOLUME))
        for key, costs in sorted(pairs.items())
    )


def _places(seen: Iterable[Seen], ids: list[str]) -> tuple[TaskPlace, ...]:
    """Return where each task ran last; Storm's lines know the worker, and go before JSON's."""
    tasks = [one for one in seen if one.topology in ids and one.task != WORKER]
    storms = {(one.topology, one.component) for one in tasks if one.source == STORM}
    latest: dict[tuple[str, str, str], Seen] = {}
    for one in tasks:
        if one.source == STORM or (one.topology, one.component) not in storms:
            key = (one.topology, one.component, one.task)
            if key not in latest or one.last > latest[key].last:
                latest[key] = one
    return tuple(
        TaskPlace(*key, one.node, one.worker, one.last) for key, one in sorted(latest.items())
    )


def _strangers(collected: Collected, ids: list[str]) -> list[str]:
    names = sorted({topology for topology, _ in collected.overview} - set(ids))
    return [f"topology {one}: in the logs, not in the file; left out" for one in names]
