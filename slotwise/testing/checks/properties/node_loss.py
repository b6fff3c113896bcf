"""What a scheduler does when a node is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal, to_places
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.properties.validity import first_of_each_rule
from slotwise.testing.checks.trial import Trial, on_variant

ONE_NODE = "it has one node"


def survives_node_loss(trial: Trial, instance: Instance) -> Finding | None:
    """Lose each node in use in turn; the rest of the placement is what runs now.

    The scheduler must place all again where that is possible, and keep every rule. One that is not
    for running tasks is not told of them.
    """
    placement, _ = trial.valid(instance)
    if len(instance.cluster.nodes) == 1:
        raise NotJudgedError(ONE_NODE)
    for node, left in _losses(instance, placement):
        rest = trial.narrowed(left)
        with on_variant(f"without {node}"):
            answer = trial.answer(rest)
        if isinstance(answer, Refusal):
            if trial.oracle.optimum(rest).is_complete:
                return Finding(f"without {node}, refuses what can be placed: {answer.reason}")
            continue
        broken = first_of_each_rule(trial.verdict(rest).violations)
        if broken:
            said = "; ".join(f"breaks {one}" for one in broken.values())
            return Finding(f"without {node}, {said}", tuple(broken))
    return None


def _losses(instance: Instance, placement: Placement) -> Iterator[tuple[str, Instance]]:
    """Yield each node in use and the instance without it, running what the others hold."""
    places = to_places(instance, placement)
    for index in sorted({n for n in placement.nodes if n >= 0}):
        lost = instance.cluster.nodes[index].id
        running = {
            topology: {task: place for task, place in tasks.items() if place.node != lost}
            for topology, tasks in places.items()
        }
        linear = tuple(row for row in instance.linear if row.node != lost)
        cluster = _without(instance.cluster, index)
        try:
            rest = replace(instance, cluster=cluster, running=running, linear=linear)
        except InputError:  # a soft resource that no other node offers
            continue
        yield lost, rest


def _without(cluster: Cluster, index: int) -> Cluster:
    nodes = cluster.nodes[:index] + cluster.nodes[index + 1 :]
    matrix = cluster.matrix
    if matrix is not None:
        rows = matrix[:index] + matrix[index + 1 :]
        matrix = tuple(row[:index] + row[index + 1 :] for row in rows)
    return replace(cluster, nodes=nodes, matrix=matrix)
