"""A real Storm in one process: Nimbus, ZooKeeper and supervisors (``make storm-cluster``)."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from slotwise.models.importers.nimbus import read_nimbus
from slotwise.models.importers.storm_settings import Imported
from slotwise.processes.child import Child

HERE = Path(__file__).parent
CLUSTER = HERE / "storm_cluster/target/storm-cluster.jar"
PLANNED = (
    HERE.parent / "heuristics/external/storm_programs/planned/target/slotwise-storm.jar"
)
READY = CLUSTER.is_file() and PLANNED.is_file() and shutil.which("java") is not None


class RunningStorm:
    """A running cluster that takes requests."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self.address = ""

    def ask(self, request: Mapping[str, Any], seconds: float = 120) -> dict[str, Any]:
        """Send a request, and return its answer."""
        self._child.write(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._child.read_line(time.monotonic() + seconds))
        assert "error" not in answer, answer
        return answer

    def read(self) -> Imported:
        """Return what Nimbus says."""
        return read_nimbus(self.address)

    def settled(self, seconds: float = 60) -> Imported:
        """Return what Nimbus says once every executor is assigned."""
        deadline = time.monotonic() + seconds
        while True:
            found = self.read()
            tasks = sum(c.parallelism for t in found.topologies for c in t.placed_components)
            if sum(map(len, found.running.values())) == tasks:
                return found
            assert time.monotonic() < deadline, found
            time.sleep(0.3)


@contextmanager
def running_storm(
    nodes: Sequence[Mapping[str, Any]], conf: Mapping[str, Any] | None = None
) -> Iterator[RunningStorm]:
    """Run a cluster with the nodes of an instance, and end it."""
    command = ["java", "-XX:+UseSerialGC", "-Xmx900m", "-cp", f"{CLUSTER}:{PLANNED}"]
    child = Child([*command, "slotwise.stormcluster.Main"])
    try:
        storm = RunningStorm(child)
        answer = storm.ask({"nodes": list(nodes), "conf": dict(conf or {})})
        storm.address = f"nimbus://localhost:{answer['port']}"
        yield storm
    finally:
        child.close()
