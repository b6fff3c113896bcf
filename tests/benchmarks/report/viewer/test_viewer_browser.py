"""The viewer in a real browser: choosing, marking, keys, widths, a reader's needs."""

from __future__ import annotations

import pytest
from browser_pages import open_details, opened
from viewer_cases import on, problem

import slotwise
from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.benchmarks.report.viewer.view import page

ODD = "x" * 120 + ' <b> & "y"'


@pytest.fixture(scope="module")
def three(root, tmp_path_factory):
    """A page with the optimum, r-storm and round-robin."""
    instance = slotwise.read_instance(root / "docs" / "examples" / "word-count.json")
    placements = (
        slotwise.solve(instance, engine="exhaustive"),
        slotwise.place(instance, "r-storm"),
        slotwise.place(instance, "round-robin"),
    )
    path = tmp_path_factory.mktemp("viewer") / "page.html"
    names = ["optimum", "r-storm", "round-robin"]
    slotwise.show(instance, *placements, names=names).write_page(path)
    return path


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A page with broken placements, odd names, and nodes full of tasks."""
    one = problem(200, nodes=30, name=ODD, node_name=ODD + "{}", racks=3, soft=False)
    full = on(*[0] * 150, *[1] * 49, -1)
    even = on(*(task % 30 for task in range(200)))
    path = tmp_path_factory.mktemp("odd") / "page.html"
    path.write_text(page(one, [Shown(ODD, even), Shown(ODD + "2", full)]), encoding="utf-8")
    return path


def pane(tab, name):
    return tab.locator(f"figure[aria-label='{name}']")


def test_one_method_stands_beside_the_first_and_another_is_chosen(browser, three):
    tab, said = opened(browser, three)
    assert [pane(tab, n).is_visible() for n in ("optimum", "r-storm", "round-robin")] == [
        *(True, True),
        False,
    ]
    tab.select_option("select", label="round-robin")
    assert not pane(tab, "r-storm").is_visible()
    left, right = pane(tab, "optimum").bounding_box(), pane(tab, "round-robin").bounding_box()
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    assert said == []
    tab.context.close()


def test_a_task_is_marked_on_both_sides_and_said(browser, three):
    tab, _ = opened(browser, three)
    pane(tab, "r-storm").locator("li:has(> span:text-is('split')) i:text-is('3')").hover()
    assert tab.locator("figure:visible i.on").count() == 2
    said = tab.locator(".pv-said").inner_text()
    assert said.startswith("split[3]: optimum: n")
    assert "r-storm: n" in said
    tab.context.close()


def test_arrows_lead_from_task_to_task(browser, three):
    tab, _ = opened(browser, three)
    first = pane(tab, "optimum").locator(".pv-w i").first
    first.focus()
    told = [tab.locator(".pv-said").inner_text()]
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft"):
        tab.keyboard.press(key)
        told.append(tab.locator(".pv-said").inner_text())
    assert told[1] == told[3]
    assert len(set(told)) == 3
    stops = pane(tab, "optimum").locator(".pv-w i[tabindex='0']").count()
    assert stops == 1, "one stop of the Tab key"
    tab.keyboard.press("Escape")
    assert tab.locator(".pv-said").inner_text().startswith("Point at a task")
    tab.context.close()


def test_both_sides_scroll_together_with_equal_nodes_level(browser, odd):
    from playwright.sync_api import expect

    tab, _ = opened(browser, odd)
    left, right = tab.locator(".pv-racks").all()
    left.evaluate("one => { one.scrollTop = 120; }")
    expect(right).to_have_js_property("scrollTop", 120)
    nodes = [side.locator(".pv-n").all()[:5] for side in (left, right)]
    tops = [[node.bounding_box()["y"] for node in side] for side in nodes]
    assert tops[0] == pytest.approx(tops[1], abs=1.5)
    tab.context.close()


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_is_wider_than_the_page(browser, odd, three, width):
    for path in (odd, three):
        tab, said = opened(browser, path, width)
        open_details(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert said == []
        tab.context.close()


def test_everything_stands_there_without_javascript(browser, three):
    tab, _ = opened(browser, three, java_script_enabled=False)
    assert tab.locator("figure:visible").count() == 3
    assert tab.locator("select").count() == 0
    tab.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(browser, odd, three, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for path in (odd, three):
        tab, _ = opened(browser, path, 390, color_scheme=scheme)
        open_details(tab)
        found = axe.Axe().run(tab).response["violations"]
        serious = [
            (one["id"], node["html"][:160], node["failureSummary"])
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"][:3]
        ]
        assert serious == []
        tab.context.close()
