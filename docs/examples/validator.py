"""A validator of placements in fifty lines: cpu, memory and slots of nodes, heap of workers.

Reads {"instance": ..., "placement": ...} on stdin, prints {"violations": ["rule", ...]}. It knows
nothing of shared memory, and of several rules nothing at all: slotwise test-validator tells.
"""

import json
import sys
from collections import Counter
from decimal import Decimal

question = json.load(sys.stdin, parse_float=Decimal)
instance, placement = question["instance"], question["placement"]["topologies"]
broken = set()
loads, workers, heaps = Counter(), Counter(), Counter()

for topology in instance["topologies"]:
    places = placement.get(topology["id"], {})
    for component in topology["components"]:
        needs = component["resources"]
        for index in range(component["parallelism"]):
            place = places.get(f"{component['id']}[{index}]")
            if place is None:
                broken.add("placed")
                continue
            node, worker = place["node"], (place["node"], place["worker"])
            workers[worker] += 1
            heaps[topology["id"], worker] += needs.get("onheap_mb", 0)
            for key, amount in needs.items():
                resource = "memory_mb" if key in ("onheap_mb", "offheap_mb") else key
                loads[node, resource] += amount
    limit = topology["worker_max_heap_mb"]
    for (owner, _), heap in heaps.items():
        if owner == topology["id"] and limit is not None and heap > limit:
            broken.add("heap")

for node in instance["cluster"]["nodes"]:
    for (name, resource), load in loads.items():
        capacity = node["resources"].get(resource, 0)
        if name == node["id"] and capacity is not None and load > capacity:
            broken.add("capacity")
    used = sum(1 for name, _ in workers if name == node["id"])
    if node["slots"] is not None and used > node["slots"]:
        broken.add("slots")

json.dump({"violations": sorted(broken)}, sys.stdout)
