"""The page of a grading in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_pages import open_details, opened
from graded_folder import make_graded
from graded_rows import optimum
from made_rows import made_rows

from slotwise.api.reporting import report
from slotwise.benchmarks.grading.rows import read_placement_text
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report.case_table import MOST_LINES
from slotwise.benchmarks.report.graded_rows import graded_of
from slotwise.benchmarks.report.page import render

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTHS = (1440, 1000, 390)
MOST_SECONDS = 3.0
"""Of the processor, so that a busy machine makes no difference."""

MOST_BYTES = 10_000_000

playwright = pytest.importorskip(
    "playwright.sync_api", reason="needs Playwright: pip install 'slotwise[browser]'"
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_graded(tmp_path_factory.mktemp("graded"))
    report(folder, methods={"turns": "round-robin"})
    return folder


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with as many lines as a page has at most, from three methods."""
    folder = tmp_path_factory.mktemp("many")
    path = folder / "report.html"
    graded = graded_of(made_rows(MOST_LINES + 1, 3), Store(folder).problem)
    path.write_text(render(graded), encoding="utf-8")
    return path


def shows(page: Page, text: str) -> None:
    """Wait until the table says how many lines it shows."""
    playwright.expect(page.locator("#shown")).to_have_text(text)


def names(page: Page) -> list[str]:
    """Return the instances that the table shows, in its order."""
    found: list[str] = page.locator("#cases tbody tr:visible > th").all_text_contents()
    return found


@pytest.mark.parametrize("width", WIDTHS)
def test_page_loads_from_disk_offline_without_errors_and_without_scrolling_sideways(
    browser: Browser, graded: Path, width: int
) -> None:
    page, said = opened(browser, graded / "report.html", width)
    open_details(page)
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


def test_thousands_are_sorted_as_numbers(browser: Browser, tmp_path: Path) -> None:
    rows = [optimum(name, "0", value) for name, value in (("b", "23"), ("c", "18814"), ("a", "0"))]
    path = tmp_path / "report.html"
    path.write_text(render(graded_of(rows, Store(tmp_path).problem)), encoding="utf-8")
    page, _ = opened(browser, path)
    page.locator("#cases thead button", has_text="best known").click()
    assert names(page) == ["a", "b", "c"]
    page.context.close()


def test_table_is_filtered_and_sorted(browser: Browser, many: Path) -> None:
    page, said = opened(browser, many)
    assert len(names(page)) == MOST_LINES
    page.fill("#search", "made-0012")
    shows(page, f"10 of {MOST_LINES} shown")
    assert names(page) == [f"made-0012{i}" for i in range(10)]
    page.locator("#cases thead button", has_text="tasks").click()
    tasks = [
        int(text)
        for text in page.locator("#cases tr:visible td:nth-of-type(1)").all_text_contents()
    ]
    assert tasks == sorted(tasks)
    assert page.locator("#cases th", has_text="tasks").get_attribute("aria-sort") == "ascending"
    page.locator("#cases thead button", has_text="tasks").click()
    again = page.locator("#cases tr:visible td:nth-of-type(1)").all_text_contents()
    assert [int(text) for text in again] == sorted(tasks, reverse=True)
    page.fill("#search", "")
    shows(page, f"{MOST_LINES} of {MOST_LINES} shown")
    page.select_option("#state", "failed")
    failed = page.locator("#cases tbody tr:visible")
    assert 0 < failed.count() < MOST_LINES
    assert failed.count() == failed.filter(has=page.locator("td span.bad")).count()
    page.select_option("#state", "")
    page.locator("#cases thead button", has_text="method-2").click()
    page.locator("#cases thead button", has_text="method-2").click()
    worst = page.locator("#cases tbody tr:visible").first.text_content()
    assert worst is not None
    assert "broken rule" in worst or "refused" in worst, "failures are worse than any gap"
    assert said == []
    page.context.close()


