"""A plan that cannot be followed: Storm places by its own strategy, and says why in one line."""

from __future__ import annotations

import fcntl
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import running_storm as storms
from conftest import DEEP, EXAMPLES
from running_storm import NODES, RACKS, READY, RunningStorm, running_storm

import slotwise
from slotwise.api.storm_plans import STRATEGY, WHITELIST, plan_file
from slotwise.models.formats.json_text import parse_json
from slotwise.models.importers.nimbus import Nimbus
from slotwise.models.instance.instance import Instance

pytestmark = [
    pytest.mark.in_turn,
    pytest.mark.slow,
    pytest.mark.skipif(not READY, reason="needs make storm-cluster storm-jar"),
]


class Planned:
    """A Storm with one topology, and a plan for it that was followed once."""

    def __init__(self, storm: RunningStorm, plans: Path) -> None:
        self.storm, self.plans = storm, plans
        self.file = plans / plan_file("wc")
        self.snapshot = self.imported()
        plan = {
            "wc": {
                task: {"node": "n2" if task.startswith("count") else "n1", "worker": k % 2}
                for k, (_, task) in enumerate(self.snapshot.task_names())
            }
        }
        self.plan = slotwise.Placement.from_dict(self.snapshot, plan)
        done = slotwise.apply_plan(self.snapshot, self.plan, storm.address, plans, execute=True)
        assert done.is_as_planned
        self.good = self.file.read_bytes()

    def imported(self) -> Instance:
        return slotwise.import_storm(self.storm.address, racks=RACKS).instance

    def rebalanced(self) -> str:
        """Place the topology again; return the line of the log that says how."""
        before = len(self.storm.log())
        with Nimbus(self.storm.address) as nimbus:
            nimbus.ask("rebalance", "wc", nimbus.types.RebalanceOptions(wait_secs=0))
        deadline = time.monotonic() + 30
        while len(self.storm.log()) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        lines = self.storm.log()[before:]
        self.storm.settled()  # never leaves an executor unassigned
        assert len(lines) == 1, lines
        return lines[0]

    def write(self, content: bytes) -> None:
        self.file.write_bytes(content)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planned]:
    plans = tmp_path_factory.mktemp("plans")
    (topology,) = parse_json((EXAMPLES / "word-count.json").read_text())["topologies"]
    with running_storm(NODES, {"slotwise.plans": str(plans)}) as storm:
        storm.ask({"submit": topology | {"worker_max_heap_mb": 2000}})
        storm.settled()
        yield Planned(storm, plans)


def signed_text(line: str) -> bytes:
    return f"{line}\n{hashlib.sha256(line.encode()).hexdigest()}\n".encode()


