"""Logs from which a consumer is missing, and logs with damaged lines: refused, or right."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import slotwise
from slotwise.benchmarks.experiments.measuring.damage import FILES, RIGHT, Mixture, judged
from slotwise.benchmarks.experiments.measuring.damaged_lines import DAMAGES
from slotwise.models.errors import InputError
from slotwise.pipeline.statistics.weights.measured import Measured

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.in_turn]
START = 1_700_000_040
MINUTES = 24


def line(minute: int, worker: int, name: str, value: str) -> str:
    task = "-1:__system"
    if name.startswith("__"):
        task = f"{10 + worker}:lines" if name == "__emit-count" else f"{worker}:split"
    return f"{START + 60 * minute}\tn{worker}:6700\t{task}\t{name}\t{value}\n"


def write(logs: Path, consumers: tuple[int, ...], comma: bool = False, garbage: int = 0) -> None:
    """Write minutes of four workers, each with a task of ``split`` (40 points) and ``lines`` (20).

    Each goes round four consumers. With `comma`, one count has a decimal comma, so that its
    worker does not say in that minute how much of its time was that of ``lines``.
    """
    for minute in range(1, MINUTES + 1):
        for worker in range(4):
            if (minute + worker) % 4 not in consumers:
                continue
            path = logs / "workers-artifacts" / "wc-1-1" / str((minute + worker) % 4)
            path.mkdir(parents=True, exist_ok=True)
            is_damaged = comma and (minute, worker) == (9, 2)
            count = "{lines:default=600,5}" if is_damaged else "{lines:default=600}"
            with (path / "worker.log.metrics").open("a") as file:
                file.write(line(minute, worker, "__execute-count", count))
                file.write(line(minute, worker, "__execute-latency", "{lines:default=40.0}"))
                file.write(line(minute, worker, "__emit-count", "{default=900}"))
                file.write(line(minute, worker, "CPU", "{user-ms=36000, sys-ms=0}"))
                file.write(line(minute, worker, "uptimeSecs", f"{60 * minute + 7}.0"))
                file.write("garbage\n" * (garbage if minute == 5 else 0))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return tmp_path / "logs"


def measure(logs: Path, root: Path, **more: float | Path) -> Measured:
    topology = root / "docs" / "examples" / "word-count.json"
    return slotwise.measure(logs, topology, **more).measured  # type: ignore[arg-type]


def cpu(measured: Measured) -> dict[str, float]:
    return {one.component: float(one.cpu.value) for one in measured.components if one.cpu}


def test_one_of_four_consumers(spark: SparkSession, logs: Path, root: Path) -> None:
    """A quarter of the reports of each task: 240 s apart, but each is of 60 s."""
    write(logs, consumers=(1,))
    with pytest.raises(
        InputError, match=r"every 240 s, but the workers report .* `interval` 60"
    ) as error:
        measure(logs, root)
    assert "\n" not in str(error.value)
    found = measure(logs, root, interval=60)
    assert cpu(found) == {"lines": 20, "split": 40}
    (covered,) = (one for one in found.coverage if one.component == "split")
    assert (covered.tasks, covered.tasks_expected, covered.windows) == (4, 4, MINUTES)
    assert covered.share == pytest.approx(0.25, abs=0.03)
    assert any("of the windows; weights are those of these alone" in one for one in found.notes)


def test_damaged_lines(spark: SparkSession, logs: Path, root: Path) -> None:
    """A decimal comma moves nothing; with more than 5 % of such lines there are no weights."""
    write(logs, consumers=(0, 1, 2, 3), comma=True, garbage=9)
    in_all = 4 * MINUTES * 5 + 4 * 9
    with pytest.raises(
        InputError, match=f"damaged in 7.2 % of {in_all} lines .37 malformed"
    ) as error:
        measure(logs, root, aside=logs.parent / "aside.csv")
    assert "`accept_damaged`" in str(error.value)
    assert "`aside`" in str(error.value)
    with (logs.parent / "aside.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert Counter(row["line"] for row in rows).most_common(1) == [("garbage", 36)]
    assert "600,5" in next(row["line"] for row in rows if row["line"] != "garbage")
    assert {row["reason"] for row in rows} == {"malformed"}
    found = measure(logs, root, accept_damaged=True)
    assert cpu(found) == {"lines": 20, "split": 40}
    assert (found.damaged, found.lines_read) == (37, in_all)
    assert [(one.source, one.seconds, one.is_stated) for one in found.intervals] == [
        ("storm", 60, False)
    ]
    # The minute of the decimal comma has no report.
    assert found.to_document()["coverage"][-1]["windows"] == 4 * MINUTES - 1


@pytest.mark.slow
def test_one_line_in_a_hundred_is_damaged_in_every_way(spark: SparkSession) -> None:
    """Demands and rates stay within 2 % of the truth; `measure_damage` draws other mixtures."""
    logs = (("storm", "v1"), ("storm", "v2"), ("json", "v1"))
    mixtures = [
        Mixture(f"wc{at}", kind, metrics, tuple(range(FILES)), (0, 0), 0.01, DAMAGES)
        for at, (kind, metrics) in enumerate(logs)
    ]
    assert [one.verdict for one in judged(spark, mixtures, seed=5)] == [RIGHT] * len(mixtures)
