"""The fragment: what stands where, in numbers that the judge computes."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from viewer_cases import bars, fragment, nodes, on, pane, problem, tasks, text

import slotwise
from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.benchmarks.report.viewer.view import standalone, view
from slotwise.models.errors import InputError
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.values import short_text

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Nesting(HTMLParser):
    """Checks that tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} repeats an attribute"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def word_count(root):
    one = slotwise.compile_problem(slotwise.read_instance(root / "docs/examples/word-count.json"))
    return one, slotwise.place(one, "r-storm"), slotwise.place(one, "round-robin")


def test_the_fragment_is_nested_well_and_has_no_ids(word_count):
    one, *placements = word_count
    html = view(one, [Shown(f"p{i}", placement) for i, placement in enumerate(placements)])
    parser = Nesting()
    parser.feed(html)
    assert parser.open == []
    assert not re.search(r"\sid=", html)
    assert "://" not in html


def test_every_task_stands_under_its_node_with_its_worker(word_count):
    one, first, second = word_count
    page = fragment(one, first, second)
    for name, placement in (("p0", first), ("p1", second)):
        drawn = nodes(pane(page, name))
        names = zip(one.instance.task_names(), placement.nodes, strict=True)
        for (_, task), node in names:
            component, index = task.removesuffix("]").split("[")
            assert index in tasks(drawn[one.instance.cluster.nodes[node].id])[component]
        drawn_tasks = sum(len(found) for node in drawn.values() for found in tasks(node).values())
        assert drawn_tasks == one.task_count


def test_a_known_task_is_where_it_was_put():
    page = fragment(problem(4, nodes=3), on(0, 1, 1, 2))
    drawn = {name: tasks(node) for name, node in nodes(pane(page, "p0")).items()}
    assert drawn == {"n0": {"spout": ["0"]}, "n1": {"split": ["0", "1"]}, "n2": {"split": ["2"]}}


def test_workers_of_a_node_are_apart():
    placement = Placement((0, 0, 0), (0, 3, 3))
    node = nodes(pane(fragment(problem(3), placement), "p0"))["n0"]
    assert [text(worker.select_one("small")) for worker in node.select(".pv-w")] == [
        "worker 0",
        "worker 3",
    ]
    assert [tasks_of(worker) for worker in node.select(".pv-w")] == [["0"], ["0", "1"]]


def tasks_of(worker):
    return [text(chip) for chip in worker.select("i")]


def test_loads_are_the_judges(word_count):
    one, first, _ = word_count
    drawn = nodes(pane(fragment(one, first), "p0"))
    for row in judge(one, first).node_loads():
        wanted = [
            f"{name} {short_text(load, grouped=True)} / "
            f"{short_text(row['capacity'][name], grouped=True)}"
            for name, load in row["load"].items()
        ]
        assert bars(drawn[row["node"]]) == wanted


def test_overload_is_said_and_drawn_and_no_limit_has_no_bar():
    node = nodes(pane(fragment(problem(3), on(0, 0, 0)), "p0"))["n0"]
    assert bars(node) == ["cpu 130 / 100, 30 over", "memory_mb 300, no limit"]
    cpu, memory = node.select(".pv-l li")
    assert cpu["style"] == "--f:77%;--o:23%"
    assert "pv-o" in cpu["class"]
    assert not memory.has_attr("style")


def test_costs_are_the_judges(word_count):
    one, first, _ = word_count
    part = pane(fragment(one, first), "p0")
    assert text(part.select_one(".pv-c")) == "overload 0, network 28"
    assert text(part.select_one(".pv-f caption")) == "Traffic that costs: 28 in all"
    costs = [int(text(row.select("td")[1])) for row in part.select(".pv-f tbody tr")]
    assert costs == [16, 12]
    levels = [text(level) for level in part.select(".pv-l")[-1].select("li")]
    verdict = judge(one, first)
    assert [level.rsplit(" ", 1)[1] for level in levels] == [
        short_text(flow) for flow in verdict.flow_by_level
    ]


def test_a_broken_placement_is_shown_as_such():
    one = problem(3, soft=False)
    page = fragment(one, on(0, 1, -1), on(0, 0, 0))
    left, right = pane(page, "p0"), pane(page, "p1")
    assert "Breaks 1 rule placed: topology wc, tasks: 3 needed, 2 placed" in text(left)
    assert tasks(left.select_one(".pv-racks"))["split"] == ["0", "1"]
    assert text(left.select_one(".pv-u")) == "not placed B split 1"
    assert "capacity: node n0, cpu: 130 needed, 100 available" in text(right)
    assert "pv-bad" in right["class"]


def test_a_failed_run_is_shown_as_such_where_no_rule_is_broken():
    page = fragment(problem(3), on(0, 1, 1), failed=True)
    assert "Failed" in text(pane(page, "p0"))
    assert "pv-bad" in pane(page, "p0")["class"]


def test_the_table_has_every_task_of_every_placement():
    page = fragment(problem(4, nodes=3), on(0, 1, 1, 2), on(0, 1, 1, -1))
    rows = page.select(".pv-sc tbody tr")
    assert [[text(cell) for cell in row.select("th, td")] for row in rows] == [
        ["spout[0]", "n0/0", "n0/0"],
        ["split[0–1]", "n1/0", "n1/0"],  # noqa: RUF001
        ["split[2]", "n2/0", "no place"],
    ]


def test_letters_tell_apart_what_shares_a_colour():
    many = tuple(slotwise.Topology(f"t{i}", (component(),)) for i in range(30))
    cluster = slotwise.Cluster((slotwise.Node("n", "r"),))
    one = slotwise.compile_problem(slotwise.Instance("many", cluster, many))
    page = fragment(one, Placement((0,) * 30, tuple(range(30))))
    keys = page.select(".pv-k > li")
    assert [text(key) for key in keys[:2]] == ["A t0/c ×1", "B t1/c ×1"]  # noqa: RUF001
    assert text(keys[27]) == "AB t27/c ×1"  # noqa: RUF001
    assert keys[0]["class"] == keys[8]["class"]


def component():
    from slotwise.models.instance.topology import Component

    return Component("c", "bolt", 1)


def test_another_instances_placement_is_an_error():
    with pytest.raises(InputError, match="one entry per task"):
        view(problem(3), [Shown("p", on(0, 0))])


def test_a_notebook_gets_style_and_script_too():
    html = standalone(problem(3), [Shown("p", on(0, 1, 1))])
    assert html.startswith("<style>")
    assert html.endswith("</script>")
    assert "{%" not in html
