"""Weights of tiny sets of samples on a real Spark, computed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import Window
from pyspark.sql import functions as fn

import slotwise
from slotwise.models.instance_file import instance_text
from slotwise.pipeline.spark.scratch import scratch
from slotwise.pipeline.spark.session import configured
from slotwise.pipeline.statistics.parts import with_bucket
from slotwise.pipeline.statistics.schema import PLACE, SAMPLES, SERIES_OF
from slotwise.pipeline.statistics.weights.collected import Value
from slotwise.pipeline.statistics.weights.days import DayTables
from slotwise.pipeline.statistics.weights.facts import collect_facts, facts_of
from slotwise.pipeline.statistics.weights.instance import measured_instance
from slotwise.pipeline.statistics.weights.measure import measured_of
from slotwise.pipeline.statistics.weights.rules import rules_of
from slotwise.pipeline.statistics.weights.run import (
    collect_parts,
    collect_sums,
    collect_values,
    edges,
)
from slotwise.pipeline.statistics.weights.series import SERIES
from slotwise.pipeline.statistics.weights.statistic import MEANS, means_of_days
from slotwise.pipeline.statistics.weights.windows import by_interval, by_window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from slotwise.pipeline.statistics.weights.measured import Measured

pytestmark = pytest.mark.spark
START = datetime(2026, 1, 1, tzinfo=UTC)
CLOCKS = {"n1": 2 * 10**9, "n2": 2 * 10**9}
INSTANCE = {
    "format": "slotwise.instance/1",
    "name": "tiny",
    "cluster": {
        "nodes": [
            {"id": node, "rack": "r", "slots": 4, "resources": {"cpu": 400, "memory_mb": 4096}}
            for node in ("n1", "n2")
        ]
    },
    "topologies": [
        {
            "id": "wc",
            "components": [
                {"id": "lines", "kind": "spout", "parallelism": 1, "resources": {"cpu": 9}},
                {"id": "split", "kind": "bolt", "parallelism": 2, "resources": {"gpu": 1}},
                {"id": "idle", "kind": "bolt", "parallelism": 1, "resources": {"cpu": 7}},
            ],
            "streams": [
                {"from": "lines", "to": "split"},
                {"from": "split", "to": "idle", "rate": 3, "tuple_bytes": 5},
            ],
        }
    ],
}


class Samples:
    """Rows of `SAMPLES` of the topology ``wc``."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def storm(self, minute: int, place: tuple[str, int], task: str, **values: int) -> None:
        """Add what a task logs; ``split`` hears from ``lines``."""
        component = {"-1": "__system", "1": "lines"}.get(task, "split")
        for metric, value in values.items():
            other = {"execute": "lines:default", "emit": "default"}.get(metric.split("_")[0])
            self._add(minute, *place, task, component, metric, other, value, "storm")

    def json(self, minute: int, node: str, task: str, other: str | None = None, **v: int) -> None:
        """Add what a JSON line says."""
        component = task.split("[")[0]
        for metric, value in v.items():
            self._add(minute, node, None, task, component, metric, other, value, "json")

    def _add(self, minute: int, node: str, worker: int | None, *rest: Any) -> None:
        task, component, metric, other, value, source = rest
        time = START + timedelta(minutes=minute)
        row = ("wc", time.date(), time, node, worker, task, component, metric, other, value)
        self.rows.append((*row, source, "log", None, None))


def measured(
    spark: SparkSession, rows: Sequence[tuple[Any, ...]], statistic: str = "mean", parts: int = 1
) -> Measured:
    frame = with_gaps(spark.createDataFrame(rows, SAMPLES).repartition(parts))
    facts = collect_facts(facts_of(judged_good(frame), 60))
    rules = rules_of(facts, 60, CLOCKS, None)
    windows = by_window(by_interval(frame), 60).withColumn("day", rules.day_of("start"))
    with TemporaryDirectory() as folder, scratch(Path(folder)) as stored:
        tables = DayTables(spark, stored, new={("wc", START.date().isoformat()): ("", ())})
        collected = collect_sums(
            windows, facts, rules, statistic, tables, stored, has_message_sizes=True
        )
    return measured_of(slotwise.read_instance(INSTANCE), collected, statistic, 60)


