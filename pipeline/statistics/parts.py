"""Tables of Parquet files: a folder for each run, and in it one for each topology and day.

A run also writes how many files each of its parts has, so that one that is missing is noticed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as fn

from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.pipeline.spark.paths import literal, local_address
from slotwise.pipeline.statistics.manifest import Part
from slotwise.pipeline.statistics.schema import struct

_NO_DAY = "__HIVE_DEFAULT_PARTITION__"
"""Spark's name for the day of a part that has none."""

_FILES = "_files.json"
_UNFINISHED = "_temporary"
"""Where a job of Spark has what its finished tasks wrote, until all are."""
_BYTES_PER_BUCKET = 512 << 10
"""Of rows as they are stored, about a hundred thousand: the tables of two aggregates over them fit
in the memory of a task; with four times as many, aggregates sorted a day of a million lines."""


def part_folder(table: Path, run: int, part: Part) -> Path:
    """Return where a table has a part that a run wrote."""
    topology, day = part
    return table / f"run={run}" / f"topology={topology}" / f"day={day or _NO_DAY}"


def write_parts(rows: DataFrame, table: Path, run: int) -> None:
    """Write rows with `topology` and `day` as the parts of a run, beside those that it has."""
    mine = table / f"run={run}"
    rows.write.partitionBy("topology", "day").mode("append").parquet(local_address(mine))
    numbers = {str(one.relative_to(mine)): _files(one) for one in mine.glob("topology=*/day=*")}
    write_atomically(mine / _FILES, json.dumps(numbers) + "\n")


def written_parts(table: Path, run: int) -> tuple[Part, ...]:
    """Return the parts that a run has written."""
    written = (table / f"run={run}").glob("topology=*/day=*")
    names = [(path.parent.name.partition("=")[2], path.name.partition("=")[2]) for path in written]
    return tuple((topology, None if day == _NO_DAY else day) for topology, day in sorted(names))


def read_parts(
    spark: SparkSession, schema: str, table: Path, parts: Collection[tuple[Part, int]]
) -> DataFrame:
    """Give the rows of the parts of a table that some runs wrote.

    Raises
    ------
    InputError
        If a file of them is missing.
    """
    if lacking := set(parts) - whole_parts(table, parts):
        part, run = min(lacking, key=str)
        raise InputError(
            f"lacks a file; put it back, or remove the folder {table.parent}: the next run makes "
            "it again from the logs that are still there",
            file=str(part_folder(table, run, part)),
            has_value=False,
        )
    folders = (part_folder(table, run, part) for part, run in parts)
    there = [literal(one) for one in folders if one.is_dir()]
    if not there:
        return spark.createDataFrame([], struct(schema))
    reader = spark.read.schema(struct(schema)).option("basePath", local_address(table))
    return reader.parquet(*there)


def whole_parts(table: Path, parts: Iterable[tuple[Part, int]]) -> set[tuple[Part, int]]:
    """Return the parts of which a table has all files that some runs wrote."""
    numbers: dict[int, Mapping[str, int] | None] = {}
    whole = set()
    for part, run in parts:
        mine, folder = table / f"run={run}", part_folder(table, run, part)
        if run not in numbers:
            numbers[run] = _numbers(mine / _FILES)
        of_run = numbers[run]
        if of_run is not None and of_run.get(str(folder.relative_to(mine)), 0) == _files(folder):
            whole.add((part, run))
    return whole


def _numbers(path: Path) -> Mapping[str, int] | None:
    """Return folder of a part -> how many files were written; ``None`` = no longer known."""
    try:
        numbers: Mapping[str, int] = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return numbers


def _files(folder: Path) -> int:
    return sum(1 for _ in folder.glob("*.parquet"))


def load_json(path: Path) -> Any:
    """Return what a file beside the tables says.

    Raises
    ------
    InputError
        If it is damaged.
    """
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        rule = f"is damaged; remove the folder {path.parent}, which the next run makes again"
        raise InputError(rule, file=str(path), has_value=False) from error


def remove_others(table: Path, named: Iterable[tuple[Part, int]]) -> None:
    """Remove from a table the parts of all runs but those that are named.

    Also what a killed job had finished and not yet made part of the table, which Spark would add to
    what the same run writes again.
    """
    kept = [(table / f"run={run}", part_folder(table, run, part)) for part, run in named]
    runs, parts = {run for run, _ in kept}, {part for _, part in kept}
    for run in table.glob("run=*"):
        if run not in runs:
            shutil.rmtree(run)
            continue
        shutil.rmtree(run / _UNFINISHED, ignore_errors=True)
        for path in run.glob("topology=*/day=*"):
            if path not in parts:
                shutil.rmtree(path)


def is_in(parts: Collection[Part], day: Column) -> Column:
    """Say whether a row, by its `topology` and the text `day`, is in one of the parts."""
    named = [f"{unquote(topology)}/{day or ''}" for topology, day in parts]
    return fn.concat_ws("/", "topology", fn.coalesce(day, fn.lit(""))).isin(named)


def with_bucket(rows: DataFrame, folders: Mapping[Part, Collection[Path]], *keys: str) -> DataFrame:
    """Add `bucket`: the rows of a part in as many buckets as its size needs.

    What is partitioned by topology, day and bucket is written to a file for each of them.

    Parameters
    ----------
    rows
        With `topology` and `day`, of the parts of `folders`.
    folders
        Part -> where what the rows are made of is stored.
    keys
        Columns by which rows of the same values are in the same bucket.
    """
    counts = []
    for (topology, day), its in folders.items():
        size = sum(path.stat().st_size for folder in its for path in folder.glob("*.parquet"))
        counts.append((unquote(topology), day, max(1, size // _BYTES_PER_BUCKET)))
    if all(number == 1 for _, _, number in counts):
        # Not a literal: Spark would put it in place of the column, and shuffle again by the keys of
        # each aggregate, because it no longer sees that rows are partitioned by it.
        return rows.withColumn("bucket", fn.pmod(fn.xxhash64(*keys), fn.lit(1)))
    schema = "its_topology string, its_day string, buckets bigint"
    frame = rows.sparkSession.createDataFrame(counts, schema)
    is_its_day = fn.col("day").cast("string").eqNullSafe(fn.col("its_day"))
    is_its = (fn.col("topology") == fn.col("its_topology")) & is_its_day
    joined = rows.join(fn.broadcast(frame), is_its)
    return joined.withColumn("bucket", fn.pmod(fn.xxhash64(*keys), "buckets"))
