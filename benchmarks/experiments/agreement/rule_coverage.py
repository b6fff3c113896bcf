"""Which rules of the problem occur in an instance."""

from __future__ import annotations

import networkx as nx

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology

RULES = frozenset(
    {
        "hard capacity",
        "soft capacity",
        "unlimited capacity",
        "generic resource",
        "decimals",
        "slots",
        "unlimited slots",
        "no slots",
        "several racks",
        "heap limit",
        "shared onheap",
        "shared offheap_worker",
        "shared offheap_node",
        "one task per worker",
        "one component per worker",
        "incompatible pair",
        "incompatible with itself",
        "max per node",
        "minimum worker cpu",
        "ackers",
        "several topologies",
        "symmetric matrix",
        "asymmetric matrix",
        "linear",
        "running",
        "max moved",
        "term overload",
        "term network",
        "term rejected",
        "term nodes",
        "term workers",
        "term moved",
        "term linear",
        "sum of terms",
        "priorities",
        "rates",
        "grouping global",
        "grouping all",
        "parallelism 0",
        "cyclic streams",
        "self stream",
        "parallel streams",
    }
)

OF_WORKLOADS = frozenset(
    {"term bottleneck", "bottleneck in racks", "local_or_shuffle", "sending costs", "acks"}
)
"""Those that instances with the term ``bottleneck`` alone have."""


def rules_in(instance: Instance) -> set[str]:
    """Return which of `RULES` and `OF_WORKLOADS` occur in an instance."""
    rules = _cluster_rules(instance) | _objective_rules(instance)
    for topology in instance.topologies:
        rules |= _topology_rules(topology) | _stream_rules(topology, instance.flow)
    present = {
        "several topologies": len(instance.topologies) > 1,
        "priorities": len({t.priority for t in instance.topologies}) > 1,
        "linear": bool(instance.linear),
        "running": bool(instance.running),
        "max moved": bool(instance.objective.limits),
        "minimum worker cpu": instance.scheduler.worker_min_cpu > 0,
        "rates": instance.flow == "rates",
    }
    if "term bottleneck" in rules:
        rules |= _workload_rules(instance)
    return rules | {rule for rule, holds in present.items() if holds}


def _cluster_rules(instance: Instance) -> set[str]:
    nodes = instance.cluster.nodes
    soft = instance.objective.soft
    capacities = [(key, value) for node in nodes for key, value in node.resources.items()]
    matrix = instance.cluster.matrix
    symmetric = matrix is not None and matrix == tuple(zip(*matrix, strict=True))
    present = {
        "hard capacity": any(key not in soft and value is not None for key, value in capacities),
        "soft capacity": any(key in soft and value is not None for key, value in capacities),
        "unlimited capacity": any(value is None for _, value in capacities),
        "generic resource": any(key == "gpu" for key, _ in capacities),
        "decimals": any(value is not None and value % 1 != 0 for _, value in capacities),
        "slots": any(node.slots for node in nodes),
        "unlimited slots": any(node.slots is None for node in nodes),
        "no slots": any(node.slots == 0 for node in nodes),
        "several racks": len(instance.cluster.racks) > 1,
        "symmetric matrix": symmetric and len(nodes) > 1,
        "asymmetric matrix": matrix is not None and not symmetric,
    }
    return {rule for rule, holds in present.items() if holds}


def _objective_rules(instance: Instance) -> set[str]:
    rules = {f"term {part}" for part in instance.objective.parts}
    if any("+" in term for term in instance.objective.terms):
        rules.add("sum of terms")
    return rules


def _workload_rules(instance: Instance) -> set[str]:
    streams = [stream for topology in instance.topologies for stream in topology.streams]
    present = {
        "bottleneck in racks": len(instance.cluster.racks) > 1,
        "local_or_shuffle": any(stream.grouping == "local_or_shuffle" for stream in streams),
        "sending costs": any(instance.cluster.serialise_ms.levels),
        "acks": any(one.ackers is not None and one.acked is None for one in instance.topologies),
    }
    return {rule for rule, holds in present.items() if holds}


def _topology_rules(topology: Topology) -> set[str]:
    pairs = topology.constraints.incompatible
    present = {
        "heap limit": topology.worker_max_heap_mb is not None,
        "one task per worker": topology.one_task_per_worker,
        "one component per worker": topology.one_component_per_worker,
        "incompatible pair": any(a != b for a, b in pairs),
        "incompatible with itself": any(a == b for a, b in pairs),
        "max per node": bool(topology.constraints.max_per_node),
        "ackers": topology.ackers is not None,
        "parallelism 0": any(component.parallelism == 0 for component in topology.components),
    }
    shared = {f"shared {region.kind}" for region in topology.shared_memory}
    return shared | {rule for rule, holds in present.items() if holds}


def _stream_rules(topology: Topology, flow: str) -> set[str]:
    ends = [(stream.source, stream.target) for stream in topology.streams]
    others = [pair for pair in ends if pair[0] != pair[1]]
    sized = {c.id: c.parallelism for c in topology.components}
    present = {
        "cyclic streams": not nx.is_directed_acyclic_graph(nx.DiGraph(others)),
        "self stream": len(others) < len(ends),
        "parallel streams": len(set(others)) < len(others),
    }
    if flow == "rates":
        wide = {s.grouping for s in topology.streams if sized[s.target] > 1 and s.rate}
        present["grouping global"] = "global" in wide
        present["grouping all"] = "all" in wide
    return {rule for rule, holds in present.items() if holds}
