"""Sums of the parts of a folder's tables, kept beside them: only parts with new lines are summed.

Everything kept of a part is a sum, a minimum or a maximum of integers, so that what is made of all
parts is the same, to the last digit, as what is made of all lines at once.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from slotwise.models.errors import in_file
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.json_text import parse_json
from slotwise.pipeline.spark.session import aggregated_once
from slotwise.pipeline.statistics.columns import utc_day
from slotwise.pipeline.statistics.manifest import JUDGED_FOLDER, Part
from slotwise.pipeline.statistics.run import Tables, part_folder, read_parts, write_parts
from slotwise.pipeline.statistics.schema import PLACE
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.facts import FACTS, facts_of

DAY_S = 86_400
ENOUGH = 0.2
"""Share of the samples of a usual window, with which a window may be the last one of the logs."""
_BYTES_PER_BUCKET = 2 << 20
"""Of samples as they are stored, some hundred thousand."""
_FILE = "parts.json"


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums of all parts.

    Parameters
    ----------
    folder
        Where they are.
    parts
        Part -> the number of the table that has its sums.
    window_s
        Length of a window, seconds.
    since_s
        When the first window begins, seconds since 1970; ``None`` = of all there are.
    """

    folder: Path
    parts: Mapping[Part, int]
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
            part: n for part, n in self.parts.items() if part[1] is not None and part[1] >= day
        }
        return replace(self, parts=later, since_s=since_s)

    def of_these_windows(self, rows: DataFrame, time: str) -> DataFrame:
        """Give the rows whose column `time` is in these windows or begins one of them."""
        if self.since_s is None:
            return rows
        return rows.where(fn.col(time) >= fn.timestamp_seconds(fn.lit(self.since_s)))

    def windows(self, spark: SparkSession) -> DataFrame:
        """Give `WINDOWS`, one row for each of a window."""
        schema = f"{w.WINDOWS}, day date"
        stored = read_parts(spark, schema, self.folder / "windows", self.parts)
        several = self.of_these_windows(stored, "start")
        if DAY_S % self.window_s:
            return w.merged(several)
        # The day of a part is that of the receipt: some samples belong to a window of another day.
        strays = several.where(fn.col("day") != utc_day(fn.col("start"))).select("start").distinct()
        split = several.join(fn.broadcast(strays), "start", "left_semi")
        whole = several.join(fn.broadcast(strays), "start", "left_anti")
        return whole.select(*w.columns()).unionByName(w.merged(split))

    def facts(self, spark: SparkSession) -> DataFrame:
        """Give `FACTS`."""
        stored = read_parts(spark, FACTS, self.folder / "facts", self.parts)
        return self.of_these_windows(stored, "start")


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
    made_of = f"{w.WINDOWS} {FACTS} {w.MOST_BUSY}"
    wanted, there = tables.manifest.parts, _read(mine / _FILE, made_of)
    new = {part: run for part, run in wanted.items() if there.get(part, (None, 0))[0] != run}
    if new:
        number = max((number for _, number in there.values()), default=0) + 1
        judged = tables.judged(spark, new)
        samples = _with_bucket(judged.where("is_sample"), tables, new)
        intervals = w.by_interval(samples, "day", "bucket")
        windows = w.by_window(intervals, window_s, "day", "bucket").drop("bucket")
        tables_of_sums = (
            ("windows", windows, aggregated_once(spark)),
            ("facts", facts_of(judged, window_s, "day"), nullcontext()),
        )
        for name, rows, aggregating in tables_of_sums:
            # A run that was killed may have left some of them.
            shutil.rmtree(mine / name / f"run={number}", ignore_errors=True)
            with aggregating:
                write_parts(rows, mine / name, number)
        there = {part: there[part] for part in wanted if part not in new}
        there |= {part: (run, number) for part, run in new.items()}
        numbers = [[*part, *two] for part, two in there.items()]
        write_atomically(mine / _FILE, json.dumps({"made_of": made_of, "parts": numbers}) + "\n")
        _remove_unnamed(mine, there)
    return Sums(mine, {part: number for part, (_, number) in there.items()}, window_s)


def _with_bucket(samples: DataFrame, tables: Tables, parts: Mapping[Part, int]) -> DataFrame:
    """Add `bucket`: the places of a part in as many buckets as its size needs.

    A part and a bucket are summed together, so that a part is written to as many files.
    """
    counts = []
    for (topology, day), run in parts.items():
        folder = part_folder(tables.folder / JUDGED_FOLDER, run, (topology, day))
        size = sum(path.stat().st_size for path in folder.glob("*.parquet"))
        counts.append((unquote(topology), day, max(1, size // _BYTES_PER_BUCKET)))
    spark = samples.sparkSession
    frame = spark.createDataFrame(counts, "its_topology string, its_day string, buckets bigint")
    is_its_day = fn.col("day").cast("string").eqNullSafe(fn.col("its_day"))
    is_its = (fn.col("topology") == fn.col("its_topology")) & is_its_day
    joined = samples.join(fn.broadcast(frame), is_its)
    return joined.withColumn("bucket", fn.pmod(fn.xxhash64(*PLACE), "buckets"))


def _read(path: Path, made_of: str) -> dict[Part, tuple[int, int]]:
    """Return part -> the run whose rows were summed, the number of the table with the sums."""
    if not path.is_file():
        return {}
    with in_file(str(path)):
        document = parse_json(path.read_text("utf-8"))
    if document["made_of"] != made_of:
        return {}
    return {(topology, day): (run, number) for topology, day, run, number in document["parts"]}


def _remove_unnamed(folder: Path, parts: Mapping[Part, tuple[int, int]]) -> None:
    for name in ("windows", "facts"):
        named = {part_folder(folder / name, number, part) for part, (_, number) in parts.items()}
        for path in (folder / name).glob("run=*/topology=*/day=*"):
            if path not in named:
                shutil.rmtree(path)
