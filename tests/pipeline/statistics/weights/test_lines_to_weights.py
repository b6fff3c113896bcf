"""Weights of small folders of logs, written by hand, whose truth is plain."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import slotwise
from slotwise.pipeline.statistics import run
from slotwise.pipeline.statistics.weights.logs import Settings, measure_logs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slotwise.pipeline.statistics.weights.measured import Measured

pytestmark = pytest.mark.spark
START_MS = 1_700_000_040_000
TASKS = tuple(f"split[{index}]" for index in range(4))


def task(second: int, name: str, tuples: int, cpu_ms: int, **more: Any) -> dict[str, Any]:
    line = {"time": START_MS + 1000 * second, "topology": "wc", "task": name, "node": "n1"}
    return {**line, "tuples": tuples, "cpu_ms": cpu_ms, **more}


def pair(second: int, source: str, target: str, tuples: int, **more: Any) -> dict[str, Any]:
    line = {"time": START_MS + 1000 * second, "topology": "wc", "from": source, "to": target}
    return {**line, "tuples": tuples, "bytes": 10 * tuples, **more}


def write(path: Path, *lines: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def measure(spark: SparkSession, tmp_path: Path, root: Path) -> Any:
    """Measure the logs in ``tmp_path / "logs"`` of the example with a word count."""
    instance = slotwise.read_instance(root / "docs" / "examples" / "word-count.json")

    def call(**settings: Any) -> Measured:
        return measure_logs(spark, tmp_path / "logs", instance, Settings(**settings), None)

    return call


def component(found: Measured, name: str) -> Any:
    return next(one for one in found.components if one.component == name)


@pytest.mark.parametrize("clocks", [{}, {"n1": 2_000_000_000}])
def test_a_pair_needs_neither_node_nor_clock(
    measure: Any, tmp_path: Path, clocks: dict[str, int]
) -> None:
    minutes = [60 * minute for minute in range(1, 4)]
    write(
        tmp_path / "logs" / "a.jsonl",
        *(task(second, "split[0]", 600, 240) for second in minutes),
        *(task(second, "lines[0]", 600, 60) for second in minutes),
        *(pair(second + 1, "lines[0]", "split[0]", 600) for second in minutes),
    )
    found = measure(clocks=clocks)
    assert component(found, "split").cost.value * 10 == (8 if clocks else 4)
    assert [one.received.value for one in found.streams] == [10]
    assert {one.task: one.node for one in found.places} == {"lines[0]": "n1", "split[0]": "n1"}


def test_a_line_covers_the_time_since_the_line_before(measure: Any, tmp_path: Path) -> None:
    """Gaps of 30 and 90 seconds in turn: 400 ms and 100 tuples a second of each task."""
    second, lines = 0, []
    for gap in [30, 90] * 10:
        second += gap
        lines += [task(second, name, 100 * gap, 400 * gap) for name in TASKS]
        lines += [pair(second, "lines[0]", name, 100 * gap) for name in TASKS]
    write(tmp_path / "logs" / "a.jsonl", *lines)
    found = measure(clocks={"n1": 2_000_000_000})
    assert component(found, "split").cpu.value == 40
    assert [one.received.value for one in found.streams] == [400]


@pytest.mark.parametrize("ahead_s", [None, 7200, 5 * 86_400])
def test_the_last_hour_alone_counts(
    measure: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead_s: int | None
) -> None:
    """Three days at 10 tuples a second, an hour at 20; one line of a clock that is ahead."""
    # Samples of a day are summed in several buckets.
    monkeypatch.setattr(run, "_BYTES_PER_BUCKET", 1000)
    days, last = range(0, 3 * 86_400, 600), range(3 * 86_400, 3 * 86_400 + 3600, 60)
    lines = [task(second, name, 6000, 2400) for second in days for name in TASKS]
    lines += [pair(second, "lines[0]", name, 6000) for second in days for name in TASKS]
    lines += [task(second, name, 1200, 480) for second in last for name in TASKS]
    lines += [pair(second, "lines[0]", name, 1200) for second in last for name in TASKS]
    if ahead_s is not None:
        lines.append(task(last[-1] + ahead_s, "split[0]", 1200, 480))
    write(tmp_path / "logs" / "a.jsonl", *lines)
    found = measure(last_s=3600, interval_s=60.0)
    assert [one.received.value for one in found.streams] == [80]
    assert float(component(found, "split").cpu.value) == 0.8
    assert (found.last - found.first).total_seconds() == 59 * 60 + (ahead_s or 0)
    assert found.lines_read == len(lines)


def test_the_end_of_the_logs_may_be_longer_than_they_are(measure: Any, tmp_path: Path) -> None:
    lines = [task(60 * minute, "split[0]", 600, 240) for minute in range(60)]
    write(tmp_path / "logs" / "a.jsonl", *lines)
    assert measure(last_s=86_400 * 30).to_document() == measure().to_document()


def test_a_lost_line_is_no_longer_interval(measure: Any, tmp_path: Path) -> None:
    """Every tenth line is lost, of tasks and pairs, where all come each minute."""
    minutes = [minute for minute in range(1, 61) if minute % 10 != 5]
    lines = [task(60 * minute, "split[0]", 600, 240) for minute in minutes]
    lines += [pair(60 * minute + 1, "lines[0]", "split[0]", 600) for minute in minutes]
    write(tmp_path / "logs" / "a.jsonl", *lines)
    found = measure()
    assert float(component(found, "split").cpu.value) == 0.4
    assert [one.received.value for one in found.streams] == [10]


@pytest.mark.parametrize("has_tasks", [True, False])
def test_a_silent_pair_sends_nothing(measure: Any, tmp_path: Path, has_tasks: bool) -> None:
    """A pair has a line in the one of ten minutes in which there are tuples."""
    lines = []
    for minute in range(1, 61):
        for name in TASKS:
            busy = int(minute % 10 == 0)
            if has_tasks:
                lines.append(task(60 * minute, name, 6000 * busy, 2400 * busy))
            if busy:
                lines.append(pair(60 * minute, "lines[0]", name, 6000))
    write(tmp_path / "logs" / "a.jsonl", *lines)
    found = measure()
    assert [one.received.value for one in found.streams] == [40]
    assert {float(one.kib_per_second.value) for one in found.pairs} == {0.097656}


@pytest.mark.parametrize("pause", [0, 360])
def test_a_silent_pair_is_there_beside_one_that_speaks(
    measure: Any, tmp_path: Path, pause: int
) -> None:
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
    write(tmp_path / "logs" / "a.jsonl", *lines)
    assert [one.received.value for one in measure().streams] == [Decimal("12.5")]


def test_an_increment_covers_the_gap_of_a_lost_reading(measure: Any, tmp_path: Path) -> None:
    """Running totals that grow by 600 a minute, of which every fourth reading is lost."""
    log = tmp_path / "logs" / "workers-artifacts" / "wc-1-1700000000" / "6700" / "a.metrics"
    log.parent.mkdir(parents=True)
    readings = [minute for minute in range(1, 61) if minute % 4]
    times = ((START_MS // 1000 + 60 * minute, 600 * minute) for minute in readings)
    name = "__execute-count-lines:default"
    log.write_text("".join(f"{time}\tn1:6700\t3:split\t{name}\t{n}\n" for time, n in times))
    assert [one.received.value for one in measure().streams] == [10]


def test_a_line_from_the_future_is_kept_aside(measure: Any, tmp_path: Path) -> None:
    """A node's clock is wrong by decades; nothing says when its lines were received."""
    lines = [task(60 * minute, "split[0]", 600, 240) for minute in range(1, 9)]
    ahead = task(0, "split[0]", 600, 240, node="n3") | {"time": 4_102_444_800_000}
    write(tmp_path / "logs" / "a.jsonl", *lines, ahead)
    found = measure()
    assert found.thrown_away == {"ahead": 1}
    assert found.last.year == 2023
    assert [one.node for one in found.places] == ["n1"]
