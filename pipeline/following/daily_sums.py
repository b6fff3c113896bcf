"""What each day adds to the weights, summed once: a trigger computes only days with new lines.

A day here is one of the corrected time of samples. Its samples follow from the lines of that day
and of the two beside it: clocks and duplicates are judged by a node's own day, a running total by
the reading before it, at most `Reading.longest_gap_s` ago. That holds while no clock is wrong by
nearly a day; where one is, all lines have to be read.

Everything kept of a day is a sum or a maximum of integers, so that what is made of all days is the
same, to the last digit, as what is made of all lines at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from slotwise.pipeline.following.day_table import Day, DayTable, Files
from slotwise.pipeline.following.kept_lines import Kept
from slotwise.pipeline.spark.paths import literal
from slotwise.pipeline.spark.scratch import scratch
from slotwise.pipeline.statistics.quarantine import Cleaned, cleaned
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import SAMPLES, names, struct
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.rhythm import of_first_tasks
from slotwise.pipeline.statistics.weights.run import clock_rates, overview

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAY_S = 86_400
BESIDE = (timedelta(-1), timedelta(0), timedelta(1))


@dataclass(frozen=True, slots=True)
class DailySums:
    """Keeps the sums of days in a folder.

    Parameters
    ----------
    folder
        Its own; whatever else is in it is removed.
    reading
        How lines are judged.
    window_s
        Length of a window, seconds.
    clocks
        Node -> Hz, as given; what lines say goes before.
    """

    folder: Path
    reading: Reading
    window_s: int
    clocks: Mapping[str, int]

    def update(self, spark: SparkSession, kept: Kept) -> DayTable | None:
        """Return the sums of all days, computed where there are new lines.

        ``None``: a clock is wrong by so much that days cannot be told apart.
        """
        made_of = f"{w.WINDOWS} {self.reading} {self.window_s} {sorted(self.clocks.items())}"
        self.folder.mkdir(exist_ok=True)
        table = DayTable.read(self.folder, made_of)
        files = _files_beside(kept)
        stale = [
            day for day in files if day not in table.days or table.days[day].files != files[day]
        ]
        while stale:
            found = cleaned(kept.parsed(spark, _paths(kept, stale)), self.reading)
            if _most_skew_s(found) + self.reading.longest_gap_s >= DAY_S:
                return None
            new = self._days(found.samples, {day: files[day] for day in stale}, kept.batch, table)
            if new is None:  # the sums of other days are of other clock rates
                table, stale = DayTable(made_of, {}, {}), list(files)
                continue
            table = new
            table.write(self.folder)
            self._tidy(table)
            break
        return table

    def windows(self, spark: SparkSession, table: DayTable) -> DataFrame:
        """Return `WINDOWS` of all days."""
        from pyspark.sql import functions as fn

        several = spark.read.schema(struct(w.WINDOWS)).parquet(*self._parts(table, "windows"))
        if DAY_S % self.window_s == 0:
            return several
        sums = {"y": "decimal(38,0)", "x": "decimal(38,0)", "n": "bigint", "open": "bigint"}
        keys = [name for name in several.columns if name not in (*sums, "first", "last", "head")]
        added = [fn.sum(name).cast(kind).alias(name) for name, kind in sums.items()]
        added += [fn.min("first").alias("first"), fn.max("last").alias("last")]
        added += [fn.min_by("head", "first").alias("head")]
        return several.groupBy(*keys).agg(*added).select(*several.columns)

    def first_tasks(self, spark: SparkSession, table: DayTable) -> DataFrame:
        """Return `SAMPLES` of one task a day, which tell the interval between two samples."""
        return spark.read.schema(struct(SAMPLES)).parquet(*self._parts(table, "first"))

    def _days(
        self, samples: DataFrame, stale: Mapping[date, Files], batch: int, table: DayTable
    ) -> DayTable | None:
        """Return the table with new sums of the days of `stale`; ``None``: all have to be new."""
        from pyspark.sql import functions as fn

        with scratch(self.folder) as stored:
            days = stored(samples.where(fn.col("day").isin(*stale)))
            there = sorted(row.day for row in days.select("day").distinct().collect())
            parts = {day: days.where(fn.col("day") == fn.lit(day)) for day in there}
            new = {day: Day(files) for day, files in stale.items()}
            for day, part in parts.items():
                folder = f"{day}-{batch}"
                new[day] = Day(stale[day], folder, overview(part), clock_rates(part))
            merged = DayTable(table.made_of, table.hz, {**table.days, **new})
            hz = {**self.clocks, **merged.stated_hz()}
            if hz != table.hz and not set(table.days) <= set(new):
                return None
            for day, part in parts.items():
                path = self.folder / f"{day}-{batch}"
                sums = w.by_window(w.by_interval(part), f"{self.window_s} seconds", hz)
                sums.write.mode("overwrite").parquet(str(path / "windows"))
                first = of_first_tasks(part).select(*names(SAMPLES))
                first.write.mode("overwrite").parquet(str(path / "first"))
            return replace(merged, hz=hz)

    def _parts(self, table: DayTable, name: str) -> list[str]:
        return [literal(self.folder / folder / name) for folder in table.folders()]

    def _tidy(self, table: DayTable) -> None:
        """Remove the sums that the table no longer names; after a crash, the next update does."""
        kept = {*table.folders(), DayTable.FILE}
        for path in self.folder.iterdir():
            if path.name not in kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _files_beside(kept: Kept) -> dict[date, Files]:
    """Return how many files there are of each day that may have samples and the two beside it."""
    files = kept.by_day()
    days = sorted({day + step for day in files for step in BESIDE})
    return {
        day: tuple(len(files.get(day + step, ())) for step in BESIDE)  # type: ignore[misc]
        for day in days
    }


def _paths(kept: Kept, days: Sequence[date]) -> list[str]:
    """Return the files that samples of these days may come from."""
    near = {day + step for day in days for step in BESIDE}
    return [path for day, paths in kept.by_day().items() if day in near for path in paths]


def _most_skew_s(found: Cleaned) -> int:
    from pyspark.sql import functions as fn

    row = found.clocks.agg(fn.max(fn.abs("skew_s")).alias("most")).first()
    return int((row and row.most) or 0)
