"""A small decoded Storm cluster, made by hand, with something of everything."""

from __future__ import annotations

from typing import Any

SMALL: dict[str, Any] = {
    "cluster": "small",
    "source": "made by hand",
    "topologies": [
        {
            "id": "word-count",
            "storm_version": "2.2.0",
            "priority": 29,
            "strategy": "org.apache.storm.scheduler.DefaultResourceAwareStrategy",
            "num_workers": 3,
            "submitter": "user07",
            "one_executor_per_worker": False,
            "one_component_per_worker": True,
            "ras_constraints_raw": [["spout", "count"], ["RealName", "RealName"]],
            "spread_components_raw": ["count", "OtherRealName"],
            "shared_memory": {},
            "acker_executors": 4,
            "components": [
                {
                    "id": "spout",
                    "kind": "spout",
                    "parallelism_hint": None,
                    "executors": 0,
                    "cpu_pct": 20.0,
                    "onheap_mb": 1024.0,
                    "offheap_mb": 0.0,
                    "generic": {},
                    "inputs": [],
                },
                {
                    "id": "count",
                    "kind": "bolt",
                    "parallelism_hint": 3,
                    "executors": 3,
                    "cpu_pct": 10.0,
                    "onheap_mb": 128.0,
                    "offheap_mb": 64.0,
                    "generic": {"network.resource.units": 10.0},
                    "inputs": [
                        {"from": "spout", "stream": "default", "grouping": "custom_serialized"},
                        {"from": "spout", "stream": "x", "grouping": "fields", "n_fields": 1},
                    ],
                },
            ],
        }
    ],
    "cluster_spec": {
        "cluster_conf_from_first_topology": {
            "priority_strategy": "backtype.storm.FIFOSchedulingPriorityStrategy",
            "worker_min_cpu_pct": 100.0,
        },
        "nodes": [
            {
                "id": "r000s000",
                "host": "host-000",
                "rack": "rack-000",
                "slots": 12,
                "cpu_pct": 1100.0,
                "memory_mb": 58829.0,
                "generic": {"network.resource.units": 50.0},
            }
        ],
    },
}
