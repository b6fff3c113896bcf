"""From a folder of logs to a `Measured`: tables, weights, and the names of the topology file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.instance.instance import Instance
from slotwise.pipeline.statistics.manifest import (
    NAME,
    SUMS_FOLDER,
    LogFile,
    load,
    log_files,
    not_of_tables,
)
from slotwise.pipeline.statistics.reading import JSON_FILES, STORM_FILES, Reading
from slotwise.pipeline.statistics.schema import HARMLESS, IMPOSSIBLE
from slotwise.pipeline.statistics.weights.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from slotwise.pipeline.statistics.run import Tables
    from slotwise.pipeline.statistics.weights.collected import Collected, Subject

Say = Callable[[str], None]

STORM_ID = re.compile(r"-\d+-\d+$")
"""What Storm appends to a topology's name when it is submitted."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How weights are made of samples.

    Parameters
    ----------
    statistic
        ``mean``, ``p50``, ``p95`` or ``max``.
    window_s
        Length of a window, whole seconds.
    clocks
        Node -> clock rate in Hz, where lines do not state it.
    interval_s
        Seconds between two samples of a task; ``None`` = recognised.
    zone
        Time zone of the collector's log.
    last_s
        How much of the end of the logs counts, whole windows, seconds; ``None`` = all of them.
    """

    statistic: str = "mean"
    window_s: int = 60
    clocks: Mapping[str, int] = field(default_factory=dict)
    interval_s: float | None = None
    zone: str = "UTC"
    last_s: int | None = None


def measure_logs(
    spark: SparkSession,
    logs: Path,
    instance: Instance,
    settings: Settings,
    store: Path | None,
    say: Say = lambda _: None,
    aside: Path | None = None,
) -> Measured:
    """Measure the topologies of `instance` by the logs in a folder.

    Parameters
    ----------
    spark
        A session.
    logs
        The folder.
    instance
        The topology file.
    settings
        See `Settings`.
    store
        Folder for the tables, so that the next run reads new files only; ``None`` = none is kept.
    say
        Called with what is done next.
    aside
        The file that gets the lines kept aside, as CSV; ``None`` = none.

    Raises
    ------
    InputError
        When there are no logs, nothing in them is of the topologies, or the interval that was
        recognised cannot be believed.
    """
    collected, reasons = collect_logs(spark, logs, [instance], settings, store, say, aside)
    return _measured_of(instance, settings, in_names_of(instance, collected), reasons)


def measure_tables(
    spark: SparkSession, tables: Tables, instance: Instance, settings: Settings
) -> Measured | None:
    """Measure the topologies of `instance` by the tables of logs; what is summed stays beside them.

    Returns
    -------
    Measured or None
        ``None`` = no sample is of the topologies.

    Raises
    ------
    InputError
        When the interval that was recognised cannot be believed, or clock rates are missing.
    """
    collected, reasons = collect_tables(spark, tables, settings, tables.folder, are_kept=True)
    named = in_names_of(instance, collected)
    there = {topology for topology, _ in named.overview}
    if there.isdisjoint(one.id for one in instance.topologies):
        return None
    return _measured_of(instance, settings, named, reasons)


def _measured_of(
    instance: Instance, settings: Settings, named: Collected, reasons: Mapping[str, int]
) -> Measured:
    from slotwise.pipeline.statistics.weights.coverage import refuse_thinned
    from slotwise.pipeline.statistics.weights.measure import measured_of

    check_clocks(named)
    refuse_thinned(instance, named)
    return measured_of(instance, named, settings.statistic, settings.window_s, reasons)


MOST_DAMAGED = 0.05
"""Share of damaged lines above which there are no weights unless the caller accepts it."""


def refuse_damaged(measured: Measured) -> None:
    """Refuse weights of logs of which more than `MOST_DAMAGED` of the lines are damaged.

    Raises
    ------
    InputError
        With share and reasons.
    """
    if measured.damaged <= MOST_DAMAGED * measured.lines_read:
        return
    share = 100 * measured.damaged / measured.lines_read
    counts = (f"{n} {why}" for why, n in measured.thrown_away.items() if why not in HARMLESS)
    rule = (
        f"are damaged in {share:.1f} % of {measured.lines_read} lines ({', '.join(counts)}), more "
        f"than {100 * MOST_DAMAGED:g} %: nothing is written; `aside` says which they are: "
        "mend how they are collected, or take the other lines with `accept_damaged`"
    )
    raise InputError(rule, field="logs", has_value=False)


def collect_logs(
    spark: SparkSession,
    logs: Path,
    instances: Sequence[Instance],
    settings: Settings,
    store: Path | None,
    say: Say = lambda _: None,
    aside: Path | None = None,
) -> tuple[Collected, dict[str, int]]:
    """Return the small tables of a folder of logs, and reason -> lines kept aside.

    The topologies of all `instances` have different ids; see `measure_logs` for the rest.
    """
    from slotwise.pipeline.statistics.quarantine import as_csv
    from slotwise.pipeline.statistics.run import update

    with _folder(store) as folder:
        tables = update(spark, logs, folder, reading_of(instances, settings), say)
        if not tables.manifest.files:
            raise no_logs(logs)
        if aside is not None:
            say("writing the lines kept aside")
            write_atomically(aside, as_csv(tables.quarantine(spark)))
        # A store without new lines is only read, and may be one that nobody may write.
        is_writable = os.access(folder, os.W_OK)
        are_kept = is_writable and store is not None
        with _folder(folder if is_writable else None) as writable:
            return collect_tables(spark, tables, settings, writable, say, are_kept=are_kept)


def collect_tables(
    spark: SparkSession,
    tables: Tables,
    settings: Settings,
    folder: Path,
    say: Say = lambda _: None,
    *,
    are_kept: bool,
) -> tuple[Collected, dict[str, int]]:
    """Return the small tables of the tables of logs, and reason -> lines kept aside.

    `folder` gets their sums and scratch tables, and if they `are_kept` for a next call, what is
    made of the sums of each day; see `measure_logs` for the rest.
    """
    from slotwise.pipeline.spark.scratch import scratch
    from slotwise.pipeline.statistics.run import sized
    from slotwise.pipeline.statistics.weights.days import day_tables
    from slotwise.pipeline.statistics.weights.facts import collect_facts
    from slotwise.pipeline.statistics.weights.rules import rules_of
    from slotwise.pipeline.statistics.weights.run import collect_coverage, collect_sums
    from slotwise.pipeline.statistics.weights.statistic import table_of
    from slotwise.pipeline.statistics.weights.sums import update_sums

    with sized(spark, tables.manifest.files), scratch(folder) as stored:
        say("summing")
        sums = update_sums(spark, tables, settings.window_s, folder / SUMS_FOLDER)
        facts = collect_facts(sums.facts(spark))
        unreadable, reasons = facts.unreadable, dict(facts.kept_aside)
        if sums.busy:
            reasons[IMPOSSIBLE] = reasons.get(IMPOSSIBLE, 0) + sums.busy
        if settings.last_s is not None:
            sums = sums.last(spark, settings.last_s)
            facts = collect_facts(sums.facts(spark))
        rules = rules_of(facts, settings.window_s, settings.clocks, settings.interval_s)
        needed = table_of(settings.statistic)
        of_days = day_tables(spark, sums, rules, stored, needed, are_kept=are_kept)
        say("computing weights")
        collected = collect_sums(
            sums.windows(spark, of_days.new, rules),
            facts,
            rules,
            settings.statistic,
            of_days,
            stored,
            has_message_sizes=sums.outside > 0,
        )
        say("comparing with what should be there")
        reports = sums.reports(spark, of_days.new, rules)
        covered, signs = collect_coverage(reports, facts, rules, of_days)
        of_days.keep()
        collected = replace(
            collected,
            unreadable=unreadable,
            covered=covered,
            lines=sum(one.lines for one in tables.manifest.files.values()),
            is_stated=rules.is_stated,
            signs=signs,
        )
        return collected, reasons


def check_logs(logs: Path) -> None:
    """Refuse a folder without logs, before Spark starts."""
    if not any(log_files(logs)):
        raise no_logs(logs)


def check_store(store: Path, logs: Path, reading: Reading) -> Mapping[str, LogFile]:
    """Return the files that a store has of these logs, before Spark starts.

    Raises
    ------
    InputError
        If it is a file, among the logs, or holds something else, or tables of other options.
    """
    rule = ""
    if store.resolve().is_relative_to(logs.resolve()):
        rule = "is in the folder of logs; name a folder of its own"
    elif store.exists() and not store.is_dir():
        rule = "is a file; name a folder"
    elif store.is_dir() and not (store / NAME).is_file() and (others := not_of_tables(store)):
        rule = f"holds {others[0]!r} and no tables of logs; name an empty folder"
    if rule:
        raise InputError(rule, field="store", value=str(store))
    read = load(store, reading).files
    if not read:
        check_logs(logs)
    return read


def no_logs(logs: Path) -> InputError:
    """Return the error of a folder without logs."""
    rule = f"has no logs: no file is named {STORM_FILES} (Storm) or {JSON_FILES} (JSON lines)"
    return InputError(rule, field="logs", value=str(logs))


@contextmanager
def _folder(store: Path | None) -> Iterator[Path]:
    # After Ctrl-C Spark may still write for a moment.
    temporary = (
        TemporaryDirectory(prefix="slotwise-measure-", ignore_cleanup_errors=True)
        if store is None
        else None
    )
    with nullcontext(str(store)) if temporary is None else temporary as name:
        yield Path(name)


def reading_of(instances: Sequence[Instance], settings: Settings) -> Reading:
    """Return what the reader of lines must know of the topology files."""
    topologies = [one for instance in instances for one in instance.topologies]
    components = {one.id: tuple(c.id for c in one.placed_components) for one in topologies}
    names = {STORM_ID.sub("", key): ids for key, ids in components.items()}
    alone = topologies[0].id if len(topologies) == 1 else instances[0].name
    return Reading(topology=alone, components={**names, **components}, zone=settings.zone)


def in_names_of(instance: Instance, collected: Collected) -> Collected:
    """Return the tables with the ids of the file for topologies that it has by their Storm id.

    Logs name a topology without what Storm appends to its name when it is submitted.
    """
    there = {topology for topology, _ in collected.overview}
    ids = [one.id for one in instance.topologies]
    new = {STORM_ID.sub("", one): one for one in ids if STORM_ID.search(one)}
    new = {old: one for old, one in new.items() if old in there and old not in ids}
    if not new:
        return collected

    def named(topology: str) -> str:
        return new.get(topology, topology)

    def by_topology(table: Mapping[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
        return {(named(topology), source): one for (topology, source), one in table.items()}

    def subject(key: Subject) -> Subject:
        return (key[0], named(key[1]), *key[2:])

    return replace(
        collected,
        overview=by_topology(collected.overview),
        interval_s=by_topology(collected.interval_s),
        signs=by_topology(collected.signs),
        values={subject(key): one for key, one in collected.values.items()},
        parts={subject(key): one for key, one in collected.parts.items()},
        presences=tuple(replace(one, topology=named(one.topology)) for one in collected.presences),
        covered=tuple(replace(one, topology=named(one.topology)) for one in collected.covered),
        timeline=tuple(replace(one, subject=subject(one.subject)) for one in collected.timeline),
    )


def check_clocks(collected: Collected) -> None:
    """Refuse clock rates that lack a node of the logs: GHz times ms need all or none.

    The node of a pair of tasks is optional; lines without one have no time of a processor.
    """
    nodes = {one.node for one in collected.presences if one.node}
    lacking = sorted(nodes - set(collected.clocks))
    if collected.clocks and lacking:
        rule = "has no clock rate of this node, whose lines do not state it either; add it"
        raise InputError(rule, field="ghz", value=lacking[0])
