"""Tables between two jobs: the same rows, a plan of one step, nothing left behind."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slotwise.pipeline.spark.paths import literal
from slotwise.pipeline.spark.scratch import remove_scratch, scratch

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
    folder.mkdir()
    frame = spark.createDataFrame(ROWS, SCHEMA)
    with scratch(folder) as stored:
        first, second = stored(frame), stored(frame.limit(0))
        assert first.schema == frame.schema
        assert sorted(first.collect()) == sorted(frame.collect())
        assert second.collect() == []
    assert list(folder.iterdir()) == []


def test_two_at_once_and_what_others_have_there(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    with scratch(tmp_path) as outer:
        first = outer(spark.range(2))
        with scratch(tmp_path) as inner:
            assert inner(spark.range(3)).count() == 3
        assert first.count() == 2
    assert [one.name for one in tmp_path.iterdir()] == ["scratch"]


def test_what_was_left_is_removed(tmp_path: Path) -> None:
    for name in ("scratch", "scratch-1", f"scratch-{'0a' * 16}"):
        (tmp_path / name / "0").mkdir(parents=True)
    remove_scratch(tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["scratch", "scratch-1"]


def test_a_plan_begins_at_the_files(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(9).selectExpr("id % 2 as even").groupBy("even").count()
    with scratch(tmp_path) as stored:
        kept = stored(frame)
        assert "Aggregate" in plan_of(frame)
        assert "Aggregate" not in plan_of(kept)


def plan_of(frame: Any) -> str:
    return str(frame._jdf.queryExecution().analyzed().toString())


def test_folders_go_with_errors(spark: SparkSession, tmp_path: Path) -> None:
    def fail() -> None:
        with scratch(tmp_path) as stored:
            stored(spark.range(1).toDF("id"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_pattern() -> None:
    assert literal(Path("/a b/[c]")) == r"file:///a b/\[c\]"
    assert literal("hdfs://host/a*b/[c]") == r"hdfs://host/a\*b/\[c\]"
