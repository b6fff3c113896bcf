"""Weights of logs that come day by day into a store: those of all lines at once."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import slotwise
from slotwise.models.errors import InputError
from slotwise.pipeline.statistics.manifest import Part
from slotwise.pipeline.statistics.schema import JSON, STORM
from slotwise.pipeline.statistics.weights.days import DayTables, day_tables
from slotwise.pipeline.statistics.weights.reporting import ReportingInterval
from slotwise.pipeline.statistics.weights.rules import ALL_DAYS, Rules
from slotwise.pipeline.statistics.weights.sums import OfDay, PartSums, Sums

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MIDNIGHTS = [datetime(2026, 1, day, tzinfo=UTC) for day in (2, 3)]
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")
COUNTS = dict(zip(DAYS, (600, 900, 300), strict=True))


def write(logs: Path, day: str) -> None:
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
                if time.date().isoformat() != day or is_due:
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
    return {day: run for _, day, _, run, _ in json.loads(path.read_text())["days"]}


@pytest.fixture
def measure(spark: SparkSession, tmp_path: Path, root: Path) -> Any:
    """Measure the logs; return the document."""
    topology = root / "docs" / "examples" / "word-count.json"

    def call(**options: Any) -> dict[str, Any]:
        return slotwise.measure(tmp_path / "logs", topology, **options).measured.to_document()

    return call


@pytest.mark.spark
@pytest.mark.in_turn
def test_a_new_day_leaves_the_others_alone(measure: Any, tmp_path: Path) -> None:
    for day in DAYS[:2]:
        write(tmp_path / "logs", day)
    store = tmp_path / "store"
    measure(store=store)
    assert kept(store) == dict.fromkeys(DAYS[:2], 1)
    write(tmp_path / "logs", DAYS[2])
    at_once = measure()
    assert measure(store=store) == at_once
    # The last windows of the second day are of lines that came on the third one.
    assert kept(store) == {DAYS[0]: 1, DAYS[1]: 2, DAYS[2]: 2}
    end: dict[str, Any] = {"statistic": "p95", "last": "20m"}
    assert measure(store=store, **end) == measure(**end)
    assert kept(store)[DAYS[0]] == 1
    for lost in ("facts", "days/means"):
        path, *_ = (store / "sums" / "60s" / lost).glob(
            f"run=1/topology=wc/day={DAYS[0]}/*.parquet"
        )
        path.unlink()
    assert measure(store=store) == at_once
    assert kept(store)[DAYS[0]] > 1
    (store / "sums" / "60s" / "parts.json").write_text("{")
    with pytest.raises(InputError, match=f"is damaged; remove the folder {store}/sums/60s, which"):
        measure(store=store)
    (store / "sums" / "60s" / "parts.json").unlink()
    measure(store=store)
    runs = kept(store)
    # A percentile needs the series, which the mean does without; after it both are there.
    assert measure(store=store, statistic="p95") == measure(statistic="p95")
    with_series = kept(store)
    assert min(with_series.values()) > max(runs.values())
    assert measure(store=store) == at_once
    assert kept(store) == with_series
    split = next(one for one in at_once["components"] if one["component"] == "split")
    # 12, 24 and 12 minutes at 600, 900 and 300 tuples of 40 ms a minute.
    assert split["cpu"]["value"] == pytest.approx(100 * 675 * 0.04 / 60)
    assert split["cpu"]["samples"] == 4 * 48


FIRST, SECOND = (("wc", day) for day in DAYS[:2])


def sums_of(folder: Path, *numbers: int, since_s: int | None = None) -> Sums:
    """Sums of two days by their numbers; Storm's lines on node n1, and on the second day on n2."""
    parts: dict[Part, PartSums] = {
        part: PartSums(number, (OfDay(part[1], STORM, nodes, busy=0, outside=0),))
        for part, nodes, number in zip(
            (FIRST, SECOND), (("n1",), ("n1", "n2")), numbers, strict=True
        )
    }
    return Sums(folder, parts, window_s=60, since_s=since_s)


RULES = Rules(
    window_s=60,
    reporting={("wc", STORM): ReportingInterval(60.0)},
    hz={"n1": 10**9},
    step_s=480,
    is_stated=False,
)
EVEN, UNEVEN = ReportingInterval(60.0), ReportingInterval(60.0, is_even=False)
NOON = int(MIDNIGHTS[0].timestamp()) - 43_200


@pytest.mark.parametrize(
    ("numbers", "since_s", "changed", "new"),
    [
        ((1, 1), None, {}, set()),
        ((1, 2), None, {}, {SECOND}),
        ((1, 1), None, {"hz": {"n1": 10**9, "n2": 2 * 10**9}}, {SECOND}),
        ((1, 1), None, {"hz": {"n1": 10**9, "n3": 2 * 10**9}}, set()),
        ((1, 1), None, {"hz": {"n1": 2 * 10**9}}, {FIRST, SECOND}),
        ((1, 1), None, {"reporting": {("wc", STORM): ReportingInterval(30.0)}}, {FIRST, SECOND}),
        ((1, 1), None, {"reporting": {**RULES.reporting, ("wc", JSON): EVEN}}, set()),
        ((1, 1), None, {"reporting": {("wc", STORM): UNEVEN}}, {("wc", ALL_DAYS)}),
        ((1, 1), None, {"window_s": 7 * 60}, {("wc", ALL_DAYS)}),
        ((1, 1), NOON, {}, {FIRST}),
        ((1, 1), NOON + 86_400, {}, {SECOND}),
    ],
)
def test_a_day_is_made_again_if_what_it_depends_on_has_changed(
    tmp_path: Path,
    numbers: tuple[int, int],
    since_s: int | None,
    changed: dict[str, Any],
    new: set[tuple[str, str]],
) -> None:
    def tables(sums: Sums, rules: Rules, needed: str = "means") -> DayTables:
        no_session: Any = None  # no rows are read
        return day_tables(no_session, sums, rules, lambda rows: rows, needed, are_kept=True)

    def keep(made: DayTables) -> None:
        run = tmp_path / "days" / "means" / f"run={made.run}"
        run.mkdir(parents=True)
        (run / "_files.json").write_text("{}")
        made.keep()

    before = tables(sums_of(tmp_path, 1, 1), RULES)
    assert set(before.new) == {FIRST, SECOND}
    keep(before)
    after = tables(sums_of(tmp_path, *numbers, since_s=since_s), replace(RULES, **changed))
    assert set(after.new) == new
    keep(after)
    # A run that was killed left a table, which was made of other sums.
    left = tmp_path / "days" / "series" / f"run={after.run + bool(new)}"
    left.mkdir(parents=True)
    assert tables(sums_of(tmp_path, 1, 1), RULES).run == after.run + bool(new)
    assert not left.exists()
    # What does not count now is there when it counts again.
    again = tables(sums_of(tmp_path, 1, 1), RULES)
    assert set(again.new) == new & {FIRST, SECOND}
    assert set(tables(sums_of(tmp_path, 1, 1), RULES, "series").new) == {FIRST, SECOND}
