"""Weights of small folders of logs, written by hand, whose truth is plain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import slotwise
from slotwise.benchmarks.statistics.weights.logs import Settings, measure_logs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slotwise.benchmarks.statistics.weights.measured import Measured

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
