"""Sums of the parts of a folder's tables, kept beside them: only parts with new lines are summed.

Everything kept of a part is a sum, a minimum or a maximum of integers, so that what is made of all
parts is the same, to the last digit, as what is made of all lines at once.

The day of a part is that of the receipt; the windows of a day are mostly in the part of this day,
and some that end at midnight in that of the next one.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as fn

from slotwise.models.formats.file_bytes import write_atomically
from slotwise.pipeline.spark.session import aggregated_once
from slotwise.pipeline.statistics.columns import utc_day
from slotwise.pipeline.statistics.manifest import JUDGED_FOLDER, Part
from slotwise.pipeline.statistics.parts import (
    is_in,
    load_json,
    part_folder,
    read_parts,
    remove_others,
    whole_parts,
    with_bucket,
    write_parts,
)
from slotwise.pipeline.statistics.run import Tables
from slotwise.pipeline.statistics.schema import PLACE, names
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.coverage import REPORTS, reports_of
from slotwise.pipeline.statistics.weights.facts import FACTS, facts_of
from slotwise.pipeline.statistics.weights.rules import Rules

ENOUGH = 0.2
"""Share of the samples of a usual window, with which a window may be the last one of the logs."""
TABLES = ("windows", "reports", "facts")
_FILE = "parts.json"
MADE_OF = f"{w.WINDOWS} {FACTS} {REPORTS} {w.MOST_BUSY}"


@dataclass(frozen=True, slots=True)
class OfDay:
    """What a part has of the windows of one day and one kind of lines.

    Parameters
    ----------
    day
        Of the windows, UTC, ISO.
    source
        `STORM` or `JSON`.
    nodes
        Nodes of the windows, in order.
    busy, outside
        Numbers of samples of the kinds ``busy`` and ``from outside``.
    """

    day: str
    source: str
    nodes: tuple[str, ...]
    busy: int
    outside: int


@dataclass(frozen=True, slots=True)
class PartSums:
    """The `number` of the tables that have the sums of a part, and what they have of which day."""

    number: int
    of_days: tuple[OfDay, ...]


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums of all parts.

    Parameters
    ----------
    folder
        Where they are.
    parts
        Part -> its sums.
    window_s
        Length of a window, seconds.
    since_s
        When the first window begins, seconds since 1970; ``None`` = of all there are.
    """

    folder: Path
    parts: Mapping[Part, PartSums]
    window_s: int
    since_s: int | None = None

    def last(self, spark: SparkSession, last_s: int) -> Sums:
        """Return the sums of the last `last_s` seconds of the logs, whole windows; runs two jobs.

        The logs end with their last window that has `ENOUGH` of the samples of a usual one: the
        clock of a line or two may be ahead. What comes after that window counts, too.
        """
        samples = self.facts(spark).where("samples > 0").groupBy("start")
        counts = samples.agg(fn.sum("samples").alias("samples"))
        (usual,) = counts.agg(fn.median("samples")).collect()[0]
        if usual is None:  # no line has a sample
            return self
        full = counts.where(fn.col("samples") >= ENOUGH * usual)
        (start_s,) = full.agg(fn.unix_seconds(fn.max("start"))).collect()[0]
        since_s = start_s + self.window_s - last_s
        # The day of a part is that of the receipt, by another clock than that of the samples.
        first = datetime.fromtimestamp(since_s, UTC).date() - timedelta(days=1)
        day = first.isoformat()
        later = {
            part: its for part, its in self.parts.items() if part[1] is not None and part[1] >= day
        }
        return replace(self, parts=later, since_s=since_s)

    @property
    def outside(self) -> int:
        """The number of samples of the kind ``from outside``."""
        return sum(one.outside for its in self.parts.values() for one in its.of_days)

    def days(self, rules: Rules) -> dict[Part, dict[Part, list[OfDay]]]:
        """Return topology and day of windows -> the parts that have some of them, and what.

        The day is that of the rules, which may be all days together.
        """
        first = "" if self.since_s is None else _day(self.since_s)
        days: dict[Part, dict[Part, list[OfDay]]] = defaultdict(lambda: defaultdict(list))
        for part, its in self.parts.items():
            for one in its.of_days:
                if one.day >= first:
                    day = rules.day(unquote(part[0]), one.source, one.day)
                    days[part[0], day][part].append(one)
        return days

    @property
    def busy(self) -> int:
        """The number of samples of the kind ``busy``."""
        return sum(one.busy for its in self.parts.values() for one in its.of_days)

    def windows(self, spark: SparkSession, days: Collection[Part], rules: Rules) -> DataFrame:
        """Give `WINDOWS` with their `day`, those of some `days`, one row for each of a window."""
        schema = f"{w.WINDOWS}, day date"
        several = self._of_days(spark, schema, "windows", "start", days, rules)
        if w.DAY_S % self.window_s:
            rows = w.merged(several)
        else:
            # The day of a part is that of the receipt.
            is_stray = fn.col("day") != utc_day(fn.col("start"))
            strays = fn.broadcast(several.where(is_stray).select("start").distinct())
            whole = several.join(strays, "start", "left_anti").select(*names(w.WINDOWS))
            rows = whole.unionByName(w.merged(several.join(strays, "start", "left_semi")))
        return rows.withColumn("day", rules.day_of("start"))

    def reports(self, spark: SparkSession, days: Collection[Part], rules: Rules) -> DataFrame:
        """Give `REPORTS` of some `days`."""
        rows = self._of_days(spark, REPORTS, "reports", "time", days, rules)
        return rows.withColumn("day", rules.day_of("time"))

    def window_folders(self, parts: Iterable[Part]) -> list[Path]:
        """Return where the windows of some parts are."""
        return [part_folder(self.folder / "windows", self.parts[one].number, one) for one in parts]

    def since_of(self, day: Part) -> int | None:
        """Return `since_s` if a day has windows before it."""
        is_cut = self.since_s is not None and (day[1] or "") <= _day(self.since_s)
        return self.since_s if is_cut else None

    def facts(self, spark: SparkSession) -> DataFrame:
        """Give `FACTS`."""
        rows = read_parts(spark, FACTS, self.folder / "facts", self._numbers(self.parts))
        return self._since(rows, "start")

    def _of_days(
        self,
        spark: SparkSession,
        schema: str,
        table: str,
        time: str,
        days: Collection[Part],
        rules: Rules,
    ) -> DataFrame:
        """Give the rows of a table whose column `time` is in these windows, of some days."""
        mine = self.days(rules)
        parts = {part for day in days for part in mine[day]}
        rows = read_parts(spark, schema, self.folder / table, self._numbers(parts))
        wanted = is_in(days, rules.day_of(time).cast("string"))
        return self._since(rows if len(days) == len(mine) else rows.where(wanted), time)

    def _since(self, rows: DataFrame, time: str) -> DataFrame:
        if self.since_s is None:
            return rows
        return rows.where(fn.col(time) >= fn.timestamp_seconds(fn.lit(self.since_s)))

    def _numbers(self, parts: Collection[Part]) -> list[tuple[Part, int]]:
        return [(part, self.parts[part].number) for part in parts]


