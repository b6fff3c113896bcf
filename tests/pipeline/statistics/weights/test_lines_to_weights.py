"""Weights of small logs, written by hand, whose truth is plain.

Most are of a topology of their own each and are measured together.
"""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import slotwise
from slotwise.pipeline.statistics import parts
from slotwise.pipeline.statistics.weights.logs import Settings, measure_logs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slotwise.models.instance.instance import Instance
    from slotwise.pipeline.statistics.weights.measured import Measured

pytestmark = pytest.mark.spark
START_MS = 1_700_000_040_000
TASKS = tuple(f"split[{index}]" for index in range(4))


Lines = list[dict[str, Any]]


def task(second: int, name: str, tuples: int, cpu_ms: int, **more: Any) -> dict[str, Any]:
    line = {"time": START_MS + 1000 * second, "topology": "wc", "task": name, "node": "n1"}
    return {**line, "tuples": tuples, "cpu_ms": cpu_ms, **more}


def pair(second: int, source: str, target: str, tuples: int, **more: Any) -> dict[str, Any]:
    line = {"time": START_MS + 1000 * second, "topology": "wc", "from": source, "to": target}
    return {**line, "tuples": tuples, "bytes": 10 * tuples, **more}


def write(path: Path, lines: Lines) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def pairs_without_node() -> Lines:
    minutes = [60 * minute for minute in range(1, 4)]
    return [
        *(task(second, "split[0]", 600, 240) for second in minutes),
        *(task(second, "lines[0]", 600, 60) for second in minutes),
        *(pair(second + 1, "lines[0]", "split[0]", 600) for second in minutes),
    ]


def uneven() -> Lines:
    """Gaps of 30 and 90 seconds in turn: 400 ms and 100 tuples a second of each task."""
    second, lines = 0, []
    for gap in [30, 90] * 10:
        second += gap
        lines += [task(second, name, 100 * gap, 400 * gap) for name in TASKS]
        lines += [pair(second, "lines[0]", name, 100 * gap) for name in TASKS]
    return lines


def lost() -> Lines:
    """Every tenth line is lost, of tasks and pairs, where all come each minute."""
    minutes = [minute for minute in range(1, 61) if minute % 10 != 5]
    lines = [task(60 * minute, "split[0]", 600, 240) for minute in minutes]
    return lines + [pair(60 * minute + 1, "lines[0]", "split[0]", 600) for minute in minutes]


def silent(has_tasks: bool) -> Lines:
    """A pair has a line in the one of ten minutes in which there are tuples."""
    lines = []
    for minute in range(1, 61):
        for name in TASKS:
            busy = int(minute % 10 == 0)
            if has_tasks:
                lines.append(task(60 * minute, name, 6000 * busy, 2400 * busy))
            if busy:
                lines.append(pair(60 * minute, "lines[0]", name, 6000))
    return lines


def silent_beside_one_that_speaks(pause: int) -> Lines:
    """One pair of two has 5 lines in 20 minutes, none of them in the first minute or after a pause.

    Lines come at half past, so that the first window begins before its first line.
    """
    lines = []
    for minute in range(1, 21):
        second = 60 * (minute + (pause if minute > 10 else 0)) + 30
        lines += [task(second, name, 600, 240) for name in TASKS[:2]]
        lines.append(pair(second, "lines[0]", TASKS[0], 600))
        if minute in range(2, 11, 2):
            lines.append(pair(second, "lines[0]", TASKS[1], 600))
    return lines


def ahead() -> Lines:
    """A node's clock is wrong by decades; nothing says when its lines were received."""
    lines = [task(60 * minute, "split[0]", 600, 240) for minute in range(1, 9)]
    return [*lines, task(0, "split[0]", 600, 240, node="n3") | {"time": 4_102_444_800_000}]


TOGETHER = {
    "pairs-without-node": pairs_without_node(),
    "uneven": uneven(),
    "lost": lost(),
    "silent": silent(has_tasks=True),
    "silent-without-tasks": silent(has_tasks=False),
    "beside": silent_beside_one_that_speaks(pause=0),
    "beside-after-a-pause": silent_beside_one_that_speaks(pause=360),
    "ahead": ahead(),
}
INCREMENTS = "increments"


