"""Weights of logs that come day by day into a store: those of all lines at once."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import slotwise

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.in_turn]
MIDNIGHTS = [datetime(2026, 1, day, tzinfo=UTC) for day in (2, 3)]
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")
COUNTS = dict(zip(DAYS, (600, 900, 300), strict=True))


def write(logs: Path, day: str, workers: int = 4) -> None:
    """Write what tasks of ``split`` and ``lines`` say within 12 minutes of midnight.

    A line comes two seconds after its time: the last of a day on the next one.
    """
    path = logs / "workers-artifacts" / "wc-1-1" / day / "worker.log.metrics"
    path.parent.mkdir(parents=True)
    with path.open("w") as file:
        for midnight in MIDNIGHTS:
            for second in range(-720, 720):
                time = midnight + timedelta(seconds=second)
                worker, is_due = divmod(int(time.timestamp()) % 60 - 14, 15)
                if time.date().isoformat() != day or is_due or worker not in range(workers):
                    continue
                received = f"{time + timedelta(seconds=2):%Y-%m-%d %H:%M:%S.000}"
                place = f"{int(time.timestamp())}\tn{worker}:6700\t"
                values = {
                    f"{worker}:split\t__execute-count": f"{{lines:default={COUNTS[day]}}}",
                    f"{worker}:split\t__execute-latency": "{lines:default=40.0}",
                    f"{10 + worker}:lines\t__emit-count": f"{{default={COUNTS[day]}}}",
                    "-1:__system\tCPU": f"{{user-ms={50 * COUNTS[day]}, sys-ms=0}}",
                    "-1:__system\tuptimeSecs": f"{second + 100_000}.0",
                }
                for name, value in values.items():
                    file.write(f"{received} 5000 {place}{name}\t{value}\n")


def kept(store: Path) -> dict[str, int]:
    """The day of windows -> the run that made its tables."""
    (path,) = store.rglob("days.json")
    return {day: run for _, day, _, run in json.loads(path.read_text())["days"]}


@pytest.fixture
def measure(spark: SparkSession, tmp_path: Path, root: Path) -> Any:
    """Measure the logs; return the document."""
    topology = root / "docs" / "examples" / "word-count.json"

    def call(**options: Any) -> dict[str, Any]:
        return slotwise.measure(tmp_path / "logs", topology, **options).measured.to_document()

    return call


def test_a_new_day_leaves_the_others_alone(measure: Any, tmp_path: Path) -> None:
    for day in DAYS[:2]:
        write(tmp_path / "logs", day)
    store = tmp_path / "store"
    measure(store=store)
    assert kept(store) == dict.fromkeys(DAYS[:2], 1)
    write(tmp_path / "logs", DAYS[2])
    assert measure(store=store, statistic="p95") == measure(statistic="p95")
    # The last windows of the second day are of lines that came on the third one.
    assert kept(store) == {DAYS[0]: 1, DAYS[1]: 2, DAYS[2]: 2}
    assert measure(store=store, last="20m") == measure(last="20m")
    at_once = measure()
    assert measure(store=store) == at_once
    assert kept(store)[DAYS[0]] == 1
    split = next(one for one in at_once["components"] if one["component"] == "split")
    # 12, 24 and 12 minutes at 600, 900 and 300 tuples of 40 ms a minute.
    assert split["cpu"]["value"] == pytest.approx(100 * 675 * 0.04 / 60)
    assert split["cpu"]["samples"] == 4 * 48


def test_another_clock_rate_makes_a_day_again(measure: Any, tmp_path: Path) -> None:
    write(tmp_path / "logs", DAYS[0], workers=2)
    write(tmp_path / "logs", DAYS[1])
    store = tmp_path / "store"
    clocks = {f"n{worker}": 1 for worker in range(4)}
    measure(store=store, ghz=clocks)
    # Of a node that was not there on the first day.
    faster = {**clocks, "n3": 2}
    assert measure(store=store, ghz=faster) == measure(ghz=faster)
    assert kept(store) == {DAYS[0]: 1, DAYS[1]: 2}
