"""A real Storm in one process: Nimbus, ZooKeeper and supervisors (``make storm-cluster``)."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from slotwise.benchmarks.experiments.storm.throughput.cluster import CLUSTER, PLANNED
from slotwise.models.formats.json_text import canonical_json
from slotwise.models.importers.nimbus import read_nimbus
from slotwise.models.importers.storm_settings import Imported

RACKS = {"n1": "r1", "n2": "r1", "n3": "r2"}
NODES = [
    {"id": n, "host": n, "rack": r, "slots": 4, "resources": {"cpu": 400, "memory_mb": 4096}}
    for n, r in RACKS.items()
]
"""Three small machines in two racks."""

READY = CLUSTER.is_file() and PLANNED.is_file() and shutil.which("java") is not None


class RunningStorm:
    """A running cluster that takes requests."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log
        self.address = ""

    def log(self) -> list[str]:
        """Return the lines that slotwise wrote into Nimbus's log."""
        return [line for line in self._log.read_text().splitlines() if "slotwise: " in line]

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request, and return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(canonical_json(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
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
    command = [
        "java",
        "-XX:+UseSerialGC",
        "-Xmx900m",
        "-cp",
        f"{CLUSTER}:{CLUSTER.parent}/lib/*:{PLANNED}",
    ]
    with tempfile.TemporaryDirectory() as folder, Path(folder, "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "slotwise.stormcluster.Main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=folder,
            text=True,
        )
        try:
            storm = RunningStorm(process, Path(log.name))
            answer = storm.ask({"nodes": list(nodes), "conf": dict(conf or {})})
            storm.address = f"nimbus://localhost:{answer['port']}"
            yield storm
        finally:
            process.kill()
            process.wait()