def _day(time_s: int) -> str:
    return datetime.fromtimestamp(time_s, UTC).date().isoformat()


def update_sums(spark: SparkSession, tables: Tables, window_s: int, folder: Path) -> Sums:
    """Bring the sums in `folder` up to date with the tables.

    Parameters
    ----------
    spark
        A session.
    tables
        As they are now.
    window_s
        Length of a window, seconds.
    folder
        For sums of these tables alone; it may be new.
    """
    mine = folder / f"{window_s}s"
    wanted, there = tables.manifest.parts, _read(mine / _FILE)
    new = {part: run for part, run in wanted.items() if there.get(part, (None,))[0] != run}
    if new:
        number = max((its.number for _, its in there.values()), default=0) + 1
        judged = tables.judged(spark, new)
        samples = judged.where("is_sample")
        folders = {
            part: [part_folder(tables.folder / JUDGED_FOLDER, run, part)]
            for part, run in new.items()
        }
        spread = with_bucket(samples, folders, *PLACE)
        intervals = w.by_interval(spread, "day", "bucket")
        windows = w.by_window(intervals, window_s, "day", "bucket").drop("bucket")
        tables_of_sums = (windows, reports_of(samples, "day"), facts_of(judged, window_s, "day"))
        for name, rows in zip(TABLES, tables_of_sums, strict=True):
            # A run that was killed may have left some of them.
            shutil.rmtree(mine / name / f"run={number}", ignore_errors=True)
            with aggregated_once(spark) if rows is windows else nullcontext():
                write_parts(rows, mine / name, number)
        of_days = _of_days(spark, mine, [(part, number) for part in new])
        there = {part: there[part] for part in wanted if part not in new}
        there |= {part: (new[part], PartSums(number, of_days.get(part, ()))) for part in new}
        parts = [
            [*part, run, its.number, asdict(its)["of_days"]] for part, (run, its) in there.items()
        ]
        write_atomically(mine / _FILE, json.dumps({"made_of": MADE_OF, "parts": parts}) + "\n")
        for name in TABLES:
            remove_others(mine / name, ((part, its.number) for part, (_, its) in there.items()))
    return Sums(mine, {part: its for part, (_, its) in there.items()}, window_s)


