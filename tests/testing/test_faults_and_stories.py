"""Placements are valid or broken as asked, faults leave what survives, stories find bugs."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.instance.placement import Placement, Refusal, to_places
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.testing import Fault, apply, faults, feasible_pairs, instances, placements, story_of

FEW = settings(max_examples=8, stateful_step_count=5)
FOUND = settings(FEW, max_examples=30, phases=(Phase.generate,))


@settings(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much])
@given(instances("feasible", 4, 3), st.data())
def test_placements_are_what_is_asked_for(instance: Instance, data: st.DataObject) -> None:
    assert judge(instance, data.draw(placements(instance, valid=True))).valid
    assert not judge(instance, data.draw(placements(instance, valid=False))).valid
    judge(instance, data.draw(placements(instance)))


@settings(max_examples=60)
@given(feasible_pairs(), st.data())
def test_what_survives_a_fault_runs(pair: tuple[Instance, Placement], data: st.DataObject) -> None:
    instance, placement = pair
    fault = data.draw(faults(instance))
    after = apply(fault, instance, placement)
    lost = set() if fault.kind == "capacity" else set(fault.nodes)
    assert {node.id for node in after.cluster.nodes} == {
        node.id for node in instance.cluster.nodes if node.id not in lost
    }
    before = to_places(instance, placement)
    places = {(t, k): p for t, tasks in before.items() for k, p in tasks.items()}
    left = {(t, k): p for t, tasks in (after.running or {}).items() for k, p in tasks.items()}
    assert left == {key: place for key, place in places.items() if place.node not in lost}
    assert (after.cluster != instance.cluster) or fault.left == 0


def two_nodes() -> Instance:
    nodes = (Node("n1", "r1", slots=2, resources={"cpu": Decimal(100)}), Node("n2", "r2"))
    return Instance("two", Cluster(nodes), (Topology("wc", (Component("s", "spout", 2),)),))


def test_faults_by_hand() -> None:
    placement = Placement((0, 1), (0, 0))
    after = apply(Fault("rack", ("n1",)), two_nodes(), placement)
    assert after.running == {"wc": {"s[1]": Place("n2", 0)}}
    less = apply(Fault("capacity", ("n1",), "cpu", Decimal(50)), two_nodes(), placement)
    assert less.cluster.nodes[0].resources == {"cpu": 50}
    assert less.running == {"wc": {"s[0]": Place("n1", 0), "s[1]": Place("n2", 0)}}
    with pytest.raises(InputError, match="must leave a node"):
        apply(Fault("nodes", ("n1", "n2")), two_nodes(), placement)
    with pytest.raises(InputError, match="must be nodes of the cluster"):
        apply(Fault("nodes", ("n3",)), two_nodes(), placement)


def refuses(_: Instance) -> Refusal:
    return Refusal("never places anything")


def all_in_one_worker(instance: Instance) -> Placement:
    return Placement(*((0,) * len(instance.task_names()),) * 2)


def alternates() -> object:
    asked: list[Instance] = []

    def schedule(instance: Instance) -> Placement | Refusal:
        asked.append(instance)
        return Refusal("every other time") if len(asked) % 2 else all_in_one_worker(instance)

    return schedule


def test_a_story_of_one_who_refuses_goes_well() -> None:
    run_state_machine_as_test(story_of(refuses), settings=FEW)


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        (all_in_one_worker, "invalid: "),
        (lambda _: Refusal(" "), "refuses without a reason"),
        (alternates(), "not deterministic: refuses, then places"),
        (lambda _: {"nobody": {"s[0]": ("n1", 0)}}, "must be a task of the instance"),
    ],
)
def test_a_story_finds_what_is_wrong(scheduler: object, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_state_machine_as_test(story_of(scheduler), settings=FOUND)  # type: ignore[arg-type]


TestOurs = story_of("r-storm-1.0").TestCase
TestOurs.settings = FEW


def test_without_hypothesis_one_line_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import importlib.util as util; find = util.find_spec\n"
        "util.find_spec = lambda name: None if name == 'hypothesis' else find(name)\n"
        "from slotwise.models.errors import InputError\n"
        "try:\n    from slotwise.testing import instances\n"
        "except InputError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "slotwise.testing.strategies: needs Hypothesis: pip install 'slotwise[testing]'\n"
    )
