"""A small grading, made in this process: what tests of reports start from."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from slotwise.benchmarks.grading.plan import RunLimits, make_plan
from slotwise.benchmarks.grading.rows import COLUMNS, Row
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.benchmarks.grading.store import Store

EVIL = "<script>alert(1)</script>"


def instance(name: str, tasks: int = 3, memory: int = 1000) -> dict[str, object]:
    node = {"rack": "r1", "slots": 4, "resources": {"cpu": 100, "memory_mb": memory}}
    bolt = {"id": "<b>bolt", "kind": "bolt", "parallelism": tasks - 1}
    demand = {"resources": {"cpu": 40, "onheap_mb": 100}}
    spout = {"id": "spout", "kind": "spout", "parallelism": 1}
    return {
        "format": "slotwise.instance/1",
        "name": name,
        "cluster": {"nodes": [{"id": "n1", **node}, {"id": "n2", **node}]},
        "topologies": [
            {
                "id": EVIL,
                "components": [{**spout, **demand}, {**bolt, **demand}],
                "streams": [{"from": "spout", "to": "<b>bolt"}],
            }
        ],
        "objective": {"terms": ["overload", "network"], "soft": {"cpu": 1}},
    }


def make_graded(tmp_path: Path) -> Path:
    """Return a folder with the rows of two methods on a feasible and an infeasible instance."""
    files = tmp_path / "in"
    files.mkdir()
    (files / "a.json").write_text(json.dumps(instance(f"{EVIL} & co")), encoding="utf-8")
    (files / "b.json").write_text(json.dumps(instance("tight", memory=100)), encoding="utf-8")
    cases = read_cases([str(files)], 0, None)
    store = Store(tmp_path / "out")
    store.prepare(cases)
    plan = make_plan(cases, ["round-robin", "r-storm"], "auto", RunLimits(20.0, 1, 0, None))
    blank: Row = dict.fromkeys(COLUMNS)
    load = Loader()
    rows = [{**blank, **run.columns(), **outcome(run, load)} for run in plan]
    store.append(pa.Table.from_pylist(rows))
    return store.folder
