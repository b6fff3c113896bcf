"""The whole way on a real Storm: snapshot, plan, apply, few moves, roll back.

Instances are those of the comparison with Storm's schedulers. ``make storm-loop`` runs all of them
and prints what became of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import DEEP
from running_storm import READY, RunningStorm, running_storm
from storm_stories import story

import slotwise
from slotwise.heuristics.ras.scheduler import schedule_round
from slotwise.models.formats.instance_writer import instance_document
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.instance.placement import to_places
from slotwise.models.instance.topology import Topology
from slotwise.models.judge.judge import judge

pytestmark = [
    pytest.mark.in_turn,
    pytest.mark.slow,
    pytest.mark.skipif(not READY, reason="needs make storm-cluster storm-jar"),
]
SEED = 29
LOOPS = 30 if DEEP else 3
PACKAGE = "org.apache.storm.scheduler.resource.strategies.scheduling."
CLASSES = {
    "ras-default": "DefaultResourceAwareStrategy",
    "ras-generic": "GenericResourceAwareStrategy",
    "ras-round-robin": "RoundRobinResourceAwareStrategy",
    "ras-constraint-solver": "ConstraintSolverStrategy",
}


def suitable(index: int) -> Instance:
    """Return an instance that Storm places whole, of topologies by Storm's default strategy."""
    for number in range(100):
        first = story(SEED, 100 * index + number, "ras-default").first
        # Storm numbers the tasks of components by name, and a Nimbus of its own has one owner.
        topologies = tuple(
            replace(
                one,
                id=f"t{i}",
                owner="",
                components=tuple(
                    sorted((c for c in one.components if c.parallelism), key=lambda c: c.id)
                ),
                constraints=slotwise.Constraints(),
                launch_time=i,
                priority=i,
            )
            for i, one in enumerate(first.topologies)
            if all(c.parallelism and not c.id.startswith("__") for c in one.components)
        )
        nodes = tuple(replace(one, slots=one.slots or 4) for one in first.cluster.nodes)
        if not topologies or any(node.slots is None for node in nodes):
            continue
        instance = replace(
            first,
            cluster=slotwise.Cluster(nodes),
            topologies=topologies,
            scheduler=slotwise.Scheduler(),
            running=None,
            objective=slotwise.Objective(("network",)),
        )
        placed = schedule_round(instance).placement
        if -1 not in placed.nodes and len(placed.nodes) > 4 and judge(instance, placed).valid:
            return instance
    raise AssertionError("no instance of this index fits")


def conf_of(topology: Topology) -> dict[str, Any]:
    """Return the settings of Storm that an instance's topology states."""
    return {
        "topology.scheduler.strategy": PACKAGE + CLASSES[topology.strategy or "ras-default"],
        "topology.scheduler.favored.nodes": list(topology.favored_nodes),
        "topology.scheduler.unfavored.nodes": list(topology.unfavored_nodes),
        "topology.ras.order.executors.by.proximity.needs": topology.ras.order_by_proximity,
    }


def submit(storm: RunningStorm, instance: Instance) -> None:
    document = instance_document(instance)["topologies"]
    for topology, data in zip(instance.topologies, document, strict=True):
        storm.ask({"submit": data | {"conf": conf_of(topology)}})


def nodes_of(instance: Instance) -> list[Any]:
    return list(instance_document(instance)["cluster"]["nodes"])


def imported(storm: RunningStorm, racks: Mapping[str, str]) -> Instance:
    storm.settled()
    instance = slotwise.import_storm(storm.address, racks=racks).instance
    return replace(instance, objective=slotwise.Objective(("network",)))


def workers(places: Mapping[str, Mapping[str, Place]]) -> set[tuple[str, str, frozenset[str]]]:
    """Return topology, node and tasks of each worker."""
    tasks: dict[tuple[str, Place], set[str]] = {}
    for topology, own in places.items():
        for task, place in own.items():
            tasks.setdefault((topology, place), set()).add(task)
    return {(name, place.node, frozenset(one)) for (name, place), one in tasks.items()}


