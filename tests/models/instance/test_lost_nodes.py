"""Machines that died: what is left of an instance, its orphans, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slotwise.models.errors import InputError
from slotwise.models.formats.text import parse_text
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.lost_nodes import in_left, in_whole, lost_node_notes, without_nodes
from slotwise.models.instance.placement import UNPLACED, Placement, from_places
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.instance_file import instance_from_data, instance_text, read_instance
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import judged_running
from slotwise.models.problem.compile import compile_problem

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
MACHINES = read_instance(EXAMPLES / "machines.json")


def test_tasks_of_a_lost_node_are_orphans_and_never_count_as_moved() -> None:
    left = without_nodes(MACHINES, ["m2"])
    assert [node.id for node in left.cluster.nodes] == ["m1", "m3", "m4", "m5", "m6"]
    tasks = (("wc", "lines[1]"), ("wc", "split[3]"), ("wc", "count[3]"))
    assert left.lost == {"m2": tasks}
    assert left.still_running is not None
    assert len(left.still_running["wc"]) == 12
    problem = compile_problem(left)
    assert sum(one.size for one in problem.classes if one.home is None) == 3
    verdict = judged_running(problem)
    assert verdict is not None
    assert verdict.parts["moved"] == 0


def test_a_file_keeps_what_ran_on_a_lost_node() -> None:
    left = without_nodes(MACHINES, ["m2"])
    assert instance_from_data(parse_text(instance_text(left))) == left


def test_a_soft_resource_stays_soft_when_the_last_node_that_offers_it_is_lost() -> None:
    nodes = (
        Node("n1", "r", resources={"cpu": 100}),
        Node("n2", "r", resources={"cpu": 100, "gpu": 1}),
    )
    topology = Topology("t", (Component("a", "spout", 1, {"cpu": 10, "gpu": 1}),))
    objective = Objective(soft={"gpu": 10})
    instance = Instance("one gpu", Cluster(nodes), (topology,), objective=objective)
    left = without_nodes(instance, ["n2"])
    assert left.objective == instance.objective
    assert left.cluster.nodes[0].resources == {"cpu": 100, "gpu": 0}
    verdict = judge(compile_problem(left), Placement((0,), (0,)))
    assert verdict.valid
    assert verdict.parts["overload"] == 10


def test_the_uplink_of_a_lost_rack_is_lost_too() -> None:
    clicks = read_instance(EXAMPLES / "clicks.json")
    assert without_nodes(clicks, ["n3"]).cluster.uplink_mbit_s == {"r1": 100, "r2": 100}
    assert without_nodes(clicks, ["n3", "n4"]).cluster.uplink_mbit_s == {"r1": 100}


def test_a_misspelt_node_is_recognisable() -> None:
    assert MACHINES.running is not None
    places = dict(MACHINES.running["wc"])
    places["lines[0]"] = replace(places["lines[0]"], node="m11")
    misspelt = replace(MACHINES, running={"wc": places})
    (line,) = lost_node_notes(misspelt)
    assert line.startswith("running names node 'm11', which the cluster lacks: 1 task orphaned")
    assert "did you mean 'm1'" in line
    assert lost_node_notes(misspelt, ["m11"]) == ()
    assert without_nodes(misspelt, ["m11"]) == misspelt  # it is gone already


def test_placements_are_carried_over_by_name() -> None:
    left = without_nodes(MACHINES, ["m2"])
    assert MACHINES.running is not None
    whole = from_places(MACHINES, MACHINES.running)
    part = in_left(MACHINES, left, whole)
    assert part.nodes.count(UNPLACED) == 3
    back = in_whole(left, MACHINES, part)
    pairs = zip(back.nodes, whole.nodes, strict=True)
    assert all(node in (UNPLACED, before) for node, before in pairs)


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        (["m9"], "without_nodes = 'm9': is not a node; did you mean"),
        (["m1", "m2", "m3", "m4", "m5", "m6"], "leaves no node"),
    ],
)
def test_names_that_cannot_be_are_refused(lost: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        without_nodes(MACHINES, lost)
