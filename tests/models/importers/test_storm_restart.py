"""Nimbus dies and comes back: what was planned still runs, and a plan half applied is finished."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import TESTS

import slotwise
from slotwise.api.storm_plans import plan_file
from slotwise.benchmarks.experiments.storm.throughput.cluster import Storm, running_storm, wait_for
from slotwise.benchmarks.experiments.storm.throughput.experiment import submit
from slotwise.benchmarks.experiments.storm.throughput.network import (
    HOSTS,
    check_possible,
    network,
)
from slotwise.benchmarks.experiments.storm.throughput.workload import TOPOLOGIES, Setting
from slotwise.models.importers.nimbus import Nimbus
from slotwise.models.instance.instance import Instance

RACKS = {host.address: host.rack_name for host in HOSTS}
NAME = "linear"
TASKS = 10
KILLS = 8
LEADER_S = 90.0
"""Seconds in which a new Nimbus leads and knows its supervisors: ZooKeeper waits 40 for the old."""


def is_possible() -> bool:
    """Say whether namespaces can be made here; never asked where the tests are skipped anyway."""
    try:
        check_possible()
    except slotwise.InputError:
        return False
    return True


pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(TESTS == "deep" and not is_possible(), reason="needs root, ip, tc, java"),
]


@dataclass
class Running:
    """A Storm of its own processes with one topology, as it was first placed, and a plan."""

    storm: Storm
    snapshot: Instance
    plan: slotwise.Placement

    def apply(self, plan: slotwise.Placement) -> bool:
        """Until the supervisors have reported to a new Nimbus, it moves nothing: ask again."""
        deadline = time.monotonic() + LEADER_S
        while not (done := self.apply_once(plan)) and time.monotonic() < deadline:
            time.sleep(2)
        return done

    def apply_once(self, plan: slotwise.Placement) -> bool:
        done = slotwise.apply_plan(
            slotwise.import_storm(self.storm.address, racks=RACKS).instance,
            plan,
            self.storm.address,
            self.storm.plans,
            execute=True,
            timeout_s=LEADER_S,
        )
        return done.is_as_planned

    def is_in_place(self, plan: slotwise.Placement) -> bool:
        return slotwise.storm_status(self.snapshot, plan, self.storm.address).is_as_planned

    def restart(self) -> None:
        """Start Nimbus, and wait until it knows all supervisors and every executor has a place."""
        self.storm.start_nimbus()
        wait_for(
            self.storm.address,
            lambda one: (
                len(one.nodes) == len(HOSTS) and sum(map(len, one.running.values())) == TASKS
            ),
            "Nimbus with all executors assigned",
        )


def with_nodes(snapshot: Instance, pairs: list[int]) -> slotwise.Placement:
    """Return a plan: the k-th executor of each component on the node with the k-th number."""
    nodes = sorted(snapshot.cluster.nodes, key=lambda one: one.host)
    places = {
        task: {"node": nodes[pairs[int(task.partition("[")[2][:-1])]].id, "worker": 0}
        for _, task in snapshot.task_names()
    }
    return slotwise.Placement.from_dict(snapshot, {NAME: places})


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    setting = Setting()
    with (
        network(setting.interface_mbit_s, setting.uplink_mbit_s) as made,
        running_storm(made) as storm,
    ):
        submit(storm, TOPOLOGIES[NAME], setting)
        snapshot = slotwise.import_storm(storm.address, racks=RACKS).instance
        assert len(snapshot.task_names()) == TASKS
        yield Running(storm, snapshot, with_nodes(snapshot, [0, 3]))


def test_what_was_planned_runs_on_without_nimbus_and_after_it(running: Running) -> None:
    storm = running.storm
    assert running.apply(running.plan)
    written = (storm.plans / plan_file(NAME)).read_bytes()
    storm.nimbus.close()
    with pytest.raises(slotwise.InputError, match="nimbus://"):
        running.is_in_place(running.plan)
    with pytest.raises(slotwise.InputError, match="nimbus://"):
        slotwise.apply_plan(running.snapshot, None, storm.address, storm.plans, execute=True)
    assert (storm.plans / plan_file(NAME)).read_bytes() == written
    running.restart()
    assert running.is_in_place(running.plan)
    with Nimbus(storm.address) as nimbus:
        nimbus.ask("rebalance", NAME, nimbus.types.RebalanceOptions(wait_secs=0))
    time.sleep(5)
    storm.settled(TASKS)
    assert running.is_in_place(running.plan)


def test_nimbus_dies_while_a_plan_is_applied(running: Running, tmp_path: Path) -> None:
    """At any moment: afterwards every executor has a place, and the same command finishes."""
    draw = random.Random(29)
    other = with_nodes(running.snapshot, [1, 2])
    plans = [running.plan, other]
    finished = 0
    for number in range(KILLS):
        plan = plans[(number + 1) % 2]
        snapshot = slotwise.import_storm(running.storm.address, racks=RACKS).instance
        files = tmp_path / f"{number}-snapshot.json", tmp_path / f"{number}-plan.json"
        slotwise.write_instance(files[0], snapshot)
        slotwise.write_placement(files[1], snapshot, plan)
        words = ["storm", "apply", *map(str, files), "--nimbus", running.storm.address]
        words += ["--plans", str(running.storm.plans), "--execute"]
        with subprocess.Popen(
            [sys.executable, "-m", "slotwise", *words], stderr=subprocess.PIPE, text=True
        ) as command:
            time.sleep(draw.uniform(0.5, 4))
            running.storm.nimbus.close()
            _, said = command.communicate(timeout=90)
        finished += command.returncode == 0
        assert command.returncode in (0, 2), said
        assert "Traceback" not in said
        running.restart()
        assert running.apply(plan)
        assert running.is_in_place(plan)
    assert finished < KILLS
