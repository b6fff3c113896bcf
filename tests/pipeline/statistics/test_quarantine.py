"""Samples judged by each other: duplicates, late ones, skewed clocks, restarts.

Every scenario is a topology of its own, so that one job judges all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from judged_lines import cleaned
from pyspark.sql import SparkSession

from slotwise.pipeline.statistics.parsing import parse_lines
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import CLOCKS, QUARANTINE, RAW, SAMPLES, struct

START = 1_700_000_000


def line(
    second: int,
    name: str,
    value: str,
    received: float | None = None,
    node: str = "n1",
    task: str = "3:a",
) -> str:
    """A line stamped and received (by default, at once) these seconds after `START`."""
    at = datetime.fromtimestamp(START + (second if received is None else received), UTC)
    text = at.strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    return f"{text} 60000    {START + second}\t{node}:6700\t{task}\t{name:<23}\t{value}"


def count(second: int, tuples: int, **more: Any) -> str:
    return line(second, "__emit-count", f"{{default={tuples}}}", **more)


def total(second: int, tuples: int, **more: Any) -> str:
    return line(second, "__emit-count-default", str(tuples), **more)


def cpu(second: int, ms: int) -> str:
    return line(second, "CGroupCpu.user-ms", str(ms), task="-1:__system")


def up(second: int, uptime: float) -> str:
    return line(second, "uptimeSecs", str(uptime), task="-1:__system")


def received(second: int, size: int) -> str:
    sizes = f"{{enqueued={{}}, messageBytes={{3-5={size}}}}}"
    return line(second, "__recv-iconnection", sizes, task="-1:__system")


TWICE = line(60, "__execute-count", "{s:default=20, t:default=40}")
EVERY_MINUTE = [count(second, 1) for second in range(60, 660, 60)]
MANY = [count(60 * at, at + 1, task=f"{at % 7}:a") for at in range(400)]
AHEAD = [count(second + 5000, 2, node="n2", received=second + 1) for second in (60, 120, 180)]


@dataclass(frozen=True)
class Scenario:
    """Lines; the samples' seconds and values, and what is kept aside and whether it is used."""

    lines: list[str]
    values: list[tuple[int, int]]
    aside: list[tuple[str, bool]]


SCENARIOS = {
    "a duplicate counts once": Scenario(
        [TWICE, TWICE, TWICE, count(60, 20)],
        [(60, 20), (60, 20), (60, 40)],
        [("duplicate", False)] * 2,
    ),
    "of contradictory lines the first counts": Scenario(
        [count(60, 20, received=62), count(60, 40, received=61)],
        [(60, 40)],
        [("contradictory", False)],
    ),
    "a duplicate received late does not replace the line": Scenario(
        [count(60, 1, received=2000), *EVERY_MINUTE],
        [(second, 1) for second in range(60, 660, 60)],
        [("duplicate", False)],
    ),
    "late lines are out and disordered ones are not": Scenario(
        [
            *EVERY_MINUTE,
            count(660, 20, received=1270),
            count(720, 40, received=1310),
            count(780, 60, received=835),
        ],
        [*((second, 1) for second in range(60, 660, 60)), (720, 40), (780, 60)],
        [("late", False), ("out of order", True)],
    ),
    "a line from the future is out": Scenario(
        [*EVERY_MINUTE, count(10_000, 20, received=720)],
        [(second, 1) for second in range(60, 660, 60)],
        [("late", False)],
    ),
    "a skewed clock is set right": Scenario(
        [
            *(count(second, 1) for second in (60, 120, 180)),
            *AHEAD,
            count(5240, 9, node="n2", received=1500),
        ],
        [(60, 1), (61, 2), (120, 1), (121, 2), (180, 1), (181, 2)],
        [("late", False)],
    ),
    "running totals and a restart": Scenario(
        [total(240, 100), total(180, 40), total(120, 160), total(60, 100), total(120, 160)],
        [(120, 60), (180, 40), (240, 60)],
        [("duplicate", False), ("reset", True)],
    ),
    "a total that lost its last digits is not a restart": Scenario(
        [total(60, 9990), total(120, 10240), total(180, 10), total(240, 10740)],
        [(120, 250), (240, 500)],
        [("impossible", False)],
    ),
    "milliseconds that lost their last digits are not a restart": Scenario(
        [cpu(60, 9990), cpu(120, 10240), cpu(180, 10), cpu(240, 10740)],
        [(120, 250 * 10**6), (240, 500 * 10**6)],
        [("impossible", False)],
    ),
    "totals with digits too many are not restarts": Scenario(
        [
            total(60, 100),
            total(120, 160_000),
            total(180, 220_000),
            total(240, 280),
            total(300, 340),
        ],
        [(240, 180), (300, 60)],
        [("impossible", False)] * 2,
    ),
    "a first count that is impossible is so also if it came twice": Scenario(
        [count(60, 10**9), count(60, 10**9), count(120, 10**6), count(180, 10**6)],
        [(120, 10**6), (180, 10**6)],
        [("duplicate", False), ("impossible", False)],
    ),
    "a restart after many tuples is one": Scenario(
        [total(60, 100), total(120, 16_000), total(180, 200), total(240, 260)],
        [(120, 15_900), (180, 200), (240, 60)],
        [("reset", True)],
    ),
    "a count far above its neighbours is misread": Scenario(
        [count(second, 3 if second != 180 else 30_000) for second in range(60, 360, 60)],
        [(60, 3), (120, 3), (240, 3), (300, 3)],
        [("impossible", False)],
    ),
    "a busy minute is none, nor one after idle ones": Scenario(
        [
            *(count(second, 3 if second != 180 else 29_999) for second in range(60, 360, 60)),
            *(count(s, 0 if s != 180 else 30_000, task="4:a") for s in range(60, 360, 60)),
        ],
        sorted(
            [(second, 3) for second in (60, 120, 240, 300)]
            + [(second, 0) for second in (60, 120, 240, 300)]
            + [(180, 29_999), (180, 30_000)]
        ),
        [],
    ),
    "a restart between two totals is one": Scenario(
        [total(60, 100), total(120, 160), total(180, 50), total(240, 220)],
        [(120, 60), (180, 50), (240, 170)],
        [("reset", True)],
    ),
    "a total after a long gap is a new start": Scenario(
        [total(60, 100), total(120, 160), total(1000, 500), total(1060, 530)],
        [(120, 60), (1060, 30)],
        [],
    ),
    "a late reading does not count": Scenario(
        [
            *(total(second, second) for second in range(60, 600, 60)),
            total(90, 1000, received=5000),
        ],
        [(second, 60) for second in range(120, 600, 60)],
        [("late", False)],
    ),
    "the uptime tells a restart": Scenario(
        [up(60, 60), up(120, 120), up(180, 30)],
        [(60, 60 * 10**9), (120, 120 * 10**9), (180, 30 * 10**9)],
        [("reset", True)],
    ),
    "many duplicates are found exactly": Scenario(
        [*MANY, *MANY[::3]],
        [(60 * at, at + 1) for at in range(400)],
        [("duplicate", False)] * len(MANY[::3]),
    ),
    "without a time of receipt nothing is late": Scenario(
        [count(second, 1).split("    ", 1)[1] for second in (60, 120, 90_000)],
        [(60, 1), (120, 1), (90_000, 1)],
        [],
    ),
    "what no task can do is not believed": Scenario(
        [count(60, 10**7), count(120, 60 * 10**7), count(180, 60 * 10**7 + 1)],
        [(60, 10**7), (120, 60 * 10**7)],
        [("impossible", False)],
    ),
    "the first sample has the time to the second": Scenario(
        [count(60, 10**12), count(120, 1)], [(120, 1)], [("impossible", False)]
    ),
    "more memory than any machine has is not believed": Scenario(
        [line(60, "memory/heap", f"{{usedBytes={size}}}", task="-1:__system") for size in (2**51,)],
        [],
        [("impossible", False)],
    ),
    "more bytes than any link carries are not believed": Scenario(
        [received(60, 9), received(120, 6 * 10**12), received(180, 6 * 10**12 + 1)],
        [(60, 9), (120, 6 * 10**12)],
        [("impossible", False)],
    ),
    "a malformed line is one": Scenario(
        ["oops", *EVERY_MINUTE[:1]], [(60, 1)], [("malformed", False)]
    ),
}
TABLES = {"samples": SAMPLES, "quarantine": QUARANTINE, "clocks": CLOCKS}


