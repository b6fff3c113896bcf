"""Gradings as processes of their own, which tests kill, and what they grade."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slotwise.benchmarks.grading.rows import MEASURED, Row, key_of


def tiny(index: int) -> dict[str, Any]:
    node = {"rack": "r1", "slots": 4, "resources": {"cpu": 100, "memory_mb": 1000}}
    demand = {"resources": {"cpu": 20, "onheap_mb": 200}}
    return {
        "format": "slotwise.instance/1",
        "name": f"tiny-{index}",
        "cluster": {"nodes": [{"id": "n1", **node}, {"id": "n2", **node}]},
        "topologies": [
            {
                "id": "wc",
                "components": [
                    {"id": "spout", "kind": "spout", "parallelism": 2, **demand},
                    {"id": "bolt", "kind": "bolt", "parallelism": 1 + index, **demand},
                ],
                "streams": [{"from": "spout", "to": "bolt"}],
            }
        ],
    }


def stable(rows: list[Row]) -> list[Row]:
    """Return what must not depend on the machine, in an order of its own."""
    left_out = (*MEASURED, "git_revision")  # Somebody may commit between two sessions.
    kept = [{k: v for k, v in row.items() if k not in left_out} for row in rows]
    return sorted(kept, key=lambda row: str(key_of(row)))


READ = """
import json, os, sys
data = json.load(sys.stdin)
all_nodes = [node["id"] for node in data["cluster"]["nodes"]]
nodes = all_nodes[:1]
"""
"""The first lines of a command: `data` is its instance, `nodes` are those that it uses."""

PLACE = """
topologies = {
    t["id"]: {
        f"{c['id']}[{i}]": {"node": nodes[i % len(nodes)], "worker": 0}
        for c in t["components"] for i in range(c["parallelism"])
    }
    for t in data["topologies"]
}
print(json.dumps({"format": "slotwise.placement/1", "instance": os.environ["SLOTWISE_INSTANCE"],
                  "topologies": topologies}))
"""
"""The last lines of a command: tasks on `nodes` in turn."""

PLACE_ALL_ON_FIRST = READ + PLACE


def start(
    instances: Path, out: Path, master: str, *methods: str, limit: float = 20, memory_mb: int = 2000
) -> subprocess.Popen[bytes]:
    # A folder of this name where the user is must not be taken for the package.
    (out / "slotwise").mkdir(exist_ok=True)
    (out / "slotwise" / "__init__.py").touch()
    words = [sys.executable, "-P", "-m", "slotwise", "grade", str(instances), "--out", str(out)]
    words += ["--time-limit", str(limit), "--memory-limit", str(memory_mb)]
    words += ["--master", master]
    for method in methods:
        words += ["--methods", method]
    return subprocess.Popen(words, cwd=out, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for_rows(out: Path, process: subprocess.Popen[bytes], files: int = 1) -> None:
    """Wait until that number of files of rows is there."""
    deadline = time.monotonic() + 600
    while len(list((out / "rows").glob("*.parquet"))) < files:
        if process.poll() is not None:
            said = process.stderr.read().decode() if process.stderr else ""
            raise AssertionError(f"ended before it had {files} files of rows: {said[-3000:]}")
        assert time.monotonic() < deadline
        time.sleep(0.05)


def java_below(ancestor: int) -> set[int]:
    """Return the Java processes below `ancestor`: the driver's, and those of executors."""
    return set(_below(ancestor, b"java"))


def executors(ancestor: int) -> Iterator[int]:
    """Yield the executors' Java processes below `ancestor`."""
    yield from _below(ancestor, b"CoarseGrainedExecutorBackend")


def _below(ancestor: int, said: bytes) -> Iterator[int]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            if said in command and descends(int(process.name), ancestor):
                yield int(process.name)
        except OSError:
            continue  # It has ended meanwhile.


def descends(pid: int, ancestor: int) -> bool:
    seen: set[int] = set()  # ids are given anew: a parent may come up twice
    while pid > 1 and pid != ancestor and pid not in seen:
        seen.add(pid)
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        pid = int(stat.rpartition(")")[2].split()[1])
    return pid == ancestor
