"""Pages of measured weights, of explanations and of long names, in a browser on a phone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_pages import open_details, opened
from viewer_cases import on, problem

import slotwise
from slotwise.benchmarks.report.explanation_page import PageSection, PageTable, write_explanation
from slotwise.benchmarks.report.measured_page import write_measured
from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.pipeline.statistics.weights.measured import (
    ComponentWeights,
    Line,
    Measured,
    StreamWeights,
    Weight,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTH = 390
LONG = "node-" * 400 + "{}"
START = datetime(2026, 1, 1, 12, 0)


SURE = Weight(Decimal("12.5"), 40, Decimal(11), Decimal(14))


def measured_page(folder: Path, weight: Weight = SURE) -> Path:
    instance = slotwise.read_instance("docs/examples/word-count.json")
    (topology,) = instance.topologies
    measured = Measured(
        "mean", 60, START, START + timedelta(minutes=9), 400,
        tuple(
            ComponentWeights(topology.id, one.id, one.parallelism, *[weight] * 4)
            for one in topology.components
        ),
        tuple(
            StreamWeights(topology.id, one.source, one.target, weight, weight)
            for one in topology.streams
        ),
        thrown_away={"not a number": 3},
        lines=(Line(topology.id, "split", "points", ((START, 10.0), (START, 12.0))),),
    )  # fmt: skip
    path = folder / "measured.html"
    write_measured(path, instance, measured, {"not a number": "a value is no number"})
    return path


def explanation_page(folder: Path) -> Path:
    one = problem(6, nodes=3, name="tasks", node_name=LONG, racks=1, soft=False)
    heads = tuple(f"column {i} of the table" for i in range(12))
    table = PageTable(heads, (tuple("0123456789" for _ in heads),))
    sections = [PageSection("Costs", (), table), PageSection("Costs", (), table)]
    # Of one name, as the viewers of several cases on a report are.
    shown = [Shown("optimum", on(0, 0, 1, 1, 2, 2)), Shown("optimum", on(0, 1, 2, 0, 1, 2))]
    path = folder / "explanation.html"
    write_explanation(path, "Explained", sections, one, shown)
    return path


def phone(browser: Browser, path: Path) -> Page:
    page, _ = opened(browser, path, WIDTH)
    open_details(page)
    return page


@pytest.mark.parametrize("make", [measured_page, explanation_page])
def test_axe_finds_no_fault_in_boxes_that_scroll_or_in_landmarks(
    browser: Browser, tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = phone(browser, make(tmp_path))
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    faults = [
        (one["id"], node["html"][:160])
        for one in axe.Axe().run(page).response["violations"]
        if one["impact"] in ("serious", "critical") or one["id"].startswith("landmark")
        for node in one["nodes"][:3]
    ]
    assert faults == []
    page.context.close()


def test_the_drawing_of_streams_keeps_its_size_in_a_box_of_its_own(
    browser: Browser, tmp_path: Path
) -> None:
    page = phone(browser, measured_page(tmp_path))
    note = page.locator("svg.streams .note").first
    box, size = page.locator("svg.streams").bounding_box(), "one => one.getCTM().a"
    assert box is not None
    assert box["width"] > WIDTH, "wider than the phone"
    assert note.evaluate(size) == pytest.approx(1), "10.5 pixels are 10.5 pixels"
    assert page.locator(".scroll[tabindex='0'] > svg.streams").count() == 1
    page.context.close()


def test_a_page_without_intervals_does_not_speak_of_them(tmp_path: Path) -> None:
    text = measured_page(tmp_path).read_text(encoding="utf-8")
    assert "its 95 % confidence interval" in text
    bare = measured_page(tmp_path, Weight(Decimal("12.5"), 40)).read_text(encoding="utf-8")
    assert "95 %" not in bare
