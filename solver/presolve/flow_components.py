"""Tasks that no flow connects are problems of their own, where nodes are many.

Leaving tasks out of a valid placement breaks no rule (all capacities hard), so the best placement
of a part alone costs at most what the part costs in any placement of the whole. The costs of the
parts add up: the sum of their bounds is a bound of the whole. Where the parts' best placements
find room side by side, which costs nothing as no flow runs between them, the sum is reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.accounting import account
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.result import Outcome, Status
from slotwise.solver.structure.separability import only_network_counts


def flow_parts(problem: Problem) -> tuple[SubProblem, ...]:
    """Return a problem per connected component of the flows, largest first.

    Only one (the whole) where the cost of the parts does not add up: something other than the
    network counts, or a capacity is soft.
    """
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(problem.classes)))
    graph.add_edges_from((flow.source, flow.target) for flow in problem.flows)
    groups = [sorted(group) for group in nx.connected_components(graph)]
    separable = (
        problem.matrix is None
        and problem.move_limit == NO_LIMIT
        and bool(problem.hard.all())
        and only_network_counts(problem)
    )
    if not separable or len(groups) < 2:
        return (SubProblem(problem, tuple(range(problem.task_count))),)
    groups.sort(key=lambda group: (-sum(problem.classes[c].size for c in group), group))
    return tuple(on_classes(problem, group) for group in groups)


def sum_of_parts(
    problem: Problem, parts: Sequence[SubProblem], outcomes: Sequence[Outcome]
) -> tuple[Placement | None, Outcome]:
    """Return the parts' placements side by side, and what their bounds prove about the whole.

    Answers for the first parts may be missing. A missing bound counts 0: neither network nor
    overload is ever less.
    """
    proofs = tuple(dict.fromkeys(p for outcome in outcomes for p in outcome.proofs))
    nothing = (None,) * len(problem.terms)
    if any(outcome.status == Status.INFEASIBLE for outcome in outcomes):
        proof = "a part of the tasks alone has no valid placement"
        return None, Outcome(Status.INFEASIBLE, None, None, nothing, proof, proofs=proofs)
    bounds = tuple(sum(o.bounds[i] or 0 for o in outcomes) for i in range(len(nothing)))
    placements = [outcome.placement for outcome in outcomes if outcome.placement is not None]
    joined = None
    if len(placements) == len(parts):
        joined = side_by_side(problem, parts, placements)
    proof = "sum over the parts that no flow connects"
    return joined, Outcome(Status.UNKNOWN, None, None, bounds, proof, proofs=proofs)


def side_by_side(
    problem: Problem, parts: Sequence[SubProblem], placements: Sequence[Placement]
) -> Placement | None:
    """Return the placement of the whole in which every part is placed as it was alone.

    The contents of a node move together, to another node of its rack or, if the part uses one
    rack only, of any rack, wherever they find room beside those placed before (first fit, the
    largest part first). ``None`` where they do not: then there may still be such a placement.
    """
    room = _ResidualCapacity(problem)
    nodes = [UNPLACED] * problem.task_count
    labels = [UNPLACED] * problem.task_count
    for part, placement in zip(parts, placements, strict=True):
        moved = room.take(part.problem, placement)
        if moved is None:
            return None
        for task, node, label in zip(part.tasks, moved.nodes, moved.workers, strict=True):
            nodes[task], labels[task] = node, label
    return Placement(tuple(nodes), tuple(labels))


class _ResidualCapacity:
    """What is left on every node: capacity [N, D], slots [N], and the next worker label."""

    def __init__(self, problem: Problem) -> None:
        self._capacity = problem.capacity.copy()
        self._slots = problem.slots.copy()
        self._rack = problem.node_rack
        self._labels = [0] * problem.node_count

    def take(self, part: Problem, placement: Placement) -> Placement | None:
        """Place the contents of a part's nodes; return it at its new place."""
        load = account(part, placement).node_load
        workers = [len(group) for group in _labels_on(part, placement)]
        used = [n for n in range(part.node_count) if workers[n]]
        racks = sorted({int(self._rack[n]) for n in used})
        tries = range(int(self._rack.max()) + 1) if len(racks) == 1 else (None,)
        for rack in sorted(tries, key=lambda r: r != racks[0]):
            targets = self._fit(used, load, workers, rack)
            if targets is not None:
                return self._moved_to_targets(placement, targets, load, workers)
        return None

    def _fit(
        self, used: list[int], load: IntArray, workers: list[int], rack: int | None
    ) -> dict[int, int] | None:
        """Return a node for the content of each used node, all within `rack` or their own."""
        capacity, slots = self._capacity.copy(), self._slots.copy()
        targets: dict[int, int] = {}
        free = set(range(len(slots)))
        for n in sorted(used, key=lambda n: (-int(load[n].max(initial=0)), n)):
            home = int(self._rack[n]) if rack is None else rack
            fits = (self._rack == home) & (load[n] <= capacity).all(axis=1) & (workers[n] <= slots)
            good = [int(m) for m in np.flatnonzero(fits) if int(m) in free]
            if not good:
                return None
            target = n if n in good else good[0]
            free.discard(target)  # contents of one part stay on different nodes
            targets[n] = target
            capacity[target] -= load[n]
            slots[target] -= workers[n]
        return targets

    def _moved_to_targets(
        self, placement: Placement, targets: dict[int, int], load: IntArray, workers: list[int]
    ) -> Placement:
        nodes = [targets[n] for n in placement.nodes]
        renamed: dict[tuple[int, int], int] = {}
        for n, label in zip(placement.nodes, placement.workers, strict=True):
            if (n, label) not in renamed:
                renamed[n, label] = self._labels[targets[n]]
                self._labels[targets[n]] += 1
        for n, target in targets.items():
            self._capacity[target] -= load[n]
            self._slots[target] -= workers[n]
        labels = [renamed[key] for key in zip(placement.nodes, placement.workers, strict=True)]
        return Placement(tuple(nodes), tuple(labels))


