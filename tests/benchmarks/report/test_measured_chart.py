from __future__ import annotations

import re
from datetime import datetime, timedelta

from slotwise.benchmarks.report.measured_page import over_time
from slotwise.pipeline.statistics.weights.measured import Line

START = datetime(2026, 1, 1, 12, 0)


def line(name: str, *values: float, topology: str = "wc") -> Line:
    points = tuple((START + timedelta(minutes=i), value) for i, value in enumerate(values))
    return Line(topology, name, "points", points)


def test_weights_over_time_are_drawn_named_and_listed() -> None:
    found = over_time("cpu", "Cpu", "points", [line("split", 10, 30.5), line("count", 5, 6)])
    assert found is not None
    assert found.alt == "split is highest, 30.5 points at 2026-01-01 12:01:00."
    assert found.rows[:2] == (
        ("split", "2026-01-01 12:00:00", "10"),
        ("split", "2026-01-01 12:01:00", "30.5"),
    )
    assert {"split", "count"} <= set(re.findall(r">([a-z]+)</text>", found.svg))
    assert not re.search(r"#[0-9a-f]{6}", found.svg), "colours of the page only"


def test_components_of_several_topologies_are_told_apart() -> None:
    some = [line("split", 1.0, topology="a"), line("split", 2.0, topology="b")]
    found = over_time("cpu", "Cpu", "points", some)
    assert found is not None
    assert [row[0] for row in found.rows] == ["a/split", "b/split"]


def test_nothing_to_draw() -> None:
    assert over_time("cpu", "Cpu", "points", []) is None
