"""The fast node orders give what the plain ones give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ras_cases import ras_instance

from slotwise.heuristics.ras.model import RasModel, ras_model
from slotwise.heuristics.ras.scheduler import priority_order
from slotwise.heuristics.ras.state import RasState
from slotwise.heuristics.ras.strategies import fast_node_sorter as ras_fast_sorter
from slotwise.heuristics.ras.strategies.strategy import (
    STRATEGIES,
    StrategyResult,
    schedule_topology,
)
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import read_instance

Outcome = tuple[list[StrategyResult], Placement]


def outcome(model: RasModel, strategy: str) -> Outcome:
    """Return what comes of all topologies in the order of the file, and of the first once more.

    Between, every second worker of the first topology is freed: what is left counts on nodes.
    """
    state = RasState(model)
    count = len(model.topologies)
    results = [schedule_topology(state, t, strategy) for t in range(count)]
    slots = sorted(set(state.places[0].values()))
    for slot in slots[::2]:
        state.free_slot(slot)
    results.append(schedule_topology(state, 0, strategy))
    return results, state.placement()


def both(model: RasModel, strategy: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Outcome, ...]:
    found = []
    for small in (10**9, -1):
        monkeypatch.setattr(ras_fast_sorter, "SMALL", small)
        found.append(outcome(model, strategy))
    return tuple(found)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fast_and_plain_agree_on_random_clusters(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare(range(16), strategy, monkeypatch)


@pytest.mark.deep
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fast_and_plain_agree_on_many_clusters(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare(range(100, 400), strategy, monkeypatch, most_nodes=40)


def compare(
    seeds: range, strategy: str, monkeypatch: pytest.MonkeyPatch, most_nodes: int = 14
) -> None:
    results: list[StrategyResult] = []
    for seed in seeds:
        model = ras_model(ras_instance(seed, most_nodes=most_nodes))
        plain, fast = both(model, strategy, monkeypatch)
        assert fast == plain, seed
        results.extend(plain[0])
    assert {result.success for result in results} == {True, False}
    assert strategy == "ras-round-robin" or sum(result.backtracked for result in results) > 100


@pytest.mark.deep
@pytest.mark.parametrize("cluster", ["largeCluster01", "largeCluster03"])
def test_fast_and_plain_agree_on_real_clusters(
    cluster: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_instance(shared / "storm" / "clusters" / f"{cluster}.json")
    topologies = tuple(replace(one, owner="u") for one in read.topologies)
    instance = replace(read, topologies=topologies)
    found = []
    for small in (10**9, -1):
        monkeypatch.setattr(ras_fast_sorter, "SMALL", small)
        state = RasState(ras_model(instance))
        for turn in priority_order(instance):
            assert schedule_topology(state, turn.topology, "ras-default").success
        found.append(state.placement())
    assert found[0] == found[1]
