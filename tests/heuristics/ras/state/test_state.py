"""The working cluster of a round: assignments, what is left, and Storm's stale shared memory."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ras_cases import ras_instance

from slotwise.heuristics.ras.java.iteration_order import string_hash
from slotwise.heuristics.ras.model import ras_model
from slotwise.heuristics.ras.scheduler import schedule_round
from slotwise.heuristics.ras.state import ClusterTables, RasState
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


def sharing(key: str, tasks: int, shared: str, priority: int = 0) -> Topology:
    """Return a topology whose tasks ask for 1 MB each and share memory on every node."""
    need = {"cpu": Decimal(1), "onheap_mb": Decimal(1)}
    region = SharedMemory("m", "offheap_node", Decimal(shared), ("s",))
    spout = Component("s", "spout", tasks, need)
    return Topology(key, (spout,), shared_memory=(region,), priority=priority)


def test_memory_shared_on_a_node_is_added_in_the_order_of_that_nodes_map() -> None:
    """The ids have one hash code. Aa, which runs elsewhere, is the last to come to n0.

    So its memory is added last there, and both tasks of it fit to the last digit, as in Storm
    2.8.3; in the order of the map of assignments, where it stands first, the second does not.
    """
    assert string_hash("Aa") == string_hash("BB") == string_hash("C#")
    full = {"cpu": Decimal(100), "memory_mb": Decimal("5.8")}
    nodes = (
        Node("n0", "r0", slots=4, resources=full),
        Node("n1", "r1", slots=4, resources={"cpu": Decimal(1), "memory_mb": Decimal(100)}),
    )
    topologies = (sharing("Aa", 3, "0.4", 2), sharing("BB", 1, "0.8"), sharing("C#", 1, "0.6"))
    places = {"Aa": Place("n1", 0), "BB": Place("n0", 0), "C#": Place("n0", 1)}
    running = {key: {"s[0]": place} for key, place in places.items()}
    done = schedule_round(Instance("i", Cluster(nodes), topologies, running=running))
    assert done.placement.nodes == (1, 0, 0, 0, 0)


RUNNING = "t1127 t191 t229 t290 t52 t74 u0 u1 u2 u3 u4"
SHARED = "8.91 2.31 6.57 7.52 1.92 1.34 0.73 5.45 8.67 2.2 7.63"


@pytest.mark.parametrize("turn", [1, -1])
def test_what_runs_is_read_by_name_and_listed_in_a_copied_map_after_each_topology(
    turn: int,
) -> None:
    """Storm 2.8.3 on Java 17 writes this sum; the first six ids share a bucket of 16, not of 32.

    Twelve assignments fill 16 buckets, and the copy of their map has 32. The order of the file
    decides nothing.
    """
    topologies = [
        sharing(key, 1, mb)
        for key, mb in list(zip(RUNNING.split(), SHARED.split(), strict=True))[::turn]
    ]
    running = {one.id: {"s[0]": Place("n", i)} for i, one in enumerate(topologies)}
    new = replace(sharing("new", 1, "1", 1), shared_memory=())
    large = replace(sharing("large", 1000, "1", 2), shared_memory=())
    node = Node("n", "r", resources={"cpu": Decimal(9999), "memory_mb": Decimal(100)})
    done = schedule_round(
        Instance("i", Cluster((node,)), (*topologies, new, large), running=running)
    )
    assert "(Available: 34.749999999999986 MB)" in done.decisions[-1].message


def test_the_map_of_assignments_stays_as_large_as_it_was() -> None:
    """13 keys need 32 buckets, in which t4 stands before t30; both are in one of 16."""
    keys = ("t30", "t4", *(f"u{i}" for i in range(11)))
    node = Node("n", "r", resources={"cpu": Decimal("0.1"), "memory_mb": Decimal(1)})
    made = Instance("i", Cluster((node,)), tuple(sharing(key, 1, "1") for key in keys))
    small, large = ClusterTables(ras_model(made)), ClusterTables(ras_model(made))
    for index in range(len(keys)):
        large.assign(index, (0, index), (0,))
    for index in range(2):
        small.assign(index, (0, index), (0,))
    assert list(small.copy(lambda _: (0,)).topologies) == [0, 1]
    assert list(large.taking_over(small, lambda _: (0,)).topologies) == [1, 0]