def test_table_is_downloaded_as_csv(browser: Browser, many: Path) -> None:
    page, _ = opened(browser, many, accept_downloads=True)
    page.fill("#search", "made-0012")
    shows(page, f"10 of {MOST_LINES} shown")
    with page.expect_download() as waiting:
        page.click("#csv")
    assert waiting.value.suggested_filename == "instances.csv"
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["instance"] for line in lines] == names(page)
    row = next(r for r in made_rows(MOST_LINES + 1, 3) if r["instance"] == lines[0]["instance"])
    assert lines[0]["tasks"] == str(row["tasks"])
    assert len({len(line) for line in lines}) == 1
    kinds = ("", " gap term", " gap", " gap, %", " overload", " network", " seconds")
    assert {f"method-0{kind}" for kind in kinds} <= lines[0].keys()
    assert {"best known network", "bound overload"} <= lines[0].keys()
    assert "'" not in text
    for line in lines:
        for kind in kinds[2:]:
            float(line[f"method-0{kind}"] or 0)
        if line["method-0"] == "above optimum" and line["method-0 gap term"] == "network":
            above = float(line["method-0 network"]) - float(line["best known network"])
            assert float(line["method-0 gap"]) == pytest.approx(above)
    assert {"above optimum"} <= {line["method-0"] for line in lines}
    page.context.close()


def test_viewer_shows_each_task_on_its_node(browser: Browser, graded: Path) -> None:
    store = Store(graded)
    row = next(r for r in store.rows() if r["method"] == "r-storm" and r["status"] == "valid")
    problem = store.problem(row["instance_hash"])
    assert problem is not None
    assert row["placement"] is not None
    places = read_placement_text(row["placement"]).to_dict(problem.instance)
    page, _ = opened(browser, graded / "report.html")
    panes = page.locator(f"#case-{row['instance_hash'][-12:]}-0 .pv-pane")
    pane = next(one for one in panes.all() if one.get_attribute("aria-label") == "r-storm")
    page.locator(".pv-bar select").first.select_option(label="r-storm")
    (tasks,) = places.values()
    for task, place in tasks.items():
        component, index = task.rstrip("]").split("[")
        node = pane.locator(".pv-n", has=page.locator(f"p > b:text-is('{place['node']}')"))
        group = node.locator("li", has=page.locator(f"span:text-is('{component}')"))
        assert group.locator(f"i:text-is('{index}')").count() == 1, task
        group.locator(f"i:text-is('{index}')").click()
        assert f"r-storm: {place['node']}" in page.locator(".pv-said").first.inner_text()
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_no_serious_fault(
    browser: Browser, graded: Path, scheme: str, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, _ = opened(browser, graded / "report.html", width, color_scheme=scheme)
    open_details(page)
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (one["id"], node["html"][:200], node["failureSummary"])
        for one in found
        if one["impact"] in ("serious", "critical") or one["id"].startswith("landmark")
        for node in one["nodes"]
    ]
    assert serious == []
    page.context.close()


def test_switch_of_colours_overrules_the_system(browser: Browser, graded: Path) -> None:
    page, _ = opened(browser, graded / "report.html", color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.select_option("#theme", "dark")
    assert page.evaluate(paper) != light
    page.reload()
    assert page.evaluate(paper) != light, "kept for the next time"
    page.context.close()


def test_page_is_readable_without_javascript(browser: Browser, graded: Path) -> None:
    page, _ = opened(browser, graded / "report.html", java_script_enabled=False)
    assert page.locator("#search").is_hidden()
    assert page.locator("#theme").is_hidden()
    assert page.locator("#cases tbody tr").count() == 2
    assert page.locator("figure svg").first.is_visible()
    assert page.locator(".answers li").count() == 2
    assert page.get_by_text("turns", exact=True).first.is_visible(), "a label"
    page.context.close()


def seconds_to_load(browser: Browser, path: Path) -> float:
    """Return the processor time of the page's thread until the table is ready."""
    page, said = opened(browser, None)
    meter = page.context.new_cdp_session(page)
    meter.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri())
    playwright.expect(page.locator("#shown")).not_to_be_empty()
    found = {one["name"]: one["value"] for one in meter.send("Performance.getMetrics")["metrics"]}
    assert said == []
    page.context.close()
    seconds: float = found["TaskDuration"]
    return seconds


def test_a_full_page_loads_at_once(browser: Browser, many: Path) -> None:
    assert many.stat().st_size < MOST_BYTES
    assert 0 < seconds_to_load(browser, many) < MOST_SECONDS


@pytest.mark.deep
def test_a_page_of_100_000_rows_loads_at_once(browser: Browser, tmp_path: Path) -> None:
    rows = made_rows(10_000, 9)
    assert len(rows) == 100_000
    path = tmp_path / "report.html"
    path.write_text(render(graded_of(rows, Store(tmp_path).problem)), encoding="utf-8")
    assert path.stat().st_size < MOST_BYTES
    assert 0 < seconds_to_load(browser, path) < MOST_SECONDS