def _labels_on(problem: Problem, placement: Placement) -> list[set[int]]:
    """Return the worker labels in use on each node."""
    labels: list[set[int]] = [set() for _ in range(problem.node_count)]
    for node, label in zip(placement.nodes, placement.workers, strict=True):
        labels[node].add(label)
    return labels


# The problem of some classes or tasks alone, on the same cluster.


@dataclass(frozen=True, slots=True, eq=False)
class SubProblem:
    """Some tasks of a problem as a problem of their own.

    Parameters
    ----------
    problem
        The smaller problem, on all nodes of the whole one.
    tasks
        Task index in the whole problem of each of its tasks.
    """

    problem: Problem
    tasks: tuple[int, ...]

    def own_placement(self, placement: Placement) -> Placement:
        """Return where a placement of the whole puts these tasks."""
        nodes = tuple(placement.nodes[task] for task in self.tasks)
        return Placement(nodes, tuple(placement.workers[task] for task in self.tasks))


def on_classes(problem: Problem, classes: Sequence[int]) -> SubProblem:
    """Return the problem with only these classes, in ascending order of their indices.

    Every rule on tasks, workers and nodes is kept; regions that no class is left of are not.
    """
    return _subproblem(problem, {c: problem.classes[c].tasks for c in sorted(classes)})


def on_tasks(problem: Problem, tasks: Sequence[int]) -> SubProblem:
    """Return the problem with only these tasks and the classes they are of, see `on_classes`."""
    class_tasks: dict[int, list[int]] = {
        c: [] for c in sorted({int(problem.task_class[t]) for t in tasks})
    }
    for task in sorted(tasks):
        class_tasks[int(problem.task_class[task])].append(task)
    return _subproblem(problem, class_tasks)


def _subproblem(problem: Problem, class_tasks: Mapping[int, Sequence[int]]) -> SubProblem:
    """Return the problem with these tasks of these classes, both ascending."""
    classes = list(class_tasks)
    index = {c: i for i, c in enumerate(classes)}
    tasks = tuple(sorted(task for members in class_tasks.values() for task in members))
    new_task = {task: i for i, task in enumerate(tasks)}
    regions = (
        replace(region, classes=tuple(index[c] for c in region.classes if c in index))
        for region in problem.regions
    )
    smaller = replace(
        problem,
        classes=tuple(
            replace(problem.classes[c], tasks=tuple(new_task[t] for t in members))
            for c, members in class_tasks.items()
        ),
        demand=problem.demand[classes],
        heap=problem.heap[classes],
        task_class=np.array([index[int(problem.task_class[t])] for t in tasks], dtype=np.int64),
        flows=tuple(
            replace(flow, source=index[flow.source], target=index[flow.target])
            for flow in problem.flows
            if flow.source in index and flow.target in index
        ),
        linear=None if problem.linear is None else problem.linear[classes],
        rules=tuple(
            replace(rules, classes=tuple(index[c] for c in rules.classes if c in index))
            for rules in problem.rules
        ),
        regions=tuple(region for region in regions if region.classes),
    )
    return SubProblem(smaller, tasks)
