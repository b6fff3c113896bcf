"""What each day adds to the weights, summed once: a trigger computes only days with new lines.

A day here is one of the corrected time of samples. Its samples follow from the lines of that day
and of the two beside it: clocks and duplicates are judged by a node's own day, a running total by
the reading before it, at most `Reading.longest_gap_s` ago. That holds while no clock is wrong by
nearly a day; where one is, all lines have to be read.

Everything kept of a day is a sum or a maximum of integers, so that what is made of all days is the
same, to the last digit, as what is made of all lines at once.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from slotwise.models.errors import in_file
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.json_text import parse_json
from slotwise.pipeline.following.kept_lines import Kept
from slotwise.pipeline.spark.paths import literal
from slotwise.pipeline.spark.scratch import scratch
from slotwise.pipeline.statistics.quarantine import Cleaned, cleaned
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import struct
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.facts import FACTS, facts_of

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
    """

    folder: Path
    reading: Reading
    window_s: int

    def update(self, spark: SparkSession, kept: Kept) -> DayTable | None:
        """Return the sums of all days, computed where there are new lines.

        ``None``: a clock is wrong by so much that days cannot be told apart.
        """
        made_of = f"{w.WINDOWS} {FACTS} {self.reading} {self.window_s}"
        self.folder.mkdir(exist_ok=True)
        table = DayTable.read(self.folder, made_of)
        files = _files_beside(kept)
        stale = [
            day for day in files if day not in table.days or table.days[day].files != files[day]
        ]
        if stale:
            found = cleaned(kept.parsed(spark, _paths(kept, stale)), self.reading)
            if _most_skew_s(found) + self.reading.longest_gap_s >= DAY_S:
                return None
            new = self._days(found.samples, {day: files[day] for day in stale}, kept.batch)
            table = DayTable(made_of, {**table.days, **new})
            table.write(self.folder)
            self._tidy(table)
        return table

    def windows(self, spark: SparkSession, table: DayTable) -> DataFrame:
        """Return `WINDOWS` of all days."""
        several = spark.read.schema(struct(w.WINDOWS)).parquet(*self._parts(table, "windows"))
        return several if DAY_S % self.window_s == 0 else w.merged(several)

    def facts(self, spark: SparkSession, table: DayTable) -> DataFrame:
        """Return `FACTS` of all days."""
        return spark.read.schema(struct(FACTS)).parquet(*self._parts(table, "facts"))

    def _days(self, samples: DataFrame, stale: Mapping[date, Files], batch: int) -> dict[date, Day]:
        """Sum the days of `stale`; return what they are of."""
        from pyspark.sql import functions as fn

        with scratch(self.folder) as stored:
            days = stored(samples.where(fn.col("day").isin(*stale)))
            there = sorted(row.day for row in days.select("day").distinct().collect())
            for day in there:
                part = days.where(fn.col("day") == fn.lit(day))
                path = self.folder / f"{day}-{batch}"
                windows = w.by_window(w.by_interval(part), self.window_s)
                windows.write.mode("overwrite").parquet(str(path / "windows"))
                facts_of(part).write.mode("overwrite").parquet(str(path / "facts"))
        return {
            day: Day(files, f"{day}-{batch}" if day in there else None)
            for day, files in stale.items()
        }

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


Files = tuple[int, int, int]
"""How many files of lines there are of the day before, the day, and the day after."""


@dataclass(frozen=True, slots=True)
class Day:
    """What was computed of a day.

    Parameters
    ----------
    files
        Of what; files of lines are only ever added, so that their number says which.
    folder
        Where its sums are; ``None`` = it has no samples.
    """

    files: Files
    folder: str | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the day, JSON-ready."""
        return {"files": list(self.files), "folder": self.folder}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Day:
        """Return the day that `to_document` wrote."""
        before, itself, after = data["files"]
        return cls((before, itself, after), data["folder"])


@dataclass(frozen=True, slots=True)
class DayTable:
    """All days.

    Parameters
    ----------
    made_of
        How lines are judged and summed, in words; sums of anything else are not used.
    days
        By the corrected date of their samples.
    """

    FILE: ClassVar[str] = "days.json"

    made_of: str
    days: Mapping[date, Day]

    @classmethod
    def read(cls, folder: Path, made_of: str) -> DayTable:
        """Return the table in a folder; an empty one where there is none that is `made_of` that."""
        path = folder / cls.FILE
        if path.is_file():
            with in_file(str(path)):
                data = parse_json(path.read_text("utf-8"))
            if data["made_of"] == made_of:
                days = {date.fromisoformat(day): Day.of(one) for day, one in data["days"].items()}
                return cls(made_of, days)
        return cls(made_of, {})

    def write(self, folder: Path) -> None:
        """Put the table in the place of the one in the folder, in one step."""
        days = {str(day): one.to_document() for day, one in self.days.items()}
        write_atomically(folder / self.FILE, json.dumps({"made_of": self.made_of, "days": days}))

    def folders(self) -> list[str]:
        """Return the folders of all days that have samples."""
        return [one.folder for _, one in sorted(self.days.items()) if one.folder is not None]
