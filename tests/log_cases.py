"""Instances that logs are made of, and a plain reading of such logs."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import slotwise

GROUPED: dict[str, Any] = {
    "format": "slotwise.instance/1",
    "name": "grouped",
    "flow": "rates",
    "cluster": {
        "nodes": [
            {"id": f"n{i}", "rack": "r1", "slots": 4, "resources": {"cpu": 800, "memory_mb": 8192}}
            for i in (1, 2, 3)
        ]
    },
    "topologies": [
        {
            "id": "shop",
            "components": [
                {
                    "id": "orders",
                    "kind": "spout",
                    "parallelism": 2,
                    "resources": {"cpu": 20, "onheap_mb": 128},
                },
                {
                    "id": "price",
                    "kind": "bolt",
                    "parallelism": 3,
                    "resources": {"cpu": 60, "onheap_mb": 128, "offheap_mb": 64},
                },
                {"id": "audit", "kind": "bolt", "parallelism": 2, "resources": {"cpu": 10}},
                {"id": "total", "kind": "bolt", "parallelism": 2, "resources": {"cpu": 30}},
            ],
            "streams": [
                {
                    "from": "orders",
                    "to": "price",
                    "grouping": "shuffle",
                    "rate": 90,
                    "tuple_bytes": 2048,
                },
                {"from": "orders", "to": "audit", "grouping": "all", "rate": 90, "tuple_bytes": 64},
                {
                    "from": "price",
                    "to": "total",
                    "grouping": "fields",
                    "rate": 30,
                    "tuple_bytes": 512,
                },
                {
                    "from": "price",
                    "to": "total",
                    "grouping": "global",
                    "rate": 30,
                    "tuple_bytes": 16,
                },
            ],
        }
    ],
}
"""Every way of grouping, and two streams between the same components."""

LINE = re.compile(
    r"(?P<logged>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?P<uptime>\d+) * (?P<time>\d+)"
    r"\t *(?P<node>[^\t:]+):(?P<port>\d{4})\t *(?P<task>-?\d+):(?P<component>\w+) *"
    r"\t(?P<name>[^\t]{23})\t(?P<value>\{(?:[\w:-]+=-?[\d.]+(?:, [\w:-]+=-?[\d.]+)*)?\}|-?[\d.E]+)"
)
"""What Storm's LoggingMetricsConsumer prints, written anew and not from the generator."""


@dataclass
class Read:
    """What a plain reading of the Storm lines of a folder found."""

    counts: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    latencies: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    used: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    unread: list[str] = field(default_factory=list)


def make(folder: Path, instance: Any = GROUPED, **options: Any) -> dict[str, Any]:
    """Make logs in a new folder and return their truth."""
    return slotwise.generate_logs(instance, folder, **{"lines": 600, **options})


def log_lines(folder: Path, kind: str) -> list[str]:
    """Return all lines of a kind, file after file."""
    pattern = "workers-artifacts/*/*/worker.log.metrics*" if kind == "storm" else "*.jsonl*"
    found = []
    for path in sorted(folder.glob(pattern)):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        found += data.decode().splitlines()
    return found


def read_storm(folder: Path) -> Read:
    """Sum counts of a bucket over the lines of Storm's first metrics."""
    found = Read()
    for line in log_lines(folder, "storm"):
        matched = LINE.fullmatch(line)
        if matched is None:
            found.unread.append(line)
            continue
        name, value, component = matched["name"].strip(), matched["value"], matched["component"]
        entries = dict(one.split("=") for one in value.strip("{}").split(", ") if "=" in one)
        if name.startswith("__") and name.endswith("-count"):
            found.counts[component, name] += sum(map(int, entries.values()))
        if name == "__execute-latency":
            found.latencies[int(matched["task"])] += map(float, entries.values())
        if name == "CGroupCpu":
            found.counts["", "cpu"] += sum(map(int, entries.values()))
        if name in ("memory/heap", "memory/nonHeap"):
            found.used[name].add(int(entries["usedBytes"]))
    return found


def read_json(folder: Path) -> list[dict[str, Any]]:
    """Return the objects of the JSON lines."""
    return [json.loads(line) for line in log_lines(folder, "json")]