def write_increments(logs: Path) -> None:
    """Write running totals that grow by 600 a minute, of which every fourth reading is lost."""
    log = logs / "workers-artifacts" / f"{INCREMENTS}-1-1700000000" / "6700" / "a.metrics"
    log.parent.mkdir(parents=True)
    readings = [minute for minute in range(1, 61) if minute % 4]
    times = ((START_MS // 1000 + 60 * minute, 600 * minute) for minute in readings)
    name = "__execute-count-lines:default"
    log.write_text("".join(f"{time}\tn1:6700\t3:split\t{name}\t{n}\n" for time, n in times))


@pytest.fixture(scope="module")
def word_count(root: Path) -> Instance:
    return slotwise.read_instance(root / "docs" / "examples" / "word-count.json")


@pytest.fixture(scope="module")
def together(
    spark: SparkSession, word_count: Instance, tmp_path_factory: pytest.TempPathFactory
) -> Measured:
    """What was measured of all topologies."""
    logs = tmp_path_factory.mktemp("logs")
    for name, lines in TOGETHER.items():
        write(logs / f"{name}.jsonl", [{**line, "topology": name} for line in lines])
    write_increments(logs)
    topologies = [replace(word_count.topologies[0], id=name) for name in (*TOGETHER, INCREMENTS)]
    instance = replace(word_count, topologies=tuple(topologies))
    return measure_logs(spark, logs, instance, Settings(clocks={"n1": 2_000_000_000}), None)


@pytest.fixture
def measure(spark: SparkSession, tmp_path: Path, word_count: Instance) -> Any:
    """Measure lines of one topology."""

    def call(lines: Lines, **settings: Any) -> Measured:
        write(tmp_path / "logs" / "a.jsonl", lines)
        return measure_logs(spark, tmp_path / "logs", word_count, Settings(**settings), None)

    return call


def component(found: Measured, name: str, topology: str = "wc") -> Any:
    ids = (topology, name)
    return next(one for one in found.components if (one.topology, one.component) == ids)


def received(found: Measured, topology: str = "wc") -> list[Decimal]:
    return [one.received.value for one in found.streams if one.topology == topology]  # type: ignore[union-attr]


def nodes(found: Measured, topology: str = "wc") -> dict[str, str]:
    return {one.task: one.node for one in found.places if one.topology == topology}


def test_a_pair_needs_neither_node_nor_clock(together: Measured, measure: Any) -> None:
    name = "pairs-without-node"
    assert component(together, "split", name).cost.value * 10 == 8
    assert received(together, name) == [10]
    assert nodes(together, name) == {"lines[0]": "n1", "split[0]": "n1"}
    without = measure(pairs_without_node())
    assert component(without, "split").cost.value * 10 == 4
    assert received(without) == [10]
    assert nodes(without) == {"lines[0]": "n1", "split[0]": "n1"}


def test_a_line_covers_the_time_since_the_line_before(together: Measured) -> None:
    assert component(together, "split", "uneven").cpu.value == 40
    assert received(together, "uneven") == [400]


@pytest.mark.parametrize("ahead_s", [None, 7200, 5 * 86_400])
def test_the_last_hour_alone_counts(
    measure: Any, monkeypatch: pytest.MonkeyPatch, ahead_s: int | None
) -> None:
    """Three days at 10 tuples a second, an hour at 20; one line of a clock that is ahead."""
    # Samples of a day are summed in several buckets.
    monkeypatch.setattr(parts, "_BYTES_PER_BUCKET", 1000)
    days, last = range(0, 3 * 86_400, 600), range(3 * 86_400, 3 * 86_400 + 3600, 60)
    lines = [task(second, name, 6000, 2400) for second in days for name in TASKS]
    lines += [pair(second, "lines[0]", name, 6000) for second in days for name in TASKS]
    lines += [task(second, name, 1200, 480) for second in last for name in TASKS]
    lines += [pair(second, "lines[0]", name, 1200) for second in last for name in TASKS]
    if ahead_s is not None:
        lines.append(task(last[-1] + ahead_s, "split[0]", 1200, 480))
    found = measure(lines, last_s=3600, interval_s=60.0)
    assert received(found) == [80]
    assert float(component(found, "split").cpu.value) == 0.8
    assert (found.last - found.first).total_seconds() == 59 * 60 + (ahead_s or 0)
    assert found.lines_read == len(lines)


def test_the_end_of_the_logs_may_be_longer_than_they_are(measure: Any) -> None:
    lines = [task(60 * minute, "split[0]", 600, 240) for minute in range(60)]
    whole = measure(lines).to_document()
    assert measure(lines, last_s=86_400 * 30).to_document() == whole


def test_a_lost_line_is_no_longer_interval(together: Measured) -> None:
    assert float(component(together, "split", "lost").cpu.value) == 0.4
    assert received(together, "lost") == [10]


@pytest.mark.parametrize("name", ["silent", "silent-without-tasks"])
def test_a_silent_pair_sends_nothing(together: Measured, name: str) -> None:
    assert received(together, name) == [40]
    mine = (one.kib_per_second for one in together.pairs if one.topology == name)
    assert {float(one.value) for one in mine if one is not None} == {0.097656}


@pytest.mark.parametrize("name", ["beside", "beside-after-a-pause"])
def test_a_silent_pair_is_there_beside_one_that_speaks(together: Measured, name: str) -> None:
    assert received(together, name) == [Decimal("12.5")]


def test_an_increment_covers_the_gap_of_a_lost_reading(together: Measured) -> None:
    assert received(together, INCREMENTS) == [10]


def test_a_line_from_the_future_is_kept_aside(together: Measured) -> None:
    assert together.thrown_away == {"ahead": 1}
    assert together.last.year == 2023
    assert nodes(together, "ahead") == {"split[0]": "n1"}
