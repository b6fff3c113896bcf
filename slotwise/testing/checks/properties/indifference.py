"""Whether names and orders that mean nothing change what a scheduler's placement costs.

Names of a kind change places in alphabetical order (the first becomes the last), so that whoever
sorts by name sees another order; all lists are reversed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, LinearCost, Place, Running
from slotwise.models.instance.placement import Refusal
from slotwise.models.instance.topology import Constraints, Topology
from slotwise.models.judge.judge import judge
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.scheduler import HASH_SEEDS
from slotwise.testing.checks.trial import NOT_VALID, REFUSED, Trial, on_variant

Names = Mapping[str, str]


def renamed(instance: Instance) -> Instance:
    """Return the instance with other ids of nodes, hosts, racks, topologies and components."""
    nodes = instance.cluster.nodes
    places = _other_names("node", (one.id for one in nodes))
    hosts = _other_names("host", (one.host for one in nodes if one.host != one.id)) | places
    racks = _other_names("rack", instance.cluster.racks)
    ids = _other_names("topology", (one.id for one in instance.topologies))
    parts = {
        one.id: _other_names("c", (c.id for c in one.components)) for one in instance.topologies
    }
    moved = tuple(_node_renamed(one, places, hosts, racks) for one in nodes)
    return replace(
        instance,
        cluster=replace(instance.cluster, nodes=moved),
        topologies=tuple(
            _topology_renamed(t, ids[t.id], parts[t.id], hosts) for t in instance.topologies
        ),
        running=_running_renamed(instance.running, ids, parts, places),
        linear=tuple(_linear_renamed(instance, row, ids, parts, places) for row in instance.linear),
    )


def _other_names(kind: str, names: Iterable[str]) -> dict[str, str]:
    """Return name -> another one, whose rank in alphabetical order is the reverse."""
    known = sorted(set(names))
    width = len(str(len(known)))
    return {name: f"{kind}-{len(known) - rank:0{width}}" for rank, name in enumerate(known)}


def _node_renamed(node: Node, places: Names, hosts: Names, racks: Names) -> Node:
    return replace(node, id=places[node.id], host=hosts[node.host], rack=racks[node.rack])


def _topology_renamed(topology: Topology, key: str, parts: Names, hosts: Names) -> Topology:
    rules = topology.constraints
    pairs = tuple((parts.get(a, a), parts.get(b, b)) for a, b in rules.incompatible)
    most = {parts.get(one, one): count for one, count in rules.max_per_node.items()}
    return replace(
        topology,
        id=key,
        components=tuple(replace(c, id=parts[c.id]) for c in topology.components),
        streams=tuple(
            replace(s, source=parts.get(s.source, s.source), target=parts.get(s.target, s.target))
            for s in topology.streams
        ),
        constraints=Constraints(pairs, most),
        shared_memory=tuple(
            replace(region, components=tuple(parts.get(c, c) for c in region.components))
            for region in topology.shared_memory
        ),
        favored_nodes=tuple(hosts.get(one, one) for one in topology.favored_nodes),
        unfavored_nodes=tuple(hosts.get(one, one) for one in topology.unfavored_nodes),
    )


def _task_renamed(task: str, parts: Names) -> str:
    component, _, index = task.rpartition("[")
    return f"{parts.get(component, component)}[{index}"


def _running_renamed(
    running: Running | None, ids: Names, parts: Mapping[str, Names], places: Names
) -> Running | None:
    if running is None:
        return None
    return {
        ids[topology]: {
            _task_renamed(task, parts[topology]): Place(places[place.node], place.worker)
            for task, place in tasks.items()
        }
        for topology, tasks in running.items()
    }


def _linear_renamed(
    instance: Instance, row: LinearCost, ids: Names, parts: Mapping[str, Names], places: Names
) -> LinearCost:
    topology, task = instance.task_of(row.task)
    return LinearCost(
        f"{ids[topology]}/{_task_renamed(task, parts[topology])}", places[row.node], row.cost
    )


def reordered(instance: Instance) -> Instance:
    """Return the instance with nodes, topologies, components and streams in reverse order."""
    return replace(
        instance,
        cluster=_cluster_reordered(instance.cluster),
        topologies=tuple(_topology_reordered(one) for one in reversed(instance.topologies)),
        linear=instance.linear[::-1],
    )


def _cluster_reordered(cluster: Cluster) -> Cluster:
    matrix = cluster.matrix
    if matrix is not None:
        matrix = tuple(row[::-1] for row in reversed(matrix))
    return replace(cluster, nodes=cluster.nodes[::-1], matrix=matrix)


def _topology_reordered(topology: Topology) -> Topology:
    return replace(
        topology,
        components=topology.components[::-1],
        streams=topology.streams[::-1],
        shared_memory=topology.shared_memory[::-1],
    )


Costs = tuple[Fraction, ...]


def ignores_names(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that nodes, racks, topologies and components with other names cost the same."""
    return _same(trial, instance, renamed(instance), "with other names")


def ignores_order(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that nodes, topologies, components and streams in reverse order cost the same."""
    return _same(trial, instance, reordered(instance), "in reverse order")


def _same(trial: Trial, instance: Instance, other: Instance, how: str) -> Finding | None:
    before = _costs(trial, instance, HASH_SEEDS[0])
    with on_variant(how):
        after = _costs(trial, other, HASH_SEEDS[1])
    if before is None and after is None:
        raise NotJudgedError(REFUSED)
    if before == after:
        return None
    terms = instance.objective.terms
    return Finding(f"{_shown(terms, before)}; {how} {_shown(terms, after)}")


def _costs(trial: Trial, instance: Instance, hash_seed: int) -> Costs | None:
    """Return the value of each term; ``None`` for a refusal."""
    answer = trial.answer(instance, hash_seed)
    if isinstance(answer, Refusal):
        return None
    verdict = judge(instance, answer)
    if not verdict.valid:
        raise NotJudgedError(NOT_VALID)
    return tuple(term.value for term in verdict.objective)


def _shown(terms: tuple[str, ...], costs: Costs | None) -> str:
    if costs is None:
        return "refuses"
    return ", ".join(f"{t} {float(c):g}" for t, c in zip(terms, costs, strict=True))