def judged_good(frame: DataFrame) -> DataFrame:
    """The rows of samples as `JUDGED` has them when nothing is kept aside."""
    nothing = fn.lit(None).cast("string")
    judged = {"is_sample": fn.lit(True), "is_aside": fn.lit(False)}
    return frame.withColumns({**judged, "reason": nothing, "line": nothing})


def with_gaps(frame: DataFrame) -> DataFrame:
    """The rows with the time since the one before of their series, as judged ones have it."""
    time = fn.unix_micros("time")
    before = fn.lag(time).over(Window.partitionBy(*SERIES_OF).orderBy("time"))
    return frame.withColumn("gap_us", time - before)


@pytest.fixture(scope="module")
def storm_rows() -> list[tuple[Any, ...]]:
    """Four minutes: 600 tuples a minute, of which either task of ``split`` takes a half.

    A tuple needs 2.000, 2.001, 2.002, 2.003 ms; the workers use 1.8 and 0.9 s of cpu time a minute.
    """
    samples = Samples()
    for minute in range(1, 5):
        mean = 2_000_000 + 1000 * (minute - 1)
        samples.storm(minute, ("n1", 6700), "1", emit_count=600)
        samples.storm(minute, ("n1", 6700), "2", execute_count=300, execute_ns=mean)
        samples.storm(minute, ("n2", 6701), "3", execute_count=300, execute_ns=mean)
        heap, cpu = {"n1": 300 << 20, "n2": 100 << 20}, {"n1": 1_800_000_000, "n2": 900_000_000}
        for node, port in (("n1", 6700), ("n2", 6701)):
            values = {"heap_bytes": heap[node], "memory_bytes": heap[node] + (64 << 20)}
            samples.storm(minute, (node, port), "-1", cpu_ns=cpu[node], **values)
    return samples.rows


@pytest.fixture(scope="module")
def storm_weights(spark: SparkSession, storm_rows: list[tuple[Any, ...]]) -> Measured:
    return measured(spark, storm_rows)


def test_a_damaged_task_number_is_not_one_more_task(spark: SparkSession) -> None:
    """A line in forty, with 20 tuples of 600, is said to be of task 23: the rate stays."""
    samples = Samples()
    for minute in range(1, 41):
        for task in ("2", "3"):
            of = "23" if (task, minute) == ("3", 40) else task
            samples.storm(minute, ("n1", 6700), of, execute_count=300, execute_ns=2_000_000)
    found = measured(spark, samples.rows)
    received = {(one.source, one.target): one.received for one in found.streams}
    assert received["lines", "split"] is not None
    assert received["lines", "split"].value == 10


def component(found: Measured, name: str) -> Any:
    return next(one for one in found.components if one.component == name)


def test_weights_of_storm_lines(storm_weights: Measured, storm_rows: list[tuple[Any, ...]]) -> None:
    found = storm_weights
    split, lines = component(found, "split"), component(found, "lines")
    assert split.cost.value == Decimal("4.003")  # 2 GHz * mean of 2.000 to 2.003 ms, 4.003
    assert split.cpu.value == Decimal("1.00075")  # 300 * 2.0015 ms of 60 s
    assert (split.cost.samples, split.cpu.estimated) == (8, False)
    # What n1's worker used beyond its task of split: 1800 - 600.45 ms, 600 tuples, 60 s.
    assert lines.cpu.value == Decimal("1.99925")
    assert lines.cost.value == Decimal("3.9985")
    assert lines.cpu.estimated
    assert (lines.onheap_mb.value, split.onheap_mb.value) == (200, 100)
    assert [one.received.value for one in found.streams] == [10]
    assert found.streams[0].tuple_bytes is None
    assert found.samples == len(storm_rows)
    assert [note for note in found.notes if "idle" in note] == [
        "wc/idle: no samples; its demands stay as in the file",
        "wc: split -> idle: no samples; its rate stays as in the file",
    ]


