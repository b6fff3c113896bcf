"""Whether a scheduler does as well on a cluster with more capacity, or with a node lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal, to_places
from slotwise.models.problem.compile import compile_problem
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.properties.validity import first_of_each_rule
from slotwise.testing.checks.trial import NOT_VALID, Trial, on_variant
from slotwise.testing.random_instances.lost_nodes import without_nodes


def is_no_worse_with_more(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that more capacity costs no more, and that what was placed is not refused."""
    _, before = trial.valid(instance)
    for how, larger in _with_more(instance):
        with on_variant(how):
            if isinstance(trial.answer(larger), Refusal):
                return Finding(f"places it, but refuses the same instance {how}")
            after = trial.verdict(larger)
        if not after.valid:
            raise NotJudgedError(NOT_VALID)
        for old, new in zip(before.objective, after.objective, strict=True):
            if new.value > old.value:
                worse = f"{new.term} rises from {float(old.value):g} to {float(new.value):g}"
                return Finding(f"{how}, {worse}")
            if new.value < old.value:
                break
    return None


def _with_more(instance: Instance) -> Iterator[tuple[str, Instance]]:
    cluster = instance.cluster
    variants = (
        ("with twice the capacity on each node", replace(cluster, nodes=_doubled(cluster))),
        ("with one more node like the last", _with_one_more(cluster)),
    )
    for how, larger in variants:
        changed = replace(instance, cluster=larger)
        if _is_within_limits(changed):
            yield how, changed


def _doubled(cluster: Cluster) -> tuple[Node, ...]:
    return tuple(
        replace(
            node,
            slots=None if node.slots is None else 2 * node.slots + 1,
            resources={k: None if v is None else 2 * v for k, v in node.resources.items()},
        )
        for node in cluster.nodes
    )


def _with_one_more(cluster: Cluster) -> Cluster:
    """Add a copy of the last node, as far from the others as that one is."""
    taken = {node.id for node in cluster.nodes}
    fresh = next(f"one-more-{n}" for n in range(len(taken) + 1) if f"one-more-{n}" not in taken)
    node = replace(cluster.nodes[-1], id=fresh, host=fresh)
    matrix = cluster.matrix
    if matrix is not None:
        rows = [(*row, row[-1]) for row in matrix]
        matrix = (*rows, rows[-1])
    return replace(cluster, nodes=(*cluster.nodes, node), matrix=matrix)


def _is_within_limits(instance: Instance) -> bool:
    """Whether its numbers are small enough, see docs/problem.md."""
    try:
        compile_problem(instance)
    except InputError:
        return False
    return True


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
    placed = replace(instance, running=to_places(instance, placement))
    for index in sorted({n for n in placement.nodes if n >= 0}):
        lost = instance.cluster.nodes[index].id
        yield lost, without_nodes(placed, {lost})
