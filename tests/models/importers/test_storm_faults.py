"""A plan that cannot be followed: Storm places by its own strategy, and says why in one line."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import DEEP, EXAMPLES
from running_storm import NODES, RACKS, READY, RunningStorm, running_storm

import slotwise
from slotwise.api.storm_plans import plan_file
from slotwise.models.formats.json_text import parse_json
from slotwise.models.importers.nimbus import Nimbus
from slotwise.models.instance.instance import Instance

pytestmark = [
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


def test_a_cluster_that_changed_since_the_snapshot(planned: Planned) -> None:
    """A supervisor dies: the plan is refused before anything is changed, and Storm schedules."""
    storm, plans = planned.storm, planned.plans
    with pytest.raises(slotwise.InputError, match="runs elsewhere since the snapshot"):
        slotwise.apply_plan(planned.snapshot, planned.plan, storm.address, plans)
    snapshot = planned.imported()
    storm.ask({"end": "n2"})
    deadline = time.monotonic() + 30
    while len(storm.read().nodes) > 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    with pytest.raises(slotwise.InputError, match=r"n2.*is gone since the snapshot"):
        slotwise.apply_plan(snapshot, planned.plan, storm.address, plans, execute=True)
    planned.write(planned.good)
    assert "node n2 is not there" in planned.rebalanced()
