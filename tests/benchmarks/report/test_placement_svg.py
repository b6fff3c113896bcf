from __future__ import annotations

import xml.etree.ElementTree as ET
from decimal import Decimal

import pytest

from slotwise.benchmarks.report.viewer.placement_svg import draw, legend
from slotwise.benchmarks.report.viewer.placement_view import (
    MOST_NODES,
    LoadBar,
    legend_names,
    racks_of,
)
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem

SVG = "{http://www.w3.org/2000/svg}"


def problem(tasks: int = 3, nodes: int = 2, name: str = "split", racks: int = 1) -> Problem:
    components = (
        Component("spout", "spout", 1, {"cpu": Decimal(10), "onheap_mb": Decimal(100)}),
        Component(name, "bolt", tasks - 1, {"cpu": Decimal(60), "onheap_mb": Decimal(100)}),
    )
    topology = Topology("wc", components, (Stream("spout", name),))
    resources = {"cpu": Decimal(100), "memory_mb": None}
    cluster = Cluster(
        tuple(Node(f"n{i}", f"r{i % racks}", resources=resources) for i in range(nodes))
    )
    objective = Objective(soft={"cpu": 1})
    return compile_problem(Instance("drawn", cluster, (topology,), objective=objective))


def together(size: int) -> Placement:
    return Placement((0,) * size, (0,) * size)


def parsed(one: Problem, placement: Placement) -> ET.Element:
    return ET.fromstring(draw(racks_of(one, placement), "a drawing"))


def titles(svg: ET.Element) -> list[str]:
    return [title.text or "" for title in svg.iter(f"{SVG}title")]


def test_every_task_is_a_square_of_its_components_colour() -> None:
    svg = parsed(problem(3), together(3))
    squares = {
        group.get("class"): len(group.findall(f"{SVG}rect"))
        for group in svg.iter(f"{SVG}g")
        if (group.get("class") or "").startswith("c")
    }
    assert squares == {"c0": 1, "c1": 2}


def test_titles_name_drawing_nodes_components_and_loads() -> None:
    found = titles(parsed(problem(3), together(3)))
    assert found[0] == "a drawing"
    assert any(t.startswith("node n0: 3 tasks in 1 workers; cpu: 130 of 100") for t in found)
    assert "cpu: 130 of 100, overloaded by 30" in found
    assert "memory_mb: 300, no limit" in found
    assert any("worker 0 of wc" in t for t in found)


def test_overload_is_a_red_piece_in_proportion() -> None:
    svg = parsed(problem(3), together(3))
    (over,) = [r for r in svg.iter(f"{SVG}rect") if r.get("class") == "over"]
    load = next(r for r in svg.iter(f"{SVG}rect") if r.get("class") == "load")
    red, grey = float(over.get("width") or 0), float(load.get("width") or 0)
    assert red / (red + grey) == pytest.approx(30 / 130, abs=0.01)


def test_names_are_escaped() -> None:
    name = "<script>alert(1)</script>"
    text = draw(racks_of(problem(3, name=name), together(3)), name)
    assert "<script" not in text
    ET.fromstring(text)
    assert "<script" not in legend([(name, 0)])


def test_crowded_node_shows_counts_instead_of_tasks() -> None:
    one = problem(5000)
    text = draw(racks_of(one, together(5000)), "crowded")
    assert len(text) < 6000
    assert "4999 split" in text.replace("\N{MULTIPLICATION SIGN}", "")


def test_large_cluster_shows_nodes_in_use_and_counts_the_rest() -> None:
    one = problem(41, nodes=2000, racks=3)
    spread = Placement((*range(40), 0), (0,) * 41)
    racks = racks_of(one, spread)
    assert sum(len(rack.nodes) for rack in racks) == MOST_NODES
    assert "empty" in racks[0].note
    assert "not shown with" in " ".join(rack.note for rack in racks)
    assert len(draw(racks, "large")) < 60_000


def test_racks_without_a_drawn_node_become_one_line() -> None:
    racks = racks_of(problem(3, nodes=100, racks=50), together(3))
    assert len(racks) == 2
    assert "49" in racks[1].name


def test_unplaced_tasks_are_not_drawn() -> None:
    racks = racks_of(problem(3), Placement((-1, -1, 0), (-1, -1, 0)))
    assert sum(node.tasks for rack in racks for node in rack.nodes) == 1


def test_legend_counts_tasks() -> None:
    times = "\N{MULTIPLICATION SIGN}"
    assert legend_names(problem(3)) == ((f"spout {times}1", 0), (f"split {times}2", 1))


def test_bar_without_limit_says_so() -> None:
    assert LoadBar("cpu", 5, None).title == "cpu: 5, no limit"
    assert LoadBar("cpu", 0, 0).title == "cpu: 0 of 0"
