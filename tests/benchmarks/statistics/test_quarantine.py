"""Samples judged by each other: duplicates, late ones, skewed clocks, restarts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from slotwise.benchmarks.statistics.parsing import parsed
from slotwise.benchmarks.statistics.quarantine import Cleaned, cleaned
from slotwise.benchmarks.statistics.reading import Reading
from slotwise.benchmarks.statistics.schema import CLOCKS, QUARANTINE, RAW, SAMPLES, struct

START = 1_700_000_000


def line(
    second: int,
    name: str,
    value: str,
    received: float | None = None,
    node: str = "n1",
    task: str = "3:a",
) -> str:
    """A line stamped so many seconds after `START`, received (by default, at once) later."""
    at = datetime.fromtimestamp(START + (second if received is None else received), UTC)
    text = at.strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    return f"{text} 60000    {START + second}\t{node}:6700\t{task}\t{name:<23}\t{value}"


def clean(spark: SparkSession, *lines: str, reading: Reading | None = None) -> Cleaned:
    settings = reading or Reading()
    raw = spark.createDataFrame([(one, "file:/x/worker.log.metrics") for one in lines], RAW)
    return cleaned(parsed(raw, settings), settings)


def values(result: Cleaned) -> list[tuple[int, Any]]:
    rows = result.samples.collect()
    return sorted((round(row.time.timestamp()) - START, row.value) for row in rows)


def aside(result: Cleaned) -> list[tuple[str, bool]]:
    return sorted((row.reason, row.used) for row in result.quarantine.collect())


def count(second: int, tuples: int, **more: Any) -> str:
    return line(second, "__emit-count", f"{{default={tuples}}}", **more)


def total(second: int, tuples: int, **more: Any) -> str:
    return line(second, "__emit-count-default", str(tuples), **more)


def test_the_columns_are_those_of_the_schemas(spark: SparkSession) -> None:
    result = clean(spark, count(60, 20))
    for rows, schema in (
        (result.samples, SAMPLES),
        (result.quarantine, QUARANTINE),
        (result.clocks, CLOCKS),
    ):
        found = [(one.name, one.dataType) for one in rows.schema]
        assert found == [(one.name, one.dataType) for one in struct(schema)]


def test_a_duplicate_counts_once(spark: SparkSession) -> None:
    twice = line(60, "__execute-count", "{s:default=20, t:default=40}")
    result = clean(spark, twice, twice, twice, count(60, 20))
    assert values(result) == [(60, 20), (60, 20), (60, 40)]
    assert aside(result) == [("duplicate", False)] * 2


def test_of_contradictory_lines_the_first_counts(spark: SparkSession) -> None:
    result = clean(spark, count(60, 20, received=62), count(60, 40, received=61))
    assert values(result) == [(60, 40)]
    assert aside(result) == [("contradictory", False)]


def test_a_duplicate_received_late_does_not_replace_the_line(spark: SparkSession) -> None:
    others = [count(second, 1) for second in (120, 180, 240)]
    result = clean(spark, count(60, 20, received=2000), count(60, 20), *others)
    assert values(result)[0] == (60, 20)
    assert aside(result) == [("duplicate", False)]


def test_late_lines_are_out_and_disordered_ones_are_not(spark: SparkSession) -> None:
    usual = [count(second, 1) for second in range(60, 660, 60)]
    result = clean(
        spark,
        *usual,
        count(660, 20, received=1270),
        count(720, 40, received=1310),
        count(780, 60, received=835),
    )
    assert values(result)[-2:] == [(720, 40), (780, 60)]
    assert aside(result) == [("late", False), ("out of order", True)]


def test_a_line_from_the_future_is_out(spark: SparkSession) -> None:
    usual = [count(second, 1) for second in range(60, 660, 60)]
    result = clean(spark, *usual, count(10_000, 20, received=720))
    assert aside(result) == [("late", False)]


def test_a_skewed_clock_is_set_right(spark: SparkSession) -> None:
    right = [count(second, 1, node="n1") for second in (60, 120, 180)]
    ahead = [count(second + 5000, 2, node="n2", received=second + 1) for second in (60, 120, 180)]
    result = clean(spark, *right, *ahead, count(5240, 9, node="n2", received=1500))
    clocks = {row.node: (row.skew_s, row.lines) for row in result.clocks.collect()}
    assert clocks == {"n1": (0, 3), "n2": (-4999, 4)}
    assert values(result) == [(60, 1), (61, 2), (120, 1), (121, 2), (180, 1), (181, 2)]
    assert aside(result) == [("late", False)]


def test_running_totals_and_a_restart(spark: SparkSession) -> None:
    readings = [total(60, 100), total(120, 160), total(180, 40), total(240, 100)]
    result = clean(spark, *reversed(readings), total(120, 160))
    assert values(result) == [(120, 60), (180, 40), (240, 60)]
    assert aside(result) == [("duplicate", False), ("reset", True)]


def test_a_total_after_a_long_gap_is_a_new_start(spark: SparkSession) -> None:
    result = clean(spark, total(60, 100), total(120, 160), total(1000, 500), total(1060, 530))
    assert values(result) == [(120, 60), (1060, 30)]


def test_a_late_reading_is_no_reading(spark: SparkSession) -> None:
    usual = [total(second, second) for second in range(60, 600, 60)]
    result = clean(spark, *usual, total(90, 1000, received=5000))
    assert [value for _, value in values(result)] == [60] * 8
    assert aside(result) == [("late", False)]


def test_the_uptime_tells_a_restart(spark: SparkSession) -> None:
    result = clean(
        spark,
        *(
            line(60 * at, "uptimeSecs", up, task="-1:__system")
            for at, up in ((1, "60"), (2, "120"), (3, "30"))
        ),
    )
    assert aside(result) == [("reset", True)]
    assert [value for _, value in values(result)] == [60 * 10**9, 120 * 10**9, 30 * 10**9]


def test_many_duplicates_are_found_exactly(spark: SparkSession) -> None:
    lines = [count(60 * at, at + 1, task=f"{at % 7}:a") for at in range(400)]
    result = clean(spark, *lines, *lines[::3], reading=Reading(skew_tolerance_s=100))
    assert [value for _, value in values(result)] == list(range(1, 401))
    assert len(aside(result)) == len(lines[::3])


def test_without_a_time_of_receipt_nothing_is_late(spark: SparkSession) -> None:
    bare = [count(second, 1).split("    ", 1)[1] for second in (60, 120, 90_000)]
    result = clean(spark, *bare)
    assert len(values(result)) == 3
    assert aside(result) == []
    assert result.clocks.collect() == []