def contents(
    places: Mapping[str, Mapping[str, Place]],
) -> Counter[tuple[str, str, tuple[str, ...]]]:
    """Return topology, node and components of each worker: tasks of a component are alike."""
    return Counter(
        (name, node, tuple(sorted(task.partition("[")[0] for task in tasks)))
        for name, node, tasks in workers(places)
    )


def moved(before: Instance, after: Instance) -> set[tuple[str, str]]:
    """Return the tasks whose node or worker changed."""
    first, second = before.running or {}, after.running or {}
    return {
        (name, task)
        for name, tasks in first.items()
        for task, place in tasks.items()
        if second[name][task] != place
    }


@pytest.mark.parametrize("index", range(LOOPS))
def test_the_loop(index: int, tmp_path: Path) -> None:
    run_loop(suitable(index), tmp_path)


def run_loop(instance: Instance, plans: Path) -> None:
    racks = {node.id: node.rack for node in instance.cluster.nodes}
    with running_storm(nodes_of(instance), {"slotwise.plans": str(plans)}) as storm:
        submit(storm, instance)
        snapshot = imported(storm, racks)
        assert slotwise.judge(snapshot, running=True).valid

        # What the source says is what we read: the same demands, streams and rules.
        assert [one.resources for one in snapshot.cluster.nodes] == [
            one.resources for one in sorted(instance.cluster.nodes, key=lambda node: node.id)
        ]

        # The best placement with at most three moves: only those tasks move.
        few = slotwise.solve(snapshot, max_moved=3, time_limit_s=10)
        assert few.placement is not None
        done = slotwise.apply_plan(snapshot, few.placement, storm.address, plans, execute=True)
        assert done.is_as_planned, storm.log()
        after = imported(storm, racks)
        assert workers(after.running) == workers(to_places(snapshot, few.placement))
        assert len(moved(snapshot, after)) <= 3

        # The best placement: every executor is where the plan says, worker groups included.
        best = slotwise.solve(after, time_limit_s=10)
        assert best.placement is not None
        try:
            done = slotwise.apply_plan(after, best.placement, storm.address, plans, execute=True)
        except slotwise.InputError as error:
            # Nothing was changed: Storm rebalances one topology after another.
            if "exchanges the places" not in str(error):
                raise
            return
        assert done.is_as_planned, storm.log()
        last = imported(storm, racks)
        assert workers(last.running) == workers(to_places(after, best.placement))
        assert slotwise.storm_status(after, best.placement, storm.address).is_as_planned

        # And back.
        done = slotwise.apply_plan(after, None, storm.address, plans, execute=True)
        assert done.is_as_planned, storm.log()
        assert workers(imported(storm, racks).running) == workers(after.running)


@pytest.mark.parametrize("index", range(LOOPS))
def test_the_snapshot_is_what_storm_schedules(index: int) -> None:
    """Our strategy places the imported topology as Storm placed it, worker by worker."""
    instance = suitable(1000 + index)
    instance = replace(instance, topologies=instance.topologies[:1])
    racks = {node.id: node.rack for node in instance.cluster.nodes}
    with running_storm(nodes_of(instance)) as storm:
        submit(storm, instance)
        snapshot = imported(storm, racks)
        ours = schedule_round(replace(snapshot, running=None)).placement
        assert contents(to_places(snapshot, ours)) == contents(snapshot.running)


LARGE = ("TopologyName00047", "TopologyName00000", "TopologyName00001")
"""Of largeCluster03: the two largest, and a small one."""


@pytest.mark.deep
@pytest.mark.parametrize("name", LARGE)
def test_the_loop_on_topologies_of_a_large_cluster(name: str, tmp_path: Path, shared: Path) -> None:
    path = shared / "storm" / "clusters" / "largeCluster03.json"
    instance = slotwise.read_instance(path, topology=name)
    (topology,) = instance.topologies
    run_loop(
        replace(
            instance,
            topologies=(
                replace(
                    topology,
                    components=tuple(c for c in topology.components if c.parallelism),
                    streams=tuple(
                        s
                        for s in topology.streams
                        if all(
                            c.parallelism
                            for c in topology.components
                            if c.id in (s.source, s.target)
                        )
                    ),
                    strategy="ras-default",
                ),
            ),
            scheduler=slotwise.Scheduler(),
        ),
        tmp_path,
    )
