"""Storm's own scheduler beside ours: the process, its methods, and what it says of an instance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest
from conftest import EXAMPLES
from storm_stories import story

from slotwise.heuristics.external import storm_methods
from slotwise.heuristics.external.storm_peer import StormPeer, unsupported
from slotwise.heuristics.external.storm_process import STORM_2, PeerError, missing
from slotwise.heuristics.ras.strategies.strategy import STRATEGIES
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal, to_places
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.instance_file import read_instance
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem

CAPACITY = {"cpu": Decimal(100), "memory_mb": Decimal(1000)}
NODE = Node("n1", "r", "h", 2, CAPACITY)

built = pytest.mark.skipif(missing() is not None, reason=f"Storm's scheduler {missing()}")


def asks_storm(test):
    return pytest.mark.storm_peer(built(test))


@pytest.fixture(scope="module")
def peer() -> Iterator[StormPeer]:
    with StormPeer() as running:
        yield running


def one_task(name: str = "t", priority: int = 0, cpu: int = 60) -> Topology:
    need = {"cpu": Decimal(cpu), "onheap_mb": Decimal(100)}
    return Topology(name, (Component("s", "spout", 1, need),), priority=priority)


def on_one_node(*topologies: Topology) -> Instance:
    return Instance("small", Cluster((NODE,)), topologies)


def test_without_the_program_the_message_says_how_to_build_it(monkeypatch, tmp_path):
    monkeypatch.setenv(STORM_2.variable, str(tmp_path / "none.jar"))
    with pytest.raises(InputError, match=r"none\.jar\): run `make storm-peer`"):
        find_method("storm:ras-default")


def test_without_java_the_message_says_so(monkeypatch, tmp_path):
    (tmp_path / "peer.jar").touch()
    monkeypatch.setenv(STORM_2.variable, str(tmp_path / "peer.jar"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match="needs Java 17"):
        find_method("storm:ras-default")


def test_an_unknown_strategy_is_refused_with_close_names():
    with pytest.raises(InputError, match="did you mean 'storm:ras-default"):
        find_method("storm:ras-defualt")


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (
            Instance("i", Cluster((Node("n", "r", "h", 1, {"cpu": None}),)), (one_task(),)),
            "node n has no limit of cpu",
        ),
        (
            Instance("i", Cluster((NODE, Node("n2", "r2", "h", 2, CAPACITY))), (one_task(),)),
            "host h is in two racks",
        ),
        (
            on_one_node(Topology("t", (Component("s", "system", 1),))),
            "system components begin with __",
        ),
    ],
)
def test_what_storm_cannot_say_is_named(instance, reason):
    assert reason in str(unsupported(instance, "ras-default"))


def test_a_topology_needs_a_strategy_of_storm():
    assert unsupported(on_one_node(one_task()), "ras-default") is None
    assert "has no strategy" in str(unsupported(on_one_node(one_task()), None))


def test_stories_follow_from_seed_and_index():
    assert story(3, 5) == story(3, 5)
    assert story(3, 5).first != story(3, 6).first
    assert story(3, 5).first != story(4, 5).first


@asks_storm
def test_the_program_says_what_it_links(peer):
    assert peer.storm_version.startswith("2.")
    assert int(peer.java_version.split(".")[0]) >= 17


@asks_storm
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_easy_instance_is_placed_by_every_strategy(peer, strategy):
    instance = read_instance(EXAMPLES / "word-count.json")
    answer = peer.schedule(instance, strategy=strategy)
    assert answer.outcomes["wc"].scheduled
    assert judge(compile_problem(instance), answer.placement).valid


@asks_storm
def test_what_does_not_fit_is_told_in_storms_words(peer):
    answer = peer.schedule(on_one_node(one_task(cpu=101)), strategy="ras-default")
    assert not answer.outcomes["t"].scheduled
    assert "Additional CPU Required: 101.0% CPU" in answer.outcomes["t"].status
    assert answer.placement == Placement((UNPLACED,), (UNPLACED,))


@asks_storm
def test_a_topology_of_higher_priority_evicts(peer):
    before = on_one_node(one_task("old", priority=20))
    ran = peer.schedule(before, strategy="ras-default")
    assert ran.outcomes["old"].scheduled
    now = replace(
        before,
        topologies=(*before.topologies, one_task("new", priority=10)),
        running=to_places(before, ran.placement),
    )
    answer = peer.schedule(now, strategy="ras-default")
    assert answer.evicted == {"new": ("old",)}
    assert [answer.outcomes[key].scheduled for key in ("old", "new")] == [False, True]


@asks_storm
def test_the_same_round_again_gives_the_same_answer(peer):
    first = story(0, 3).first
    once, twice = (peer.schedule(first, runs=runs) for runs in (1, 3))
    assert once.placement == twice.placement
    assert (len(once.seconds), len(twice.seconds)) == (1, 3)


@asks_storm
def test_a_process_that_is_out_of_time_is_an_error_and_gone():
    with StormPeer() as slow:
        with pytest.raises(PeerError, match="out of time"):
            slow.schedule(story(0, 0).first, runs=10**6, time_limit_s=0.2)
        with pytest.raises(PeerError):
            slow.schedule(story(0, 0).first)


@asks_storm
def test_a_request_that_storm_breaks_on_is_an_error_and_the_next_one_works(peer):
    with pytest.raises(InputError, match="runs"):
        peer.schedule(on_one_node(one_task()), strategy="ras-default", runs=0)
    assert peer.schedule(on_one_node(one_task()), strategy="ras-default").outcomes["t"].scheduled


@asks_storm
def test_the_method_places_and_refuses(monkeypatch):
    monkeypatch.setattr(storm_methods, "_running", [])
    method = find_method("storm:ras-default", time_limit_s=60)
    both = on_one_node(one_task("a", cpu=60), one_task("b", priority=5, cpu=60))
    refused = run_method(compile_problem(both), method, 0)
    assert isinstance(refused, Refusal)
    assert refused.reason.startswith("topology b: Not enough resources")
    may_reject = replace(both, objective=Objective(("rejected", "network")))
    placed = run_method(compile_problem(may_reject), method, 0)
    assert isinstance(placed, Placement)
    assert placed.nodes == (0, UNPLACED)
    storm_methods._close()


@asks_storm
def test_what_the_constraint_solver_places_keeps_our_rules(peer):
    """The judge reads the same rules out of the same files."""
    placed = 0
    for index in range(15):
        first = story(7, index, "ras-constraint-solver").first
        may_reject = replace(first, objective=Objective(("rejected", "network")))
        answer = peer.schedule(may_reject, max_states=300)
        verdict = judge(compile_problem(may_reject), answer.placement)
        assert verdict.violations == (), first.name
        placed += all(found.scheduled for found in answer.outcomes.values())
    assert placed >= 4
