"""The drawing as an image of its own."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from viewer_cases import on, problem

from slotwise.benchmarks.report.viewer.svg import draw
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem

SVG = "{http://www.w3.org/2000/svg}"


def parsed(one: Problem, placement: Placement) -> ET.Element:
    return ET.fromstring(draw(one, placement, "a drawing"))


def titles(svg: ET.Element) -> list[str]:
    return [title.text or "" for title in svg.iter(f"{SVG}title")]


def test_titles_name_drawing_nodes_and_tasks() -> None:
    found = titles(parsed(problem(3), on(0, 0, 0)))
    assert found == [
        "a drawing",
        "node n0: 3 tasks, worker 0",
        "spout, tasks 0",
        "split, tasks 0\N{EN DASH}1",
        "node n1: empty",
    ]


def test_overload_is_a_red_piece_in_proportion() -> None:
    svg = parsed(problem(3), on(0, 0, 0))
    (over,) = [r for r in svg.iter(f"{SVG}rect") if r.get("class") == "over"]
    load = next(r for r in svg.iter(f"{SVG}rect") if r.get("class") == "load")
    red, grey = float(over.get("width") or 0), float(load.get("width") or 0)
    assert abs(red / (red + grey) - 30 / 130) < 0.01


def test_names_are_escaped() -> None:
    name = "<script>alert(1)</script>"
    text = draw(problem(3, name=name), on(0, 0, 0), name)
    assert "<script" not in text
    ET.fromstring(text)


def test_a_node_full_of_tasks_and_a_large_cluster_stay_small() -> None:
    assert len(draw(problem(5000), on(*[0] * 5000), "crowded")) < 6000
    text = draw(problem(41, nodes=2000, racks=3), on(*range(40), 0), "large")
    assert len(text) < 60_000
    assert "Not drawn: " in text
