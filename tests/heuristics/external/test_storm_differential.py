"""The released Storm and our reading of it, side by side: same workers, same words.

A worker is compared by node and tasks. Storm's status of every topology must be ours word by word
(but for the milliseconds), and so must be who was evicted for whom, in vain or not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from conftest import DEEP, EXAMPLES
from ras_vectors import Vector, instances_of, read_vector
from storm_stories import Story, story

from slotwise.benchmarks.experiments.catalogue import run_experiment
from slotwise.benchmarks.experiments.storm.comparison import compare, differences
from slotwise.heuristics.external.storm_peer import StormAnswer, StormPeer
from slotwise.heuristics.external.storm_process import missing
from slotwise.heuristics.ras.scheduler import RoundLimits, schedule_round
from slotwise.heuristics.ras.strategies.strategy import STRATEGIES, RasLimits
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import to_places
from slotwise.models.instance_file import read_instance

pytestmark = [
    pytest.mark.storm_peer,
    pytest.mark.skipif(missing() is not None, reason=f"Storm's scheduler {missing()}"),
]
SEED = 12
STORIES = 500 if DEEP else 10
MAX_STATES = 300
"""Of a search that finds nothing: enough to step back often, and soon over."""


SHORT = RoundLimits(search=RasLimits(max_states=MAX_STATES))
LONG = RoundLimits(search=RasLimits(max_seconds=900))
"""Storm's own test of the larger cluster gives a topology 900 s."""


def assert_same(
    peer: StormPeer, instance: Instance, strategy: str | None, limits: RoundLimits | None = None
) -> StormAnswer:
    found = compare(peer, instance, strategy, limits)
    assert found.differences == {}, f"{instance.name} by {strategy}"
    return found.storm


@pytest.fixture(scope="module")
def peer() -> Iterator[StormPeer]:
    with StormPeer() as running:
        yield running


@pytest.mark.parametrize("strategy", [*STRATEGIES, None], ids=lambda name: name or "mixed")
def test_random_stories(peer, strategy):
    """Rounds in which topologies arrive, evict, lose workers and are completed."""
    seen = {"scheduled": 0, "refused": 0, "evicted": 0}
    for index in range(STORIES):
        for storm in rounds(peer, story(SEED, index, strategy)):
            scheduled = sum(one.scheduled for one in storm.outcomes.values())
            seen["scheduled"] += scheduled
            seen["refused"] += len(storm.outcomes) - scheduled
            seen["evicted"] += len(storm.evicted)
    assert all(seen.values()), seen


def rounds(peer: StormPeer, told: Story) -> Iterator[StormAnswer]:
    """Compare every round; each begins with what Storm left of the one before."""
    instance = told.first
    storm = assert_same(peer, instance, None, SHORT)
    yield storm
    for number in range(1, len(told.arrivals) + 1):
        running = to_places(instance, storm.placement)
        instance = told.next_round(instance, running, number, seed=SEED)
        storm = assert_same(peer, instance, None, SHORT)
        yield storm


def test_a_whole_search_of_storms_own_length(peer):
    """Storm's default, 10,000 states for a topology, comes to an end in some of these."""
    for index in range(60 if DEEP else 4):
        assert_same(peer, story(SEED + 1, index).first, None)


LARGE_VECTORS = 36
"""Nodes beyond which a vector is for the deep run."""


def test_the_vectors(peer, shared):
    """Storm's own tests: every round of every vector, by each strategy that it names."""
    compared = 0
    for path in sorted((shared / "storm" / "vectors").glob("*.json")):
        vector = read_vector(path)
        if not {"topologies", "rounds"} & set(vector.given):
            continue
        if len(vector.given["nodes"]) > LARGE_VECTORS and not DEEP:
            continue
        for strategy in vector.strategies:
            compared += compare_vector(peer, vector, strategy)
    assert compared >= (144 if DEEP else 100)


def compare_vector(peer: StormPeer, vector: Vector, strategy: str) -> int:
    """Return the number of rounds; each begins with what Storm left of the one before."""
    running = {}
    instances = instances_of(vector)
    limits = RoundLimits(attempts=vector.given.get("max_attempts", 5))
    for instance in instances:
        ids = {topology.id for topology in instance.topologies}
        left = {key: places for key, places in running.items() if key in ids}
        instance = replace(instance, running=left)
        storm = assert_same(peer, instance, strategy, limits)
        running = to_places(instance, storm.placement)
    return len(instances)


@pytest.mark.parametrize("strategy", [None, *STRATEGIES], ids=lambda name: name or "own")
@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param("largeCluster03", id="80-nodes"),
        pytest.param("largeCluster01", id="1312-nodes", marks=pytest.mark.deep),
    ],
)
def test_real_clusters(peer, shared, cluster, strategy):
    if strategy not in (None, "ras-round-robin") and not DEEP:
        pytest.skip("one round of each strategy takes minutes; make test-deep runs it")
    file = shared / "storm" / "clusters" / f"{cluster}.json"
    assert_same(peer, read_instance(file), strategy, LONG)


def test_a_difference_is_seen(peer):
    """The comparison can fail: Storm's answer for one strategy beside ours for another."""
    instance = read_instance(EXAMPLES / "word-count.json")
    storm = peer.schedule(instance, strategy="ras-round-robin")
    ours = schedule_round(instance, strategy="ras-default")
    assert set(differences(instance, storm, ours)) == {"workers", "status of wc"}


def test_the_times_are_printed(capsys):
    assert run_experiment("storm_times", ["--random", "1", "--runs", "2", "--json"]) == 0
    times = json.loads(capsys.readouterr().out)
    assert times["same"]
    assert times["tasks"] >= 500
    assert min(times[key] for key in ("storm_first", "storm", "ours_first", "ours")) > 0