def changed(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    def change_signed(good: bytes) -> bytes:
        plan = json.loads(good.split(b"\n")[0])
        change(plan)
        return signed_text(json.dumps(plan))

    return change_signed


FAULTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda good: b"", "damaged"),
    "garbage": (lambda good: bytes(range(256)) * 40, "damaged"),
    "no digest": (lambda good: good.split(b"\n")[0] + b"\n", "damaged"),
    "two plans": (lambda good: good + good, "damaged"),
    "not JSON": (lambda good: signed_text("{"), "not JSON"),
    "a list": (lambda good: signed_text("[]"), "object"),
    "another format": (changed(lambda p: p.update(format="x/2")), "format"),
    "another topology": (changed(lambda p: p.update(topology="../../wc")), "topology"),
    "another cluster": (changed(lambda p: p.update(id="wc-9-1")), "id"),
    "expired": (changed(lambda p: p.update(expires=1)), "expired"),
    "no age": (changed(lambda p: p.pop("expires")), "expired"),
    "no executors": (changed(lambda p: p.pop("executors")), "no executors"),
    "fewer executors": (changed(lambda p: p["executors"]["count"].pop()), "executors of count"),
    "another component": (changed(lambda p: p["executors"].update(x=[])), "other components"),
    "no place": (changed(lambda p: p["executors"]["count"].__setitem__(0, [])), "not [node"),
    "no such node": (changed(lambda p: p["executors"]["count"].__setitem__(0, ["z", 0])), "node z"),
    "a node that is a path": (
        changed(lambda p: p["executors"]["count"].__setitem__(0, ["../n1", 0])),
        "node ../n1",
    ),
    "too many workers": (
        changed(lambda p: p["executors"].update(split=[["n3", k] for k in (1, 2, 3, 4)]) or
                p["executors"]["count"].__setitem__(0, ["n3", 5])),
        "no slot",
    ),
    "too full": (
        changed(
            lambda p: p.update(
                executors={k: [["n1", 1]] * len(v) for k, v in p["executors"].items()}
            )
        ),
        "does not fit",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_plan_that_cannot_be_followed(planned: Planned, fault: str) -> None:
    make, why = FAULTS[fault]
    planned.write(make(planned.good))
    line = planned.rebalanced()
    assert "falls back" in line
    assert why in line


def test_no_plan(planned: Planned) -> None:
    planned.file.unlink(missing_ok=True)
    assert "there is no plan" in planned.rebalanced()


def test_a_plan_cut_off(planned: Planned) -> None:
    size = len(planned.good)
    for length in range(size) if DEEP else (1, size // 2, size - 65, size - 2, size - 1):
        planned.write(planned.good[:length])
        assert "falls back" in planned.rebalanced()


def test_the_good_plan_still_works(planned: Planned) -> None:
    planned.write(planned.good)
    assert "follows its plan" in planned.rebalanced()
    state = slotwise.storm_status(planned.snapshot, planned.plan, planned.storm.address)
    assert state.is_as_planned


def spread(snapshot: Instance) -> slotwise.Placement:
    """Return another plan: tasks on one node after the other."""
    places = {
        task: {"node": f"n{k % 3 + 1}", "worker": 0}
        for k, (topology, task) in enumerate(snapshot.task_names())
        if topology == "wc"
    }
    return slotwise.Placement.from_dict(snapshot, {"wc": places})


def test_a_plan_that_is_in_place_already_changes_nothing(planned: Planned) -> None:
    """As after Ctrl-C: the same command goes on."""
    again = slotwise.apply_plan(
        planned.snapshot, planned.plan, planned.storm.address, planned.plans, execute=True
    )
    assert again.is_as_planned


def test_a_folder_that_nimbus_does_not_read(planned: Planned, tmp_path: Path) -> None:
    with pytest.raises(slotwise.InputError, match="not the folder that Nimbus reads plans from"):
        slotwise.apply_plan(planned.snapshot, planned.plan, planned.storm.address, tmp_path)


def test_two_plans_at_once(planned: Planned) -> None:
    """The second one changes nothing; once the first has ended, it may."""
    storm, plans = planned.storm, planned.plans
    snapshot = planned.imported()
    before = planned.file.read_bytes()
    with (plans / ".applying").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(slotwise.InputError, match="another plan is being applied"):
            slotwise.apply_plan(snapshot, spread(snapshot), storm.address, plans, execute=True)
    assert planned.file.read_bytes() == before
    done = slotwise.apply_plan(snapshot, spread(snapshot), storm.address, plans, execute=True)
    assert done.is_as_planned
    back = slotwise.apply_plan(snapshot, None, storm.address, plans, execute=True)
    assert back.is_as_planned


def test_a_rollback_without_moves_replaces_the_plan(planned: Planned) -> None:
    """A plan that was written, and whose rebalance nobody asked for, is not followed later."""
    storm, plans = planned.storm, planned.plans
    snapshot = planned.imported()
    slotwise.apply_plan(snapshot, spread(snapshot), storm.address, plans, execute=True)
    unwanted = planned.file.read_bytes()
    slotwise.apply_plan(snapshot, None, storm.address, plans, execute=True)
    planned.write(unwanted)
    slotwise.apply_plan(snapshot, None, storm.address, plans, execute=True)
    assert planned.file.read_bytes() != unwanted
    planned.rebalanced()
    assert slotwise.storm_status(snapshot, planned.plan, storm.address).is_as_planned


@pytest.mark.parametrize("elected_after", [3, None])
def test_a_plan_waits_for_a_leader(
    planned: Planned, monkeypatch: pytest.MonkeyPatch, elected_after: int | None
) -> None:
    ask, looks = Nimbus.ask, []

    def without_leader(nimbus: Nimbus, call: str, *arguments: object) -> Any:
        answer = ask(nimbus, call, *arguments)
        if call == "getClusterInfo":
            looks.append(call)
            for one in answer.nimbuses:
                one.isLeader = elected_after is not None and len(looks) > elected_after
        return answer

    snapshot, storm, plans = planned.imported(), planned.storm, planned.plans
    monkeypatch.setattr(Nimbus, "ask", without_leader)

    def apply(timeout_s: float) -> slotwise.StormState:
        wanted = spread(snapshot)
        return slotwise.apply_plan(
            snapshot, wanted, storm.address, plans, execute=True, timeout_s=timeout_s
        )

    if elected_after is None:
        with pytest.raises(slotwise.InputError, match="has had no leader for 1 s: apply again"):
            apply(1)
        assert slotwise.storm_status(snapshot, planned.plan, storm.address).is_as_planned
    else:
        assert apply(30).is_as_planned
        assert len(looks) > elected_after
        back = slotwise.apply_plan(snapshot, None, storm.address, plans, execute=True)
        assert back.is_as_planned


def test_a_cluster_that_changed_since_the_snapshot(planned: Planned) -> None:
    """A supervisor dies: the plan is refused before anything is changed, and Storm schedules."""
    storm, plans = planned.storm, planned.plans
    other = spread(planned.snapshot)
    with pytest.raises(slotwise.InputError, match="runs elsewhere since the snapshot"):
        slotwise.apply_plan(planned.snapshot, other, storm.address, plans)
    snapshot = planned.imported()
    storm.ask({"end": "n2"})
    deadline = time.monotonic() + 30
    while len(storm.read().nodes) > 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    with pytest.raises(slotwise.InputError, match=r"n2.*is gone.*since the snapshot"):
        slotwise.apply_plan(snapshot, spread(snapshot), storm.address, plans, execute=True)
    with pytest.raises(slotwise.InputError, match=r"n2.*what ran there cannot go back"):
        slotwise.apply_plan(snapshot, None, storm.address, plans, execute=True)
    planned.write(planned.good)
    assert "node n2 is not there" in planned.rebalanced()


ADDED = {
    "id": "more",
    "components": [
        {"id": "a", "kind": "spout", "parallelism": 1, "resources": {"cpu": 10, "onheap_mb": 64}}
    ],
    "streams": [],
    "worker_max_heap_mb": 500,
}


def test_a_topology_that_was_submitted_since_the_snapshot(tmp_path: Path) -> None:
    """It may be where the plan wants to be."""
    with running_storm(NODES, {"slotwise.plans": str(tmp_path)}) as storm:
        storm.ask({"submit": ADDED})
        storm.settled()
        snapshot = slotwise.import_storm(storm.address, racks=RACKS).instance
        storm.ask({"submit": ADDED | {"id": "since"}})
        storm.settled()
        plan = {"more": {"a[0]": {"node": "n1", "worker": 0}}}
        stays = slotwise.Placement.from_dict(snapshot, plan)
        with pytest.raises(slotwise.InputError, match=r"since.*was submitted since the snapshot"):
            slotwise.apply_plan(snapshot, stays, storm.address, tmp_path)
        assert slotwise.apply_plan(snapshot, None, storm.address, tmp_path).is_as_planned
        odd = {"id": "odd", "conf": {"topology.ras.odd": 1}}
        storm.ask({"submit": ADDED | odd})
        with pytest.raises(slotwise.InputError, match="does not know"):
            slotwise.import_storm(storm.address)
        state = slotwise.storm_status(snapshot, stays, storm.address)
        assert [one.topology for one in state.topologies] == ["more"]
        assert slotwise.apply_plan(snapshot, None, storm.address, tmp_path).is_as_planned


def strategy_of(storm: RunningStorm, name: str) -> object:
    with Nimbus(storm.address) as nimbus:
        return parse_json(nimbus.ask("getTopologyConf", storm.read().ids[name]))[STRATEGY]


def test_a_storm_without_the_jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It places nothing by a strategy that it lacks: the topology gets its own one back."""
    monkeypatch.setattr(storms, "PLANNED", tmp_path / "no.jar")
    (topology,) = parse_json((EXAMPLES / "word-count.json").read_text())["topologies"]
    with running_storm(NODES, {"slotwise.plans": str(tmp_path)}) as storm:
        storm.ask({"submit": topology | {"worker_max_heap_mb": 2000}})
        storm.settled()
        before = strategy_of(storm, "wc")
        snapshot = slotwise.import_storm(storm.address, racks=RACKS).instance
        with pytest.raises(slotwise.InputError, match="was not placed by Storm in 5 s; its strat"):
            slotwise.apply_plan(
                snapshot, spread(snapshot), storm.address, tmp_path, execute=True, timeout_s=5
            )
        storm.settled()
        assert strategy_of(storm, "wc") == before


@pytest.mark.parametrize(
    ("conf", "why"),
    [
        ({}, "slotwise.plans: is not set in Nimbus"),
        ({WHITELIST: ["x.Y"]}, "lacks slotwise.storm.PlannedStrategy"),
    ],
)
def test_a_nimbus_that_would_follow_no_plan(tmp_path: Path, conf: dict[str, Any], why: str) -> None:
    plans = {"slotwise.plans": str(tmp_path)} if conf else {}
    with running_storm(NODES, plans | conf) as storm:
        snapshot = slotwise.import_storm(storm.address, racks=RACKS).instance
        running = replace(snapshot, running=snapshot.running or {})
        with pytest.raises(slotwise.InputError, match=why):
            slotwise.apply_plan(running, None, storm.address, tmp_path)