@dataclass(frozen=True)
class Judged:
    """What became of all scenarios."""

    rows: dict[str, list[Any]]
    schemas: dict[str, list[Any]]


@pytest.fixture(scope="module")
def judged(spark: SparkSession) -> Judged:
    raw = spark.createDataFrame(
        [
            (one, f"file:/x/workers-artifacts/{name}/6700/worker.log.metrics")
            for name, scenario in SCENARIOS.items()
            for one in scenario.lines
        ],
        RAW,
    )
    result = cleaned(parse_lines(raw, Reading()), Reading())
    tables = {name: getattr(result, name) for name in TABLES}
    return Judged(
        {name: table.collect() for name, table in tables.items()},
        {
            name: [(one.name, one.dataType) for one in table.schema]
            for name, table in tables.items()
        },
    )


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(judged: Judged, name: str) -> None:
    of = {table: [r for r in rows if r.topology == name] for table, rows in judged.rows.items()}
    values = sorted((round(row.time.timestamp()) - START, row.value) for row in of["samples"])
    assert values == SCENARIOS[name].values
    aside = sorted((row.reason, row.used) for row in of["quarantine"])
    assert aside == SCENARIOS[name].aside


@pytest.mark.parametrize("table", TABLES)
def test_the_columns_are_those_of_the_schema(judged: Judged, table: str) -> None:
    expected = [(one.name, one.dataType) for one in struct(TABLES[table])]
    assert judged.schemas[table] == expected


def test_the_clocks(judged: Judged) -> None:
    clocks: dict[str, dict[str, tuple[int, int]]] = {}
    for row in judged.rows["clocks"]:
        clocks.setdefault(row.topology, {})[row.node] = (row.skew_s, row.lines)
    assert clocks["a skewed clock is set right"] == {"n1": (0, 3), "n2": (-4999, 4)}
    assert "without a time of receipt nothing is late" not in clocks


def test_a_line_is_kept_in_its_words_or_ours(judged: Judged) -> None:
    lines = {row.topology: row.line for row in judged.rows["quarantine"]}
    assert lines["a malformed line is one"] == "oops"
    late = "1700010000 n1:6700 3:a emit_count{default}=20"
    assert lines["a line from the future is out"] == late
