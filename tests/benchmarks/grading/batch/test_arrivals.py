"""Which rows the driver learns of while a grading runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slotwise.benchmarks.grading.batch.arrivals import RemoteRows, arrivals
from slotwise.benchmarks.grading.batch.slots import slots_of
from slotwise.benchmarks.grading.progress.run_log import LOGGED
from slotwise.benchmarks.grading.store import ROWS

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def write(folder: Path, name: str, *methods: str) -> None:
    rows = [
        {
            "instance": "i",
            "instance_hash": "sha256:0",
            "kind": "heuristic",
            "method": method,
            "seed": 0,
            "time_limit_s": 5.0,
            "status": "valid",
            "wall_s": 0.5,
            "error": "no",
            "reason": "not logged",
        }
        for method in methods
    ]
    rows_folder = folder / ROWS
    rows_folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), rows_folder / name)


@pytest.mark.spark
def test_rows_that_only_spark_reaches_come_after_each_round(
    spark: SparkSession, tmp_path: Path
) -> None:
    assert RemoteRows(spark, tmp_path.as_uri()).after_round() == []
    write(tmp_path, "part-0.parquet", "old")
    rows = RemoteRows(spark, tmp_path.as_uri())
    write(tmp_path, "part-1.parquet", "a", "b")
    assert rows.during_round() == []
    found = rows.after_round()
    assert sorted(row["method"] for row in found) == ["a", "b"]
    assert set(found[0]) == set(LOGGED)
    assert rows.after_round() == []


@pytest.mark.spark
def test_rows_of_this_machine_come_at_once(spark: SparkSession, tmp_path: Path) -> None:
    rows = arrivals(spark, tmp_path.as_uri())
    write(tmp_path, "part-1.parquet", "a")
    assert [row["method"] for row in rows.during_round()] == ["a"]
    write(tmp_path, "part-2.parquet", "b")
    assert [row["method"] for row in rows.after_round()] == ["b"]


@pytest.mark.spark
def test_slots_are_the_cores(spark: SparkSession) -> None:
    assert slots_of(spark) == 2
