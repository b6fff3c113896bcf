"""The plan as a frame: which runs remain, and which task does each."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slotwise.benchmarks.grading.batch.cases import addresses, chosen
from slotwise.benchmarks.grading.batch.local_frame import local_frame
from slotwise.benchmarks.grading.batch.runs import (
    KEY_TYPES,
    MOST_WORK,
    Work,
    in_partitions,
    newest,
    numbered,
    planned,
    remaining,
    settings_frame,
    standing,
    statuses,
    work_of,
)
from slotwise.benchmarks.grading.plan import RunLimits, Setting, make_settings
from slotwise.benchmarks.grading.rows import KEY, Kind
from slotwise.benchmarks.grading.sources import Case, CaseRange, Sources, read_sources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LIMITS = RunLimits(10.0, 1, 0, None)
METHODS = ("round-robin", "r-storm", "cmd:x")
CASES = 5
KNOWN = (
    "family string, case_index int, instance_hash string, instance string, subject string, "
    "tasks int, nodes int, topologies int, tightness double, case_seed long, made_by string"
)
STANDING = f"{KEY_TYPES}, batch string, status string"
FILES = KNOWN.replace(", case_seed long, made_by string", ", position int")


def settings(*methods: str, limits: RunLimits = LIMITS) -> tuple[Setting, ...]:
    return make_settings(["placement"], methods, "auto", limits)


def cases(spark: SparkSession, sizes: tuple[int, ...] = tuple(range(1, CASES + 1))) -> DataFrame:
    asked = addresses(spark, Sources((CaseRange("f", len(sizes)),)))
    known = [
        ("f", i, f"hash {i}", f"f-{i}", "placement", size, 10, 1, 0.5, 0, "")
        for i, size in enumerate(sizes)
    ]
    return chosen(asked, local_frame(spark, known, KNOWN), local_frame(spark, (), FILES))


def plan(spark: SparkSession, *some: Setting) -> DataFrame:
    return planned(cases(spark), settings_frame(spark, some or settings(*METHODS)))


def rows(spark: SparkSession, *found: tuple[str, str, str | None, str]) -> DataFrame:
    """Return rows of (instance, method, batch, status)."""
    by_method = {one.method: one for one in settings(*METHODS)}
    values = [
        (instance, str(one.kind), method, one.version, 0, 10.0, batch, status)
        for instance, method, batch, status in found
        for one in [by_method[method]]
    ]
    return local_frame(spark, values, STANDING)


def runs_of(frame: DataFrame) -> list[tuple[str, str]]:
    return sorted((row["instance_hash"], row["method"]) for row in frame.collect())


@pytest.mark.spark
def test_every_case_is_planned_with_every_setting_of_its_subject(spark: SparkSession) -> None:
    both = (*settings(*METHODS), *make_settings(["allocation"], ["mba+sam"], "auto", LIMITS))
    found = runs_of(plan(spark, *both))
    assert found == sorted((f"hash {i}", m) for i in range(CASES) for m in ("auto", *METHODS))


@pytest.mark.spark
def test_an_instance_of_two_sources_runs_once_as_the_first_names_it(spark: SparkSession) -> None:
    sources = Sources((CaseRange("f", 2), CaseRange("g", 2)))
    known = [
        (family, i, f"hash {i}", f"{family}-{i}", "placement", 1, 1, 1, 0.0, 0, "")
        for family in ("g", "f")
        for i in range(2)
    ]
    file = [(None, None, "hash 1", "file", "placement", 1, 1, 1, 0.0, 7)]
    found = chosen(
        addresses(spark, sources), local_frame(spark, known, KNOWN), local_frame(spark, file, FILES)
    )
    assert sorted(row["instance"] for row in found.collect()) == ["f-0", "f-1"]


@pytest.mark.spark
def test_runs_with_a_row_do_not_remain(spark: SparkSession) -> None:
    there = rows(spark, ("hash 1", "r-storm", None, "valid"), ("hash 9", "auto", None, "optimal"))
    left = runs_of(remaining(plan(spark), standing(there, retry_failed=False)))
    assert left == sorted(set(runs_of(plan(spark))) - {("hash 1", "r-storm")})
    longer = replace(LIMITS, time_limit_s=11.0)
    again = plan(spark, *settings(*METHODS, limits=longer))
    assert len(runs_of(remaining(again, standing(there, retry_failed=False)))) == 4 * CASES
    threads = plan(spark, *settings(*METHODS, limits=replace(LIMITS, workers=4)))
    assert runs_of(remaining(threads, standing(there, retry_failed=False))) == left


@pytest.mark.spark
def test_failed_runs_remain_where_they_are_tried_again(spark: SparkSession) -> None:
    there = rows(
        spark,
        ("hash 0", "r-storm", "1", "crashed"),
        ("hash 0", "r-storm", "2", "valid"),
        ("hash 1", "r-storm", None, "valid"),
        ("hash 1", "r-storm", "1", "timeout"),
        ("hash 2", "cmd:x", "1", "broken rule"),
        ("hash 3", "auto", "1", "unknown"),
        ("hash 4", "auto", "1", "memory"),
    )
    retried = set(runs_of(remaining(plan(spark), standing(there, retry_failed=True))))
    kept = set(runs_of(remaining(plan(spark), standing(there, retry_failed=False))))
    assert retried - kept == {("hash 1", "r-storm"), ("hash 4", "auto")}
    assert {row["status"] for row in newest(there).where("method = 'r-storm'").collect()} == {
        "valid",
        "timeout",
    }


@pytest.mark.spark
@pytest.mark.parametrize("slots", [1, 2])
def test_exact_solves_and_commands_are_alone_and_hardest_first(
    spark: SparkSession, slots: int
) -> None:
    runs = plan(spark)
    work = work_of(runs)
    assert (work.runs, work.alone) == (4 * CASES, 2 * CASES)
    ready = numbered(runs, work, slots)
    tasks = [(row["task"], row["kind"], row["tasks"]) for row in ready.collect()]
    alone = sorted(one for one in tasks if one[1] != Kind.HEURISTIC)
    assert [task for task, *_ in alone] == list(range(2 * CASES))
    assert [size for *_, size in alone] == sorted((size for *_, size in alone), reverse=True)
    shared = [one for one in tasks if one[1] == Kind.HEURISTIC]
    shared.sort(key=lambda one: (one[0], -one[2]))
    assert [size for *_, size in shared] == sorted((size for *_, size in shared), reverse=True)
    assert {task for task, *_ in shared} <= set(range(2 * CASES, work.tasks(slots)))
    assert len({task for task, *_ in shared}) >= min(slots * 4, len(shared)) - 1


@pytest.mark.spark
def test_each_task_is_a_partition_of_its_round(spark: SparkSession) -> None:
    from pyspark.sql import functions as fn

    runs = plan(spark)
    work = work_of(runs)
    ready = numbered(runs, work, 2)
    found: Counter[int] = Counter()
    for first, end in ((0, 7), (7, work.tasks(2))):
        some = in_partitions(ready, first, end).withColumn("partition", fn.spark_partition_id())
        for row in some.collect():
            assert row["task"] == first + row["partition"]
            found[row["task"]] += 1
    assert found.total() == work.runs
    assert all(found[task] == 1 for task in range(work.alone))


def test_a_task_of_cheap_runs_is_a_few_seconds_and_there_are_some_for_each_slot() -> None:
    assert Work({"heuristic": 6, "exact": 4}, 4, 800).tasks(2) == 4 + 8
    assert Work({"exact": 10}, 10, 0).tasks(2) == 10
    assert Work({"heuristic": 10**6}, 0, 1000 * MOST_WORK).tasks(2) == 1000


@pytest.mark.spark
def test_statuses_are_those_of_the_newest_rows_of_the_plan(spark: SparkSession) -> None:
    there = rows(
        spark,
        ("hash 0", "auto", "1", "infeasible"),
        ("hash 0", "cmd:x", "1", "refused"),
        ("hash 1", "cmd:x", "1", "refused"),
        ("hash 2", "cmd:x", "1", "crashed"),
        ("hash 2", "cmd:x", "2", "valid"),
        ("hash 9", "cmd:x", "2", "valid"),
    )
    found = {row["status"]: row["count"] for row in statuses(plan(spark), there, "right").collect()}
    assert found == {"infeasible": 1, "right": 1, "refused": 1, "valid": 1}


def test_families_are_named_and_files_read_without_making_an_instance() -> None:
    (part,) = read_sources(["random"], 10**9).parts
    assert part == CaseRange("random", 10**9)
    assert not isinstance(part, Case)
    assert set(KEY) <= {column.split()[0] for column in STANDING.split(", ")}
