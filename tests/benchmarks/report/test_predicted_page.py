"""The page of a prediction: its numbers are those of the prediction, escaped and whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from conftest import EXAMPLES

import slotwise
from slotwise.benchmarks.report.predicted_page import PARTS, number, write_predicted
from slotwise.models.prediction.prediction import Prediction

CLICKS = EXAMPLES / "clicks.json"


def prediction_of(method: str, **changes: object) -> Prediction:
    instance = replace(slotwise.read_instance(CLICKS), **changes)  # type: ignore[arg-type]
    return slotwise.predict(instance, slotwise.place(instance, method))  # type: ignore[arg-type]


def page(folder: Path, *predictions: Prediction) -> BeautifulSoup:
    path = folder / "page.html"
    write_predicted(path, *predictions)
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def test_the_page_has_the_numbers_of_the_prediction(tmp_path: Path) -> None:
    one = prediction_of("r-storm")
    found = page(tmp_path, one)
    (spout,) = one.spouts
    assert spout.latency is not None
    latencies, utilisations = found.find_all("tbody")
    cells = [cell.get_text() for cell in latencies.find_all("td")]
    parts = [number(getattr(spout.latency, part)) for part in PARTS]
    assert cells[:7] == [number(spout.rate), number(spout.latency.mean), *parts]
    widths = [
        float(bar["style"].removeprefix("width: ").removesuffix("%"))
        for bar in latencies.select("td.bar span")
    ]
    assert sum(widths) == pytest.approx(100, abs=0.1)
    rows = [row.get_text(" ", strip=True) for row in utilisations.find_all("tr")]
    assert one.bottleneck is not None
    assert rows[0].startswith(f"{one.bottleneck.resource.place} cpu")
    assert len(rows) > 4


def test_two_placements_stand_on_one_page_and_scale(tmp_path: Path) -> None:
    found = page(tmp_path, prediction_of("r-storm"), prediction_of("round-robin"))
    heads = [head.get_text() for head in found.find_all("h2")]
    assert heads == ["The first placement", "The second placement"]
    assert len(found.find_all("tbody")) == 4


def test_names_are_escaped(tmp_path: Path) -> None:
    found = page(tmp_path, prediction_of("r-storm", name="<script>"))
    assert found.find("script") is None
    assert "<script>" in found.get_text()


def test_nodes_over_memory_have_no_numbers(tmp_path: Path) -> None:
    instance = slotwise.read_instance(CLICKS)
    nodes = tuple(
        replace(node, resources={"cpu": 200, "memory_mb": 100}) for node in instance.cluster.nodes
    )
    small = replace(instance, cluster=replace(instance.cluster, nodes=nodes))
    names = [task for _, task in small.task_names()]
    plan = {"clicks": dict.fromkeys(names, ("n1", 0))}
    found = page(tmp_path, slotwise.predict(small, plan))
    assert "No prediction" in found.get_text()
    assert found.find("tbody") is None
