"""Task types: classes merged with their twins, the coordinates of a configuration.

Twins have the same demand, the same flows to all others (hence none to each other), the same
costs and the same part in every rule; then only the sum of their counts matters, and any split of
it costs the same (docs/design.md, 8.1). Where distances have a direction, so do flows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import BoolArray, IntArray, Problem

RULES = frozenset(
    {
        "placed",
        "capacity",
        "slots",
        "heap",
        "one_topology_per_worker",
        "one_task_per_worker",
        "one_component_per_worker",
        "incompatible",
        "max_per_node",
        "max_moved",
        "shared_memory",
        "worker_min_cpu",
        "soft",
        "matrix",
    }
)
"""Rules under which merging tasks, nodes and workers here, and `presolve`, stay valid."""

PARTS = frozenset(
    ("overload", "network", "rejected", "nodes", "workers", "moved", "linear", "bottleneck")
)
"""Parts of the objective under which they do."""


@dataclass(frozen=True, slots=True, eq=False)
class TaskTypes:
    """K task types.

    Parameters
    ----------
    members
        The classes of each type.
    sizes
        [K] number of tasks.
    topology
        [K] index of the topology.
    demand
        [K, D] demand of one task.
    flow
        [K, K] symmetric: flow of an unordered pair of tasks, both directions added.
    """

    members: tuple[tuple[int, ...], ...]
    sizes: IntArray
    topology: IntArray
    demand: IntArray
    flow: IntArray

    @property
    def count(self) -> int:
        """Number of types."""
        return len(self.members)

    def among(self, classes: Collection[int]) -> BoolArray:
        """Return [K] which types are among the `classes`, by the first class of each."""
        return np.array([group[0] in classes for group in self.members], dtype=np.bool_)

    def pairs(self, counts: IntArray) -> IntArray:
        """Return, for each row [.., K] of counts, the flow inside a place that holds them."""
        return flow_inside(self.flow, counts)


def flow_inside(flow: IntArray, counts: IntArray) -> IntArray:
    """Return, for each row [.., K] of counts, the flow [K, K] inside a place that holds them."""
    if counts.ndim == 1:  # few of many types: skip those that are absent
        present = np.flatnonzero(counts)
        flow, counts = flow[np.ix_(present, present)], counts[present]
    pair_flow = np.einsum("...i,ij,...j->...", counts, flow, counts, optimize=True)
    return np.asarray(pair_flow // 2, dtype=np.int64)


def merge_twins(problem: Problem, token: CancellationToken) -> TaskTypes:
    """Return the task types of a problem, in order of their first class."""
    near: list[dict[int, int]] = [{} for _ in problem.classes]
    for (a, b), weight in problem.pair_flows().items():
        if weight:
            near[a][b] = near[b][a] = weight
    sent = _sent_one_way(problem)
    named = _components_with_rules(problem)
    twins: dict[object, list[int]] = {}
    for c, task_class in enumerate(problem.classes):
        token.check()
        key = (
            task_class.topology,
            tuple(problem.demand[c].tolist()),
            tuple(sorted(near[c].items())),
            tuple(sorted(sent[c].items())),
            () if problem.linear is None else tuple(problem.linear[c].tolist()),
            tuple(r for r, region in enumerate(problem.regions) if c in region.classes),
            int(problem.heap[c]),
            task_class.component if task_class.component in named else None,
            _part_in_workload(problem, c),
        )
        twins.setdefault(key, []).append(c)
    members = tuple(tuple(group) for group in twins.values())
    firsts = [group[0] for group in members]
    kind_of = {c: k for k, c in enumerate(firsts)}
    sizes = problem.sizes
    flow = np.zeros((len(firsts), len(firsts)), dtype=np.int64)
    for c, k in kind_of.items():
        for other, weight in near[c].items():
            if other in kind_of:
                flow[k, kind_of[other]] = weight
    return TaskTypes(
        members=members,
        sizes=np.array([sum(sizes[c] for c in group) for group in members], dtype=np.int64),
        topology=np.array([problem.classes[c].topology for c in firsts], dtype=np.int64),
        demand=problem.demand[firsts],
        flow=flow,
    )


def _sent_one_way(problem: Problem) -> list[dict[int, int]]:
    """Return [C] flow that each class sends to others, where it matters which of two sends."""
    sent: list[dict[int, int]] = [{} for _ in problem.classes]
    if problem.matrix is not None and (problem.matrix != problem.matrix.T).any():
        for flow in problem.flows:
            if flow.weight:
                sent[flow.source][flow.target] = flow.weight
    return sent


def _part_in_workload(problem: Problem, c: int) -> tuple[int, bool] | None:
    """Return the component, and whether only its first task receives ``global`` streams."""
    if problem.workload is None:
        return None
    component = problem.classes[c].component
    return component, problem.workload.first.get(component) == c


def has_no_twins(problem: Problem, token: CancellationToken) -> bool:
    """Return whether every task is a type of its own: counting types saves nothing then."""
    if any(size > 1 for size in problem.sizes):
        return False
    return merge_twins(problem, token).count == len(problem.classes)


def _components_with_rules(problem: Problem) -> set[int]:
    """Return the components that some rule names or keeps from sharing a worker."""
    named = set()
    for rules in problem.rules:
        named |= {component for component, _ in rules.max_per_node}
        named |= {component for pair in rules.incompatible for component in pair}
        if rules.one_component_per_worker:
            named |= {problem.classes[c].component for c in rules.classes}
    return named


# From counts of tasks per worker to a placement: tasks of a group are interchangeable.

WorkerCounts = tuple[int, int, Iterable[tuple[int, int]]]
"""Node, worker label, and (group, number of its tasks) in that worker."""


def disaggregate(
    problem: Problem, groups: Iterable[Iterable[int]], workers: Iterable[WorkerCounts]
) -> Placement:
    """Return a placement with these counts; tasks beyond the counts are unplaced.

    Parameters
    ----------
    groups
        Tasks of each group, in the order in which they are taken.
    workers
        The same worker may appear more than once.
    """
    nodes = [UNPLACED] * problem.task_count
    labels = [UNPLACED] * problem.task_count
    waiting = [iter(tasks) for tasks in groups]
    for node, label, counts in workers:
        for group, count in counts:
            for _ in range(count):
                task = next(waiting[group])
                nodes[task], labels[task] = node, label
    return Placement(tuple(nodes), tuple(labels))


def deal(
    problem: Problem, kinds: TaskTypes, workers: Mapping[int, Sequence[IntArray]]
) -> Placement:
    """Return the placement with these contents [K] of workers, labelled 0, 1, ... on each node."""
    tasks = ([task for c in group for task in problem.classes[c].tasks] for group in kinds.members)
    counts = (
        (node, label, enumerate(content.tolist()))
        for node, contents in workers.items()
        for label, content in enumerate(contents)
    )
    return disaggregate(problem, tasks, counts)
