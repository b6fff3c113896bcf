"""What objects show of themselves: a few lines with names, and tables in notebooks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

import slotwise
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Topology

FILE = "word-count.json"
MOST_LINES, MOST_CHARACTERS = 5, 600
SHOWN = (
    *("instance", "problem", "topology", "cluster", "placement", "result", "verdict", "broken"),
    *("violation", "refusal", "certificate", "verified", "check", "scheduled", "allocated"),
)
EXPLAINED = ("why", "infeasible", "mistake", "paid", "mended", "compared", "moved")


@pytest.fixture(scope="module")
def objects(root):
    folder = root / "docs" / "examples"
    instance = slotwise.read_instance(folder / FILE)
    result = slotwise.solve(instance, engine="exhaustive")
    certificate = slotwise.certify(instance, result)
    broken = slotwise.judge(instance, {"wc": {"lines[0]": ("n1", 0)}})
    return {
        "instance": instance,
        "problem": slotwise.compile_problem(instance),
        "topology": instance.topologies[0],
        "cluster": instance.cluster,
        "placement": result.placement,
        "result": result,
        "verdict": result.verdict,
        "broken": broken,
        "violation": broken.violations[0],
        "refusal": slotwise.Refusal("too small\nby far"),
        "certificate": certificate,
        "verified": slotwise.verify(instance, certificate),
        "check": slotwise.crosscheck(instance, result),
        "scheduled": slotwise.schedule(folder / "shared-cluster.yaml"),
        "allocated": slotwise.allocate("linear", "10:100:10", method="mba+sam"),
        **explained(folder, instance, result.placement),
    }


def explained(folder, instance, best):
    dear = slotwise.place(instance, "r-storm")
    broken = {"wc": {task: ("n1", 0) for _, task in instance.task_names()}}
    return {
        "why": slotwise.explain(instance),
        "infeasible": slotwise.explain(folder / "fragmented.json"),
        "mistake": slotwise.explain(folder / "tight.json", method="r-storm"),
        "paid": slotwise.explain(instance, dear),
        "mended": slotwise.explain(instance, broken),
        "compared": slotwise.explain(instance, dear, best),
        "moved": slotwise.explain(instance, dear, task="wc/split[1]"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SHOWN, *EXPLAINED])
def test_a_repr_is_short(objects, name):
    text = repr(objects[name])
    assert 1 <= len(text.splitlines()) <= MOST_LINES
    assert len(text) <= MOST_CHARACTERS
    assert "Decimal(" not in text
    assert "array(" not in text


def test_reprs_have_names(objects):
    assert repr(objects["instance"]) == (
        "Instance word-count: 3 nodes in 2 racks, 1 topology, 9 tasks, "
        "objective overload, network\n"
        "  Topology wc: lines[2], split[4], count[3]"
    )
    assert repr(objects["cluster"]) == "Cluster of 3 nodes in 2 racks: n1, n2, n3"
    first, *lines = repr(objects["result"]).splitlines()
    assert first.startswith("Result word-count: optimal by exhaustive in ")
    assert first.endswith("; overload 0 (proven), network 23 (proven)")
    assert len(lines) == 2
    assert "lines[0]" in lines[0]
    assert repr(objects["verdict"]) == "Verdict word-count: valid; overload 0, network 23"
    assert repr(objects["broken"]).splitlines()[1] == (
        "  placed: topology wc, tasks: 9 needed, 1 placed"
    )
    assert repr(objects["refusal"]) == "Refusal: too small by far"
    assert "optimal; overload 0 (bound 0), network 23 (bound 23)" in repr(objects["certificate"])


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("why", ["ExplainedInstance word-count: optimal; overload 0, network 23"]),
        ("infeasible", ["fragmented: infeasible", "raise memory_mb of node n1 by 152"]),
        ("mistake", ["tight: r-storm refuses: topology wc: no", "decision 2", "wc/split[0] on n1"]),
        ("paid", ["word-count: valid; overload 0, network 28", "split -> count: network 16"]),
        ("mended", ["word-count: breaks 2 hard rules; overload", "memory"]),
        ("compared", ["word-count: 3 tasks differ; overload 0 -> 0, network 28 -> 23", " -> n"]),
        ("moved", ["ExplainedTask wc/split[1]: on n2, worker 0", "n3, worker 0: network +7"]),
    ],
)
def test_reprs_of_explanations_have_the_answer(objects, name, lines):
    text, html = repr(objects[name]), objects[name]._repr_html_()
    assert [line for line in lines if line not in text] == []
    assert lines[0] in html.replace("&gt;", ">").replace("&#x27;", "'")


def large():
    """9,000 tasks of 300 topologies on 1,000 nodes."""
    nodes = tuple(Node(f"node-{n}", f"rack-{n % 20}") for n in range(1000))
    parts = tuple(Component(f"c{c}", "bolt", 3) for c in range(10))
    topologies = tuple(Topology(f"topology-{t}", parts) for t in range(300))
    return Instance("large", Cluster(nodes), topologies)


def test_nine_thousand_tasks_are_no_page():
    instance = large()
    placement = slotwise.Placement(tuple(t % 1000 for t in range(9000)), (0,) * 9000)
    verdict = slotwise.judge(instance, placement)
    assert len(verdict.violations) > 100
    for one in (instance, instance.cluster, placement, verdict, slotwise.compile_problem(instance)):
        assert len(repr(one).splitlines()) <= MOST_LINES
        assert len(repr(one)) <= MOST_CHARACTERS
    for one in (instance, placement):
        assert one._repr_html_().count("<tr>") <= 21
    for one in (instance, placement, verdict):
        assert "more rows" in one._repr_html_()
    assert len(verdict._repr_html_()) < 100_000
    assert "9,000 tasks" in repr(instance)
    assert repr(instance).endswith("... and 297 more")


@pytest.mark.parametrize("name", ["instance", "placement", *EXPLAINED])
def test_tables_for_notebooks(objects, name):
    html = objects[name]._repr_html_()
    assert html.count("<table>") == html.count("</table>") >= 1
    assert len(html) < 4000


@pytest.mark.parametrize("name", ["result", "verdict", "broken"])
def test_judged_placements_are_drawn_in_notebooks(objects, name):
    html = objects[name]._repr_html_()
    assert html.startswith("<div>")
    assert "<table><thead>" in html
    page = BeautifulSoup(html, "html.parser")
    (pane,) = page.select("section.pv figure")
    drawn = sum(len(one.select("i")) for one in pane.select(".pv-n .pv-w li"))
    placement = getattr(objects[name], "placement", None)
    assert drawn == sum(node >= 0 for node in placement.nodes)
    assert ("Breaks 1 rule" in pane.get_text(" ")) == (name == "broken")


def test_names_are_escaped_in_notebooks(objects):
    bad = "<script>alert('x')</script>"
    cluster = Cluster((Node(bad, bad),))
    parts = (Component(bad, "bolt", 1),)
    instance = Instance(bad, cluster, (Topology(bad, parts), Topology("t", parts)))
    result = slotwise.solve(instance, engine="exhaustive")
    for one in (instance, result, result.verdict, slotwise.judge(instance, result.placement)):
        assert "<script>alert" not in one._repr_html_()
    assert "&lt;script" in instance._repr_html_()
    assert "&lt;script" in result._repr_html_()


def test_a_result_is_read_by_name(objects):
    result = objects["result"]
    instance = objects["instance"]
    places = result.places["wc"]
    assert set(places) == {task for _, task in instance.task_names()}
    ids = [node.id for node in instance.cluster.nodes]
    for (_, task), node in zip(instance.task_names(), result.placement.nodes, strict=True):
        assert places[task].node == ids[node]


def test_a_result_without_a_placement(examples):
    result = slotwise.solve("too-big.json")
    assert result.places == {}
    assert repr(result).startswith("Result: infeasible by ")
    assert "infeasible" in result._repr_html_()


def test_tasks_of_several_topologies_have_a_prefix(objects):
    wc = objects["topology"]
    small = replace(wc, components=wc.components[:1], streams=())
    two = replace(objects["instance"], topologies=(small, replace(small, id="wd")))
    result = slotwise.solve(two, engine="exhaustive")
    assert "wc/lines" in result._repr_html_()
