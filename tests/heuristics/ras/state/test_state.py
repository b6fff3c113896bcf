"""The working cluster of a round: assignments, what is left, and Storm's stale shared memory."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ras_cases import ras_instance

from slotwise.heuristics.ras.model import ras_model
from slotwise.heuristics.ras.state import RasState
from slotwise.heuristics.ras.strategies.strategy import RasLimits, schedule_topology
from slotwise.models.cancellation import CancellationToken, WorkClock
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Place, Scheduler
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, RasSettings, SharedMemory, Topology
from slotwise.models.judge.judge import judge

NEED = {"cpu": Decimal(10), "onheap_mb": Decimal(100), "offheap_mb": Decimal(20)}
OFFER = {"cpu": Decimal(100), "memory_mb": Decimal(1000), "gpu": Decimal(2)}


def small(*, shared: str | None = None, least_cpu: int = 0) -> Instance:
    region = SharedMemory("m", shared, Decimal(300), ("s",)) if shared else None
    topologies = tuple(
        Topology(
            key,
            (Component("s", "spout", 2, NEED), Component("b", "bolt", 2, NEED)),
            shared_memory=(region,) if region else (),
        )
        for key in ("t", "u")
    )
    nodes = tuple(Node(f"n{i}", "r", slots=3, resources=OFFER) for i in range(2))
    least = Scheduler(worker_min_cpu=Decimal(least_cpu))
    return Instance("small", Cluster(nodes), topologies, least)


def test_assigning_and_freeing() -> None:
    state = RasState(ras_model(small()))
    state.assign(0, (0, 5), [0, 2])
    state.assign(0, (1, 0), [1])
    assert state.unassigned(0) == (3,)
    assert state.unassigned(1) == (0, 1, 2, 3)
    assert (state.cpu, state.memory) == ([80, 90], [760, 880])
    assert state.placement().nodes == (0, 1, 0, -1, -1, -1, -1, -1)
    assert state.placement().workers[:3] == (5, 0, 5)
    state.free_task((0, 5), 0)
    assert state.unassigned(0) == (0, 3)
    assert (state.cpu[0], state.memory[0]) == (90, 880)
    state.free(0)
    assert state.unassigned(0) == (0, 1, 2, 3)
    assert (state.cpu, state.memory) == ([100, 100], [1000, 1000])
    totals = state.available_totals()
    assert (totals.cpu, totals.memory, totals.generic) == (200, 2000, {"gpu": 4})


def test_workers_count_their_least_cpu() -> None:
    state = RasState(ras_model(small(least_cpu=25)))
    state.assign(0, (0, 0), [0, 1])
    assert state.cpu[0] == 75
    state.assign(0, (0, 0), [2])
    assert state.cpu[0] == 70


@pytest.mark.parametrize(("kind", "left"), [("onheap", 160), ("offheap_node", 460)])
def test_shared_memory_counts_per_worker_or_node(kind: str, left: int) -> None:
    state = RasState(ras_model(small(shared=kind)))
    state.assign(0, (0, 0), [0])
    state.assign(0, (0, 1), [1])
    assert state.memory[0] == left


def test_node_memory_of_a_freed_topology_stays_until_it_comes_back_or_the_state_is_copied() -> None:
    state = RasState(ras_model(small(shared="offheap_node")))
    state.assign(0, (0, 0), [0])
    state.assign(1, (0, 1), [0])
    state.free(0)
    assert state.memory[0] == 1000 - 300 - 420
    assert state.copy().memory[0] == 1000 - 420
    state.assign(0, (0, 0), [2])
    assert state.memory[0] == 1000 - 420 - 120


def test_a_copy_is_independent() -> None:
    state = RasState(ras_model(small()))
    state.assign(0, (0, 0), [0])
    other = state.copy()
    other.assign(0, (0, 0), [1])
    other.free_slot((0, 0))
    assert state.unassigned(0) == (1, 2, 3)
    assert state.memory[0] == 880
    state.adopt(other)
    assert state.unassigned(0) == (0, 1, 2, 3)


def test_what_runs_is_assigned_and_a_worker_has_one_topology() -> None:
    running = {"t": {"s[0]": Place("n0", 3)}, "u": {"b[0]": Place("n1", 0)}}
    state = RasState.running(ras_model(replace(small(), running=running)))
    assert state.places == [{0: (0, 3)}, {2: (1, 0)}]
    assert RasState.running(ras_model(small())).places == [{}, {}]
    shared = RasState(ras_model(small()))
    shared.put(Placement((0, -1, -1, -1, 0, 1, -1, -1), (3, -1, -1, -1, 3, 3, -1, -1)))
    assert shared.places == [{0: (0, 3)}, {1: (1, 3)}]


def test_a_failure_changes_nothing() -> None:
    instance = small()
    wide = replace(instance.topologies[0].components[0], parallelism=21)
    large = replace(instance.topologies[0], components=(wide,), ras=RasSettings(max_states=99))
    state = RasState(ras_model(replace(instance, topologies=(large,))))
    assert not schedule_topology(state, 0, "ras-default").success
    assert state.placement().nodes == (-1,) * 21
    assert state.memory == [1000, 1000]


@settings(max_examples=30)
@given(st.integers(0, 500), st.sampled_from(["ras-default", "ras-constraint-solver"]))
def test_what_is_left_is_what_the_judge_finds(seed: int, strategy: str) -> None:
    instance = ras_instance(seed, most_nodes=5)
    model = ras_model(instance)
    state = RasState(model)
    for t in range(len(model.topologies)):
        schedule_topology(state, t, strategy)
    load = judge(instance, state.placement()).accounting.node_load
    problem = judge(instance, state.placement()).problem
    assert problem.cpu is not None
    assert problem.memory is not None
    for node in range(len(model.cluster.ids)):
        cpu = model.cluster.cpu[node] - float(load[node, problem.cpu] * problem.units[problem.cpu])
        memory = model.cluster.memory[node] - float(
            load[node, problem.memory] * problem.units[problem.memory]
        )
        assert state.cpu[node] == pytest.approx(cpu, abs=1e-6)
        assert state.memory[node] == pytest.approx(memory, abs=1e-6)


def test_searches_end_at_their_limits() -> None:
    instance = small()
    topology = instance.topologies[0]
    few = replace(topology, ras=replace(topology.ras, max_states=4))
    state = RasState(ras_model(replace(instance, topologies=(few,))))
    result = schedule_topology(state, 0, "ras-default")
    assert result.status == "other"
    assert result.message == (
        "Unassignerd Executor count (4) is greater than searchable state count 4"
    )
    # Two of 40 points fit a node of 100: the fifth never fits, and every way is tried.
    tight = replace(topology.components[0], parallelism=5, resources={"cpu": Decimal(40)})
    limited = replace(topology, components=(tight,), ras=RasSettings(max_states=20))
    state = RasState(ras_model(replace(instance, topologies=(limited,))))
    result = schedule_topology(state, 0, "ras-default")
    assert (result.status, result.states) == ("not-enough-resources", 21)
    assert result.backtracked
    assert schedule_topology(state, 0, "ras-default", RasLimits(max_states=10)).states == 11
    every_step_counts = CancellationToken(clock=WorkClock(readings_per_unit=1))
    short = RasLimits(max_seconds=0.3)
    timed = schedule_topology(state, 0, "ras-default", short, every_step_counts)
    assert (timed.status, timed.states) == ("not-enough-resources", 0)


@pytest.mark.parametrize(("strategy", "states"), [("ras-default", 21), ("ras-round-robin", 4)])
def test_a_time_limit_of_0_is_none_until_the_scheduler_stops_the_search(
    strategy: str, states: int
) -> None:
    instance = small()
    topology = instance.topologies[0]
    tight = replace(topology.components[0], parallelism=5, resources={"cpu": Decimal(40)})
    limited = replace(topology, components=(tight,), ras=RasSettings(max_states=20, max_seconds=0))
    model = ras_model(replace(instance, topologies=(limited,)))
    assert schedule_topology(RasState(model), 0, strategy).states == states
    every_step_counts = CancellationToken(clock=WorkClock(readings_per_unit=1))
    stopped = schedule_topology(
        RasState(model), 0, strategy, RasLimits(max_seconds=0.1), every_step_counts
    )
    assert (stopped.status, stopped.states) == ("not-enough-resources", 0)
