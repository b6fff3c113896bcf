"""Instances that no engine closes in the seconds of a test."""

from __future__ import annotations

import json


def hard_instance(tasks: int = 100, nodes: int = 10) -> str:
    """An instance that no engine closes in the seconds of these tests."""
    components = [
        {
            "id": f"c{i}",
            "kind": "bolt" if i else "spout",
            "parallelism": 7 + (i * 5) % 11,
            "resources": {"cpu": 11 + (i * 7) % 13, "onheap_mb": 90 + (i * 37) % 71},
        }
        for i in range(tasks // 12)
    ]
    streams = [
        {"from": f"c{i}", "to": f"c{(i * step + 1) % len(components)}", "grouping": "shuffle"}
        for i in range(len(components))
        for step in (1, 3, 7)
    ]
    machines = [
        {
            "id": f"n{i}",
            "rack": f"r{i % 5}",
            "slots": 4,
            "resources": {"cpu": 150 + 10 * (i % 4), "memory_mb": 1900 + 50 * (i % 3)},
        }
        for i in range(nodes)
    ]
    topology = {
        "id": "t",
        "worker_max_heap_mb": 900,
        "components": components,
        "streams": [dict(pair) for pair in {tuple(s.items()) for s in streams}],
    }
    return json.dumps(
        {
            "format": "slotwise.instance/1",
            "name": "hard",
            "cluster": {"nodes": machines},
            "topologies": [topology],
            "objective": {"terms": ["network"]},
        }
    )
