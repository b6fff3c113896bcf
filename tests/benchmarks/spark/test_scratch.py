"""Tables between two jobs: the same rows, a plan of one step, nothing left behind."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slotwise.benchmarks.spark.scratch import literal, scratch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SCHEMA = "name string, time timestamp, y decimal(38,0), parts array<string>"
ROWS = [
    ("a", datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC), Decimal(10**37), ["x", None]),
    ("b", None, None, None),
]


def test_rows_are_the_same_and_nothing_is_left(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "a [b] {c} %20 d"
    (folder / "0").mkdir(parents=True)
    (folder / "0" / "part-of-a-process-that-was-killed.parquet").write_text("")
    frame = spark.createDataFrame(ROWS, SCHEMA)
    with scratch(folder) as stored:
        first, second = stored(frame), stored(frame.limit(0))
        assert first.schema == frame.schema
        assert sorted(first.collect()) == sorted(frame.collect())
        assert second.collect() == []
        assert first.select("name").exceptAll(frame.select("name")).count() == 0
    assert not folder.exists()


def test_a_plan_begins_at_the_files(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(9).selectExpr("id % 2 as even").groupBy("even").count()
    with scratch(tmp_path / "scratch") as stored:
        kept = stored(frame)
        assert "Aggregate" in plan_of(frame)
        assert "Aggregate" not in plan_of(kept)


def plan_of(frame: object) -> str:
    return str(frame._jdf.queryExecution().analyzed().toString())  # type: ignore[attr-defined]


def test_folders_go_with_errors(spark: SparkSession, tmp_path: Path) -> None:
    def fail() -> None:
        with scratch(tmp_path / "scratch") as stored:
            stored(spark.range(1).toDF("id"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_pattern() -> None:
    assert literal(Path("a*b/[c]")) == r"a\*b/\[c\]"
