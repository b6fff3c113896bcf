"""The tables of logs, kept up to date.

A run reads lines that are new into ``lines`` (`PARSED`, a folder for each run): those of files that
are new or have changed (`update`), or of the next batch of a stream (`add_batch`). Then it judges
the days that they are in, and the days after these, into ``judged`` (`JUDGED`). Both are Parquet,
partitioned by topology and day. The manifest, written after each of the two, names what counts. A
run without new lines does nothing, and one that is killed while it judges has read the lines.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from slotwise.models.errors import InputError, SlotwiseError
from slotwise.pipeline.spark.paths import literal
from slotwise.pipeline.spark.scratch import remove_scratch
from slotwise.pipeline.spark.session import configured, job_errors
from slotwise.pipeline.statistics import manifest as files
from slotwise.pipeline.statistics.clock_skew import measure_skew
from slotwise.pipeline.statistics.json_lines import json_samples
from slotwise.pipeline.statistics.manifest import (
    CLOCKS_FOLDER,
    JUDGED_FOLDER,
    LINES_FOLDER,
    SUMS_FOLDER,
    LogFile,
    Manifest,
    Part,
)
from slotwise.pipeline.statistics.parsing import parse_lines
from slotwise.pipeline.statistics.parts import (
    is_in,
    read_parts,
    remove_others,
    write_parts,
    written_parts,
)
from slotwise.pipeline.statistics.quarantine import judge_lines, quarantine_of, samples_of
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import CLOCKS, JUDGED, PARSED, UNREADABLE, names, struct
from slotwise.pipeline.statistics.storm_lines import storm_samples
from slotwise.pipeline.statistics.unreadable import file_of, unreadable

_BYTES_PER_PARTITION = 16 << 20
_MOST_PARTITIONS = 400


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a folder, as of one run.

    Attributes
    ----------
    folder
        Where they are.
    manifest
        What they hold.
    read
        The files that this run read.
    """

    folder: Path
    manifest: Manifest
    read: tuple[str, ...]

    @property
    def last_batch(self) -> int:
        """The number of the last batch of a stream that they hold; -1 = none yet."""
        return self.manifest.next_run - 2

    def samples(self, spark: SparkSession, parts: Collection[Part] | None = None) -> DataFrame:
        """Give `SAMPLES` of some parts; ``None`` = of all."""
        return samples_of(self.judged(spark, parts))

    def quarantine(self, spark: SparkSession) -> DataFrame:
        """Give `QUARANTINE`."""
        return quarantine_of(self.judged(spark))

    def clocks(self, spark: SparkSession) -> DataFrame:
        """Give `CLOCKS`."""
        rows = read_parts(spark, CLOCKS, self.folder / CLOCKS_FOLDER, self.manifest.parts.items())
        return rows.select(*names(CLOCKS))

    def judged(self, spark: SparkSession, parts: Collection[Part] | None = None) -> DataFrame:
        """Give `JUDGED` of some parts; ``None`` = of all."""
        runs = self.manifest.parts
        wanted = [(part, runs[part]) for part in (runs if parts is None else parts)]
        return read_parts(spark, JUDGED, self.folder / JUDGED_FOLDER, wanted)


def read_tables(folder: Path, reading: Reading) -> Tables:
    """Return the tables in `folder` as they are; see `update` for errors."""
    return Tables(folder, files.load(folder, reading), ())


def update(
    spark: SparkSession,
    logs: Path,
    folder: Path,
    reading: Reading,
    on_stage: Callable[[str], None] = lambda _: None,
) -> Tables:
    """Bring the tables in `folder` up to date with the files in `logs`.

    Parameters
    ----------
    spark
        A session, Spark Connect's too; it and this process must see the same files.
    logs
        A folder; files in it and below it count if their names match `STORM_FILES` or `JSON_FILES`,
        gzipped or not; one that cannot be decompressed is left out, and in the quarantine by
        its name. What was read of a file that has changed is replaced, what was read of one
        that is gone stays.
    folder
        Where the tables are, or will be.
    reading
        How the lines are read; the same in every run.
    on_stage
        Called with what begins; not where nothing is new.

    Raises
    ------
    InputError
        If `logs` is not a folder, or the tables cannot be added to.
    """
    before = files.load(folder, reading)
    new = {
        path: replace(one, run=before.next_run)
        for path, one in files.log_files(logs)
        if (known := before.files.get(path)) is None
        or (known.size, known.mtime_ns) != (one.size, one.mtime_ns)
    }
    if not new and not before.unjudged:
        return Tables(folder, before, ())
    folder.mkdir(parents=True, exist_ok=True)
    _remove_unnamed(folder, before)
    after = before
    with sized(spark, new or before.files):
        if new:
            on_stage("reading lines")
            after = before.with_files(*_read(spark, folder, before.next_run, new, reading))
            files.save(folder, after)  # a run that is interrupted later has read them
        on_stage("judging samples")
        after = _judge(spark, folder, after, reading)
    files.save(folder, after)
    _remove_unnamed(folder, after)
    return Tables(folder, after, tuple(new))