@pytest.mark.parametrize(("busy_ms", "busy"), [(89_999, 0), (90_001, 1)])
def test_a_task_that_is_busy_for_longer_than_there_is_time_counts_for_nothing(
    spark: SparkSession, busy_ms: int, busy: int
) -> None:
    """It moved the demand of its component by hundreds of points."""
    samples = Samples()
    for minute in range(1, 5):
        mean = busy_ms * 1_000_000 if minute == 3 else 6_000_000_000
        samples.storm(minute, ("n1", 6700), "2", execute_count=1, execute_ns=mean)
    windows = by_window(by_interval(with_gaps(spark.createDataFrame(samples.rows, SAMPLES))), 60)
    assert [row.n for row in windows.where("kind = 'busy'").collect()] == [1] * busy
    found = measured(spark, samples.rows)
    whole = Decimal(18_000 + (0 if busy else busy_ms)) / ((3 if busy else 4) * 600)
    assert component(found, "split").cpu.value == pytest.approx(whole, rel=Decimal("1e-5"))


def test_the_instance_of_storm_lines(storm_weights: Measured) -> None:
    given = slotwise.read_instance(INSTANCE)
    made = measured_instance(given, storm_weights, Decimal(8))
    lines, split, idle = made.topologies[0].components
    assert lines.resources["cpu"] == Decimal("1.99925")
    assert lines.estimated == ("cpu", "offheap_mb", "onheap_mb")
    assert split.resources["gpu"] == 1
    assert split.resources["cpu"] == Decimal("1.00075")
    assert idle == given.topologies[0].components[2]
    first, second = made.topologies[0].streams
    assert (first.rate, first.tuple_bytes, first.estimated) == (10, 8, ("tuple_bytes",))
    assert second == given.topologies[0].streams[1]
    assert made.flow == "rates"
    assert made.running is not None
    assert {task: (at.node, at.worker) for task, at in made.running["wc"].items()} == {
        "lines[0]": ("n1", 6700),
        "split[0]": ("n1", 6700),
        "split[1]": ("n2", 6701),
    }
    assert (made.cluster, made.objective, made.name) == (
        given.cluster, given.objective, given.name,
    )  # fmt: skip
    assert slotwise.read_instance(instance_text(made)) == made


def test_json_lines_go_before_storm_s(
    spark: SparkSession, storm_rows: list[tuple[Any, ...]]
) -> None:
    samples = Samples()
    for minute in range(1, 4):
        for index, node in enumerate(("n1", "n2")):
            samples.json(
                minute, node, f"split[{index}]", cpu_ns=1_200_000_000, tuples=300,
                clock_hz=3 * 10**9,
            )  # fmt: skip
            samples.json(
                minute, "n1", "lines[0]", f"split[{index}]", pair_tuples=330, pair_bytes=330 * 512
            )
    found = measured(spark, storm_rows + samples.rows)
    split = component(found, "split")
    assert split.cost.value == 12  # 4 ms at 3 GHz, which goes before the 2 GHz of the side file
    assert split.cpu.value == 2
    (stream,) = found.streams
    assert (stream.received.value, stream.tuple_bytes.value) == (11, 512)
    pairs = {(one.source, one.target): one for one in found.pairs}
    pair = pairs["lines[0]", "split[1]"]
    assert (pair.kib_per_tuple.value, pair.kib_per_second.value) == (
        Decimal("0.5"),
        Decimal("2.75"),
    )


def test_one_damaged_clock_rate_changes_nothing(spark: SparkSession) -> None:
    """The highest counted, so that one line changed every demand."""
    samples = Samples()
    for minute, ghz in enumerate((2, 2, 2000, 3, 3, 3)):
        samples.json(minute, "n1", "lines[0]", cpu_ns=1, clock_hz=ghz * 10**9)
    frame = spark.createDataFrame(samples.rows, SAMPLES)
    facts = collect_facts(facts_of(judged_good(frame), 60))
    assert facts.clocks == {"n1": 3 * 10**9}
    assert [one.samples for one in facts.overview.values()] == [12]


@pytest.mark.parametrize(
    ("statistic", "cost", "low", "high"),
    [
        ("p50", "4.002", "4", "4.006"),
        ("p95", "4.006", "4.004", None),
        ("max", "4.006", None, None),
    ],
)
def test_statistics_over_windows(
    spark: SparkSession,
    storm_rows: list[tuple[Any, ...]],
    statistic: str,
    cost: str,
    low: str | None,
    high: str | None,
) -> None:
    # Eight values: 4.000, 4.002, 4.004, 4.006, each twice; the 4th and the 8th.
    weight = component(measured(spark, storm_rows, statistic), "split").cost
    assert weight.value == Decimal(cost)
    bounds = tuple(None if one is None else Decimal(one) for one in (low, high))
    assert (weight.low, weight.high) == bounds


