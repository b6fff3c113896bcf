"""Odd names, large instances: nothing breaks out, and the weight is bounded."""

from __future__ import annotations

import random

import pytest
from bs4 import BeautifulSoup
from viewer_cases import fragment, nodes, on, pane, problem, tasks, text

import slotwise
from slotwise.benchmarks.report.viewer.components import ranges
from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.benchmarks.report.viewer.view import view
from slotwise.models.instance.placement import Placement

ODD = [
    "<script>alert(1)</script>",
    "a & b",
    "\"quoted\" 'single'",
    "</figure></section>",
    "{{ 7 * 7 }}",
    "x" * 300,
    "日本語 \N{PARTY POPPER} \N{RIGHT-TO-LEFT OVERRIDE}rtl",
]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_text(name):
    one = problem(
        3, nodes=2, name=name, node_name=f"{name}{{}}".replace("{{ 7 * 7 }}", "{{{{7}}}}")
    )
    html = view(one, [Shown(name, on(0, 0, 1), name), Shown(name + "2", on(0, 1, 1))])
    page = BeautifulSoup(html, "html.parser")
    assert page.find("script") is None
    assert "<script" not in html
    assert len(page.select("section.pv")) == 1
    assert len(page.select("figure")) == 2
    left = pane(page, name)
    assert text(left.select_one("strong")) == " ".join(name.split())
    assert name in [span.get_text() for span in left.select(".pv-w li > span")]
    ids = {node.id for node in one.instance.cluster.nodes}
    assert {bold.get_text() for bold in left.select(".pv-n > p > b")} == ids


def test_many_tasks_on_a_node_are_counted():
    node = nodes(pane(fragment(problem(201), on(*[0] * 201)), "p0"))["n0"]
    assert tasks(node) == {"spout": ["0"], "split": ["×200"]}  # noqa: RUF001
    assert "0–199" in text(node)  # noqa: RUF001


def test_sixty_tasks_and_five_placements_weigh_less_than_60_kb():
    instances = slotwise.generate("rstorm-scaled")
    instance = next(one for one in instances if len(one.task_names()) == 60)
    one = slotwise.compile_problem(instance)
    draw = random.Random(7)
    shown = [
        Shown(f"method-{i}", Placement(tuple(draw.choices(range(12), k=60)), (0,) * 60))
        for i in range(5)
    ]
    assert len(view(one, shown).encode()) < 75_000  # drawn at random: nearly every task moves
    placed = [slotwise.place(one, name) for name in ("r-storm", "round-robin", "ras-default")]
    shown = [Shown(f"method-{i}", placed[i % 3]) for i in range(5)]
    assert len(view(one, shown).encode()) < 60_000


@pytest.mark.slow
def test_a_large_instance_is_bounded_and_says_what_is_left_out():
    one = problem(5000, nodes=500, racks=10)
    even = Placement(tuple(task % 500 for task in range(5000)), (0,) * 5000)
    other = Placement(tuple(task * 7 % 500 for task in range(5000)), (0,) * 5000)
    html = view(one, [Shown("even", even), Shown("other", other)])
    assert len(html) < 100_000
    page = BeautifulSoup(html, "html.parser")
    left = pane(page, "even")
    drawn = nodes(left)
    assert len(drawn) == 24
    counted = sum(int(text(one.select_one("p small")).split(" ")[0]) for one in drawn.values())
    notes = [text(rack.select_one("summary small")) for rack in left.select(".pv-r")]
    assert sum(int(note.split(", ")[2].split(" ")[0]) for note in notes) == 5000
    hidden = sum(
        int(part.split(" with ")[1].split(" ")[0]) for part in text(left).split("Not drawn: ")[1:]
    )
    bare = sum(
        int(text(rack.select_one("summary small")).split(", ")[2].split(" ")[0])
        for rack in left.select(".pv-r")
        if not rack.select(".pv-n")
    )
    assert counted + hidden + bare == 5000
    assert sum(rack.has_attr("open") for rack in left.select(".pv-r")) == 1


def test_the_same_nodes_are_drawn_on_both_sides_the_overloaded_first():
    one = problem(61, nodes=40)
    spread = on(*range(40), *range(21))
    heap = on(*range(38), *([39] * 23))
    page = fragment(one, spread, heap)
    left, right = nodes(pane(page, "p0")), nodes(pane(page, "p1"))
    assert len(left) == len(right) == 24
    assert max(int(text(node.select_one("p small")).split(" ")[0]) for node in right.values()) == 23


def test_racks_without_a_drawn_node_are_one_line():
    page = fragment(problem(3, nodes=100, racks=50), on(0, 0, 0))
    notes = [text(rack.select_one("summary")) for rack in pane(page, "p0").select(".pv-r")]
    assert notes == ["rack r0 2 nodes, 1 in use, 3 tasks", "49 racks not drawn 98 nodes, empty"]


def test_ranges_are_short():
    dash = "\N{EN DASH}"
    assert ranges([0, 1, 2, 5]) == f"0{dash}2, 5"
    assert ranges(range(0, 40, 2), most=3) == "0, 2, 4 and 17 more"
    assert ranges([]) == ""