def add_batch(
    spark: SparkSession, raw: DataFrame, number: int, folder: Path, reading: Reading
) -> None:
    """Add a batch of a stream to the tables in `folder`; one that is there already changes nothing.

    Parameters
    ----------
    spark
        A session; it and this process must see the same files.
    raw
        `RAW`, the lines of the batch.
    number
        Of the batch, from 0: one after the other, and the same lines whenever it is repeated.
    folder
        Where the tables are, or will be.
    reading
        As of `update`.

    Raises
    ------
    InputError
        If the tables cannot be added to.
    """
    before = files.load(folder, reading)
    run = number + 1
    if run < before.next_run:
        return
    if run > before.next_run:
        rule = f"lacks batch {before.next_run - 1} and what followed; begin with a new checkpoint"
        raise InputError(rule, file=str(folder), has_value=False)
    folder.mkdir(parents=True, exist_ok=True)
    _remove_unnamed(folder, before)
    size = fn.sum(fn.length("line")).alias("size")
    by_path = raw.groupBy("path").agg(fn.count(fn.lit(1)).alias("lines"), size)
    files_read = {
        row.path: LogFile(row["size"] or 0, 0, run, row.lines) for row in by_path.collect()
    }
    with sized(spark, files_read):
        write_parts(parse_lines(raw, reading), folder / LINES_FOLDER, run)
        lines = before.with_batch(files_read, written_parts(folder / LINES_FOLDER, run))
        after = _judge(spark, folder, lines, reading)
    files.save(folder, after)
    _remove_unnamed(folder, after)