def test_sums_do_not_depend_on_partitions(
    spark: SparkSession, storm_rows: list[tuple[Any, ...]], storm_weights: Measured
) -> None:
    assert measured(spark, storm_rows[::-1], parts=7) == storm_weights


def test_a_day_that_was_kept_counts_without_the_day_on_which_its_tasks_began(
    spark: SparkSession,
) -> None:
    samples = Samples()
    for minute in range(1, 4):
        samples.storm(minute, ("n1", 6700), "2", execute_count=600, execute_ns=10)
    windows = by_window(by_interval(with_gaps(spark.createDataFrame(samples.rows, SAMPLES))), 60)
    days = windows.withColumn("day", fn.to_date("start"))
    end, key = START.timestamp() + 240, ("wc", "storm")
    kept = edges(days, {key: [(START.timestamp() - 86_400, end)]})
    parts = collect_parts(kept, {key: [(START.timestamp(), end)]}, {})
    assert parts == {("received", *key, "lines", "split"): 1}


def test_samples_of_a_day_in_one_bucket_are_shuffled_once(spark: SparkSession) -> None:
    samples = Samples()
    samples.storm(1, ("n1", 6700), "2", execute_count=600, execute_ns=10)
    frame = spark.createDataFrame(samples.rows, SAMPLES).withColumn("gap_us", fn.lit(60_000_000))
    day = START.date().isoformat()
    spread = with_bucket(frame, {("wc", day): ()}, *PLACE)
    windows = by_window(by_interval(spread, "day", "bucket"), 60, "day", "bucket")
    with configured(spark, {"spark.sql.maxPlanStringLength": "100000"}):
        plan = windows._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Exchange hashpartitioning") == 1, plan
    kinds = {row.kind for row in windows.where(fn.col("bucket") == 0).collect()}
    assert kinds == {"cost", "cpu", "received"}


SUBJECT = ("cost", "t", "storm", "c", None)


def statistic_of(
    spark: SparkSession, values: Sequence[tuple[int, int]], statistic: str, per_day: int = 1000
) -> Value:
    times = [START + timedelta(minutes=at, days=at // per_day) for at in range(len(values))]
    rows = [
        (*SUBJECT, time, Decimal(y), Decimal(x), 1, time.date())
        for time, (y, x) in zip(times, values, strict=True)
    ]
    frame = spark.createDataFrame(rows, SERIES)
    tables = DayTables(spark, lambda frame: frame)
    tables.add("series", SERIES, frame)
    tables.add("means", MEANS, means_of_days(frame, 360))
    return collect_values(tables, statistic)[SUBJECT]


def test_percentile_is_the_value_of_its_rank(spark: SparkSession) -> None:
    values = [(value, 3) for value in range(1, 201)]
    found = statistic_of(spark, values, "p95")
    # Rank 190, and 190 -+ 1.96 * sqrt(200 * 0.95 * 0.05), rounded outwards.
    assert (found.value, found.low, found.high) == (
        Fraction(190, 3), Fraction(183, 3), Fraction(198, 3),
    )  # fmt: skip


def test_interval_of_a_mean(spark: SparkSession) -> None:
    found = statistic_of(spark, [(8, 1), (10, 1), (12, 1)], "mean")
    # Deviations -2, 0, 2: standard error 2 / sqrt(3), t = 4.30265 with two degrees of freedom.
    assert found.value == 10
    assert found.low is not None
    assert float(found.low) == pytest.approx(10 - 4.30265 * 2 / 3**0.5, rel=1e-6)


def test_days_leave_the_interval_of_a_mean_as_it_is(spark: SparkSession) -> None:
    values = [(8, 1), (10, 2), (12, 1), (7, 3), (30, 2), (11, 1), (5, 1)]
    at_once, by_day = (statistic_of(spark, values, "mean", per_day) for per_day in (7, 3))
    assert (at_once.value, at_once.samples) == (by_day.value, by_day.samples)
    assert at_once.low is not None
    assert by_day.low is not None
    assert float(by_day.low) == pytest.approx(float(at_once.low), rel=1e-12)


def test_a_mean_is_the_ratio_of_the_sums(spark: SparkSession) -> None:
    found = statistic_of(spark, [(10, 1), (10, 4)], "mean")
    assert found.value == 4  # not the mean of 10 and 2.5
