"""From the collected tables to a `Measured`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.pipeline.statistics.schema import JSON, STORM
from slotwise.pipeline.statistics.weights import series
from slotwise.pipeline.statistics.weights.collected import Collected
from slotwise.pipeline.statistics.weights.measured import (
    Coverage,
    Interval,
    Measured,
    PairCost,
    TaskCost,
    TaskPlace,
    Weight,
)
from slotwise.pipeline.statistics.weights.memory import WORKER, memory_weights
from slotwise.pipeline.statistics.weights.presence import Presence
from slotwise.pipeline.statistics.weights.topology_reader import TopologyReader
from slotwise.pipeline.statistics.weights.units import (
    GHZ_MS,
    KIB,
    PER_SECOND,
    reference_hz,
    weight_of,
)


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
        See `run.collect_sums`.
    statistic, window_s
        With which it was collected.
    thrown_away
        Reason -> lines kept aside; ``None`` = none.

    Raises
    ------
    InputError
        When the logs have no sample of any topology of the instance.
    """
    ids = dict.fromkeys(one.id for one in instance.topologies)  # in order
    known = {key: one for key, one in collected.overview.items() if key[0] in ids}
    if not known:
        raise nothing_measured(ids, collected)
    hz = reference_hz(collected.clocks, collected.presences)
    by_topology = collected.by_topology(ids)
    components, streams, lines, notes = [], [], [], []
    for topology in instance.topologies:
        mine = by_topology[topology.id]
        reader = TopologyReader(topology, mine, hz, *memory_weights(topology, mine))
        weights = reader.components()
        components += weights
        streams += reader.streams()
        lines += reader.lines()
        notes += reader.notes(weights)
    coverage = _coverage(instance, collected)
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
        places=_places(collected.presences, ids),
        thrown_away=dict(thrown_away or {}),
        lines=tuple(lines),
        lines_read=collected.lines,
        intervals=tuple(
            Interval(*key, seconds, collected.is_stated)
            for key, seconds in sorted(collected.interval_s.items())
            if key[0] in ids
        ),
        coverage=coverage,
        notes=(
            *(f"{one}; the file is left out" for one in collected.unreadable),
            *notes,
            *_lacking(coverage),
            *_strangers(collected, ids),
        ),
    )


def _coverage(instance: Instance, collected: Collected) -> tuple[Coverage, ...]:
    """Return how much of each component that the logs have is covered, in the file's order."""
    by_component = {(o.topology, o.component, o.source): o for o in collected.covered}
    return tuple(
        Coverage(
            topology.id,
            component.id,
            source,
            tasks=one.tasks,
            tasks_expected=component.parallelism,
            windows=one.windows,
            windows_expected=max(one.tasks, component.parallelism) * one.windows_of_task,
        )
        for topology in instance.topologies
        for component in topology.placed_components
        for source in (STORM, JSON)
        if (one := by_component.get((topology.id, component.id, source))) is not None
    )


ENOUGH = 0.9
"""Least share of windows that goes without a note."""


def _lacking(coverage: Iterable[Coverage]) -> Iterator[str]:
    """Say what is thinned, and where tasks are missing or too many."""
    for one in coverage:
        name = f"{one.topology}/{one.component}: its {one.source} lines have"
        if one.tasks != one.tasks_expected:
            yield (
                f"{name} {one.tasks} of {one.tasks_expected} tasks; rates are sums over the tasks "
                "that they have"
            )
        if one.share < ENOUGH:
            yield (
                f"{name} {100 * one.share:.0f} % of the windows; weights are those of these alone"
            )


def nothing_measured(ids: Collection[str], collected: Collected) -> InputError:
    """Return the error of logs that say nothing of the topologies of the file."""
    others = sorted({topology for topology, _ in collected.overview})
    named = f"the samples are of {', '.join(others)}" if others else "there is no sample at all"
    rule = f"have no sample of {', '.join(ids)}; {named}"
    return InputError(rule, field="logs", has_value=False)


def _task_costs(collected: Collected, ids: Collection[str]) -> tuple[TaskCost, ...]:
    costs = [
        TaskCost(topology, component, task, weight_of(value, GHZ_MS))
        for (subject, topology, _, component, task), value in collected.values.items()
        if subject == series.TASK_COST and topology in ids and component and task
    ]
    return tuple(sorted(costs, key=lambda one: (one.topology, one.component, one.task)))


def _pair_costs(collected: Collected, ids: Collection[str]) -> tuple[PairCost, ...]:
    pairs: dict[tuple[str, str, str], dict[str, Weight]] = defaultdict(dict)
    for (subject, topology, _, a, b), value in collected.values.items():
        if topology in ids and a and b and subject in (series.PAIR_SIZE, series.PAIR_VOLUME):
            scale = Fraction(PER_SECOND if subject == series.PAIR_VOLUME else 1, KIB)
            pairs[topology, a, b][subject] = weight_of(value, scale)
    return tuple(
        PairCost(*key, costs.get(series.PAIR_SIZE), costs.get(series.PAIR_VOLUME))
        for key, costs in sorted(pairs.items())
    )


def _places(presences: Iterable[Presence], ids: Collection[str]) -> tuple[TaskPlace, ...]:
    """Return where each task ran last; Storm's lines know the worker, and go before JSON's.

    Of a topology that was submitted several times, only the last one runs.
    """
    mine = sorted((one for one in presences if one.topology in ids), key=lambda one: one.last)
    runs = {(one.topology, one.source): one.submission for one in mine}
    running = [one for one in mine if one.submission == runs[one.topology, one.source]]
    tasks = [one for one in running if one.task != WORKER]
    storms = {(one.topology, one.component) for one in tasks if one.source == STORM}
    latest: dict[tuple[str, str, str], Presence] = {}
    for one in tasks:
        if not one.node:
            continue
        if one.source == STORM or (one.topology, one.component) not in storms:
            key = (one.topology, one.component, one.task)
            if key not in latest or one.last > latest[key].last:
                latest[key] = one
    return tuple(
        TaskPlace(*key, one.node, one.worker, one.last) for key, one in sorted(latest.items())
    )


def _strangers(collected: Collected, ids: Collection[str]) -> list[str]:
    names = sorted({topology for topology, _ in collected.overview} - set(ids))
    return [f"topology {one}: in the logs, not in the file; left out" for one in names]