def sized(spark: SparkSession, files_read: Mapping[str, LogFile]) -> AbstractContextManager[None]:
    """Let shuffles have as many partitions as the files need, and adapt, for a while."""
    size = files.text_bytes(files_read.items())
    number = min(_MOST_PARTITIONS, max(2, size // _BYTES_PER_PARTITION))
    wanted = {
        "spark.sql.shuffle.partitions": str(number),
        "spark.sql.adaptive.enabled": str(number > 2).lower(),
        # Rows are of few different texts and take a tenth of their size in a shuffle; of Spark's
        # 64 MB, the tables of an aggregate would not fit in memory.
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "4m",
        "spark.sql.sources.partitionOverwriteMode": "static",
        # Else rows are sorted once more, by the folder that they go to.
        "spark.sql.maxConcurrentOutputFileWriters": "64",
        # Above this many keys, by default 128, Spark sorts what lists are made of.
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "8192",
        # Of a series; more of them go through a sorter that is made for millions.
        "spark.sql.windowExec.buffer.in.memory.threshold": "65536",
    }
    return configured(spark, wanted)


def _read(
    spark: SparkSession, folder: Path, run: int, new: Mapping[str, LogFile], reading: Reading
) -> tuple[dict[str, LogFile], tuple[Part, ...]]:
    """Write the parsed lines of `new`; return `new` with their numbers, and their parts."""
    faults = _write_lines(spark, new, reading, folder / LINES_FOLDER, run)
    readable = [path for path in new if path not in faults]
    counts: dict[str, int] = {}
    if readable:
        by_file = raw_lines(spark, readable).groupBy(file_of(fn.col("path")).alias("path")).count()
        counts = {row["path"]: row["count"] for row in by_file.collect()}
    counted = {path: replace(one, lines=counts.get(path, 0)) for path, one in new.items()}
    return counted, written_parts(folder / LINES_FOLDER, run)


def _judge(spark: SparkSession, folder: Path, lines: Manifest, reading: Reading) -> Manifest:
    """Judge the parts that have changed; return the manifest of all of them judged."""
    wanted, after = set(lines.unjudged), lines.judged
    if not wanted:
        return after
    run = lines.next_run - 1
    # The last readings of running totals are in the day before.
    known = {part for parts in lines.lines.values() for part in parts}
    needed = (wanted | files.neighbours(wanted, -1)) & known
    rows = _lines(spark, folder, lines, needed)
    good = rows.where(fn.col("reason").isNull())
    day = fn.col("day").cast("string")
    write_parts(measure_skew(good.where(is_in(wanted, day)), reading), folder / CLOCKS_FOLDER, run)
    parts = [(part, after.parts[part]) for part in needed]
    nodes = read_parts(spark, CLOCKS, folder / CLOCKS_FOLDER, parts)
    results = judge_lines(rows, nodes, reading)
    results = results if needed == wanted else results.where(is_in(wanted, day))
    write_parts(results, folder / JUDGED_FOLDER, run)
    return after


def _lines(
    spark: SparkSession, folder: Path, lines: Manifest, parts: Collection[Part]
) -> DataFrame:
    """Give `PARSED` of some parts, without what was read of files that have changed since."""
    mine = [(part, run) for run, of_run in lines.lines.items() for part in of_run if part in parts]
    rows = read_parts(spark, f"{PARSED}, run int", folder / LINES_FOLDER, mine)
    stale = [(run, path) for run, of_run in lines.stale.items() for path in of_run]
    if stale:
        gone = spark.createDataFrame(stale, "run int, file string")
        named = rows.withColumn("file", file_of(fn.col("path")))
        rows = named.join(fn.broadcast(gone), ["run", "file"], "left_anti").drop("file")
    return rows.drop("run")


def _remove_unnamed(folder: Path, manifest: Manifest) -> None:
    """Remove what does not count: of a run that was killed, or rows that were judged again."""
    lines = ((part, run) for run, parts in manifest.lines.items() for part in parts)
    remove_others(folder / LINES_FOLDER, lines)
    for name in (CLOCKS_FOLDER, JUDGED_FOLDER):
        remove_others(folder / name, manifest.parts.items())
    if not manifest.parts:  # of a manifest that was removed: its runs had the same numbers
        shutil.rmtree(folder / SUMS_FOLDER, ignore_errors=True)
    remove_scratch(folder)


def _write_lines(
    spark: SparkSession, paths: Collection[str], reading: Reading, table: Path, run: int
) -> dict[str, str]:
    """Write `PARSED` of some files, kind by kind; return path -> what is wrong with it.

    A file that cannot be decompressed has one row, with the fault as its line.
    """
    unread: dict[str, str] = {}
    storm = [path for path in paths if files.is_storm(Path(path).name)]
    json = [path for path in paths if files.is_json(Path(path).name)]
    for of_kind, parser in ((storm, storm_samples), (json, json_samples)):
        if not of_kind:
            continue
        try:
            with job_errors():
                write_parts(parser(raw_lines(spark, of_kind), reading), table, run)
        except SlotwiseError:
            faults = unreadable(of_kind)
            if not faults:
                raise
            readable = [path for path in of_kind if path not in faults]
            if readable:
                write_parts(parser(raw_lines(spark, readable), reading), table, run)
            write_parts(of_unreadable(spark, faults, reading), table, run)
            unread |= faults
    return unread


def raw_lines(spark: SparkSession, paths: Collection[str]) -> DataFrame:
    """Give `RAW` of some files."""
    text = spark.read.text([literal(Path(path)) for path in paths])
    return text.select(fn.col("value").alias("line"), fn.col("_metadata.file_path").alias("path"))


def of_unreadable(spark: SparkSession, faults: Mapping[str, str], reading: Reading) -> DataFrame:
    """Give `PARSED` of files that cannot be read: a row for each, with its fault for a line."""
    rows = [
        {"topology": reading.topology, "path": Path(path).as_uri(), "at": 0}
        | {"reason": UNREADABLE, "line": f"{path}: {fault}"}
        for path, fault in faults.items()
    ]
    columns = names(PARSED)
    return spark.createDataFrame(
        [tuple(row.get(one) for one in columns) for row in rows], struct(PARSED)
    )