def _of_days(
    spark: SparkSession, folder: Path, numbers: Collection[tuple[Part, int]]
) -> dict[Part, tuple[OfDay, ...]]:
    """Return what parts that were summed have of which day; runs a job."""
    nothing = {"node": fn.lit(None), "kind": fn.lit(None), "n": fn.lit(0)}
    facts = read_parts(spark, FACTS, folder / "facts", numbers).where("samples > 0")
    windows = read_parts(spark, f"{w.WINDOWS}, day date", folder / "windows", numbers)
    columns = ("topology", "day", "source", "start", *nothing)
    # Some metrics have no window: a worker's uptime, and what Storm itself sends.
    rows = windows.select(*columns).unionByName(facts.withColumns(nothing).select(*columns))

    def samples(kind: str) -> Column:
        return fn.sum(fn.when(fn.col("kind") == kind, fn.col("n")).otherwise(0))

    several = rows.groupBy("topology", "day", "source", utc_day(fn.col("start")).alias("of")).agg(
        fn.sort_array(fn.collect_set("node")).alias("nodes"),
        samples(w.BUSY).alias("busy"),
        samples(w.FROM_OUTSIDE).alias("outside"),
    )
    parts = {(unquote(topology), day): (topology, day) for (topology, day), _ in numbers}
    of_days: dict[Part, list[OfDay]] = defaultdict(list)
    for row in several.collect():
        part = parts[row.topology, None if row.day is None else row.day.isoformat()]
        its = OfDay(row.of.isoformat(), row.source, tuple(row.nodes), row.busy, row.outside)
        of_days[part].append(its)
    return {part: tuple(its) for part, its in of_days.items()}


def _read(path: Path) -> dict[Part, tuple[int, PartSums]]:
    """Return part -> the run whose rows were summed, and their sums.

    The run of a part of which a file is missing is 0, so that it is summed again.
    """
    if not path.is_file():
        return {}
    document = load_json(path)
    if document["made_of"] != MADE_OF:
        return {}
    there = {
        (topology, day): (run, PartSums(number, tuple(_of_day(**one) for one in of_days)))
        for topology, day, run, number, of_days in document["parts"]
    }
    numbers = [(part, its.number) for part, (_, its) in there.items()]
    whole = set.intersection(*(whole_parts(path.parent / name, numbers) for name in TABLES))
    return {
        part: (run if (part, its.number) in whole else 0, its) for part, (run, its) in there.items()
    }


def _of_day(nodes: Iterable[str], **fields: Any) -> OfDay:
    return OfDay(nodes=tuple(nodes), **fields)
