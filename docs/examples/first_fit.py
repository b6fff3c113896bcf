"""First fit as a command: an instance on stdin, a placement or a refusal on stdout.

It needs nothing but Python. One worker per node and topology; heap limits, slots and the other
rules are not looked at: the judge says when the result breaks one.
"""

import json
import os
import sys

instance = json.load(sys.stdin)
free = {node["id"]: dict(node["resources"]) for node in instance["cluster"]["nodes"]}


def needs(component):
    """Return what a task takes from its node."""
    needed = dict(component["resources"])
    memory = needed.pop("onheap_mb", 0) + needed.pop("offheap_mb", 0)
    return needed | {"memory_mb": memory}


def fits(needed, left):
    """Say whether a node has room; null = no limit, absent = nothing."""
    return all(left.get(key, 0) is None or left.get(key, 0) >= needed[key] for key in needed)


def first_fit(needed):
    """Take the room on the first node that has it; None if no node has."""
    for node, left in free.items():
        if fits(needed, left):
            left.update({k: left[k] - needed[k] for k in needed if left.get(k) is not None})
            return node
    return None


placed = {}
for number, topology in enumerate(instance["topologies"]):
    tasks = placed.setdefault(topology["id"], {})
    for component in topology["components"]:
        for index in range(component["parallelism"]):
            node = first_fit(needs(component))
            task = f"{component['id']}[{index}]"
            if node is None:
                json.dump({"refused": f"no node has room for {task}"}, sys.stdout)
                sys.exit()
            tasks[task] = {"node": node, "worker": number}

answer = {
    "format": "slotwise.placement/1",
    "instance": os.environ["SLOTWISE_INSTANCE"],
    "topologies": placed,
}
json.dump(answer, sys.stdout)
