"""The jar's scheduler for whole plans, and its shadow mode, on a real Storm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES
from running_storm import NODES, RACKS, READY, RunningStorm, running_storm

import slotwise
from slotwise.models.formats.json_text import parse_json
from slotwise.models.instance.instance import Instance

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not READY, reason="needs make storm-cluster storm-jar"),
]


def snapshot_of(storm: RunningStorm) -> Instance:
    storm.settled()
    return slotwise.import_storm(storm.address, racks=RACKS).instance


def spread(instance: Instance) -> slotwise.Placement:
    """Return a plan that Storm would not choose: tasks on one node after the other."""
    names = instance.task_names()
    return slotwise.Placement.from_dict(
        instance,
        {"wc": {task: {"node": f"n{k % 3 + 1}", "worker": 0} for k, (_, task) in enumerate(names)}},
    )


def apply_spread(tmp_path: Path, conf: dict[str, Any]) -> tuple[slotwise.StormState, list[str]]:
    (topology,) = parse_json((EXAMPLES / "word-count.json").read_text())["topologies"]
    with running_storm(NODES, {"slotwise.plans": str(tmp_path)} | conf) as storm:
        storm.ask({"submit": topology | {"worker_max_heap_mb": 2000}})
        snapshot = snapshot_of(storm)
        state = slotwise.apply_plan(
            snapshot, spread(snapshot), storm.address, tmp_path, execute=True
        )
        storm.settled()
        return state, storm.log()


def test_the_scheduler_follows_plans(tmp_path: Path) -> None:
    conf = {"storm.scheduler": "slotwise.storm.PlannedScheduler"}
    racks = tmp_path / "racks.json"
    state, log = apply_spread(tmp_path, conf | {"slotwise.racks": str(racks)})
    assert state.is_as_planned
    assert parse_json(racks.read_text()) == RACKS
    others = {one.name for one in tmp_path.iterdir() if one.suffix != ".plan"}
    assert others == {"racks.json", ".applying"}
    assert "is left to ResourceAwareScheduler: there is no plan" in log[0]
    assert "PlannedScheduler" in log[-1]
    assert "follows its plan, 9 executors" in log[-1]


def test_shadow_mode_only_logs(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "no folder" / "racks.json")
    state, log = apply_spread(tmp_path, {"slotwise.shadow": True, "slotwise.racks": nowhere})
    assert not state.is_as_planned
    assert len(log) == 2
    assert "racks cannot be written" in log[0]
    assert "executors on other nodes than planned" in log[1]


def test_a_storm_without_the_resource_aware_scheduler(tmp_path: Path) -> None:
    """It is read as round robin, which ours repeats, and no plan is sent to it."""
    (topology,) = parse_json((EXAMPLES / "word-count.json").read_text())["topologies"]
    default = {"storm.scheduler": "org.apache.storm.scheduler.DefaultScheduler"}
    with running_storm(NODES, default) as storm:
        storm.ask({"submit": topology | {"workers": 2, "worker_max_heap_mb": 2000}})
        snapshot = snapshot_of(storm)
        assert any("round robin" in line for line in slotwise.import_storm(storm.address).assumed)
        assert snapshot.topologies[0].strategy is None
        ours = slotwise.place(snapshot, "round-robin")
        assert isinstance(ours, slotwise.Placement)
        assert slotwise.storm_status(snapshot, ours, storm.address).is_as_planned
        with pytest.raises(slotwise.InputError, match="follows no plan"):
            slotwise.apply_plan(snapshot, ours, storm.address, tmp_path)
