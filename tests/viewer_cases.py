"""Small problems for the viewer, and its fragment read back."""

from __future__ import annotations

from decimal import Decimal

from bs4 import BeautifulSoup, Tag

from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.benchmarks.report.viewer.view import view
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem


def problem(
    tasks: int = 3,
    nodes: int = 2,
    *,
    name: str = "split",
    racks: int = 1,
    node_name: str = "n{}",
    soft: bool = True,
) -> Problem:
    """One `spout`, which sends to tasks - 1 of `name`, on equal nodes of 100 cpu."""
    components = (
        Component("spout", "spout", 1, {"cpu": Decimal(10), "onheap_mb": Decimal(100)}),
        Component(name, "bolt", tasks - 1, {"cpu": Decimal(60), "onheap_mb": Decimal(100)}),
    )
    topology = Topology("wc", components, (Stream("spout", name),))
    resources = {"cpu": Decimal(100), "memory_mb": None}
    cluster = Cluster(
        tuple(Node(node_name.format(i), f"r{i % racks}", resources=resources) for i in range(nodes))
    )
    objective = Objective(soft={"cpu": 1} if soft else {})
    return compile_problem(Instance("drawn", cluster, (topology,), objective=objective))


def on(*nodes: int) -> Placement:
    """Each task on its node, in worker 0 there; -1 = not placed."""
    return Placement(nodes, tuple(min(node, 0) for node in nodes))


def fragment(one: Problem, *placements: Placement, failed: bool = False) -> BeautifulSoup:
    """Return the viewer of placements named p0, p1 and so on, parsed."""
    shown = [Shown(f"p{i}", placement, "", failed) for i, placement in enumerate(placements)]
    return BeautifulSoup(view(one, shown), "html.parser")


def pane(page: BeautifulSoup, name: str) -> Tag:
    """Return a placement's part of the viewer."""
    found = page.find("figure", attrs={"aria-label": name})
    assert isinstance(found, Tag)
    return found


def nodes(part: Tag) -> dict[str, Tag]:
    """Return the nodes that are drawn, by name."""
    return {text(node.select_one("p b")): node for node in part.select(".pv-n")}


def tasks(node: Tag) -> dict[str, list[str]]:
    """Return the tasks in a part of the drawing: component -> what its squares say."""
    found: dict[str, list[str]] = {}
    for group in node.select(".pv-w li"):
        name = text(group.select_one("span"))
        found.setdefault(name, []).extend(text(chip) for chip in group.select("i"))
    return found


def bars(node: Tag) -> list[str]:
    """Return the loads of a node as they are written."""
    return [text(bar) for bar in node.select(".pv-l li")]


def moves(part: Tag) -> list[list[str]]:
    """Return the rows of a placement's table of moves."""
    return [[text(cell) for cell in row.select("td")] for row in part.select(".pv-m tbody tr")]


def text(tag: Tag | None) -> str:
    """Return the text of a tag, spaces joined."""
    assert tag is not None
    return " ".join(tag.get_text(" ").split())
