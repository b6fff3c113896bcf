"""Random placements of tiny instances, and completions found by trying every place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from solved import Solved, solved

from slotwise.heuristics.decision_log import TaskDecision
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem


def random_placement(problem: Problem, rng: np.random.Generator) -> Placement:
    """Place every task anywhere, in one of two workers of the node; rules do not matter."""
    nodes = rng.integers(problem.node_count, size=problem.task_count)
    owner = [problem.classes[c].topology for c in problem.task_class.tolist()]
    labels = [2 * t + int(rng.integers(2)) for t in owner]
    return Placement(tuple(nodes.tolist()), tuple(labels))


def placed_cases(count: int) -> Iterator[tuple[Solved, Placement, np.random.Generator]]:
    """Yield tiny instances with a random placement each."""
    for number in range(count):
        one, rng = solved(number), np.random.default_rng((7, number))
        if one.problem.task_count:
            yield one, random_placement(one.problem, rng), rng


def has_completion(problem: Problem, decisions: Iterable[TaskDecision]) -> bool:
    """Try every place of every other task, as long as the judge sees no broken rule.

    A task goes into a worker of its topology, or into one new worker of each node: any more would
    be that one by another name.
    """
    nodes, labels = [UNPLACED] * problem.task_count, [UNPLACED] * problem.task_count
    for one in decisions:
        nodes[one.task], labels[one.task] = one.node, one.worker
    return _complete(problem, nodes, labels)


def _complete(problem: Problem, nodes: list[int], labels: list[int]) -> bool:
    verdict = judge(problem, Placement(tuple(nodes), tuple(labels)))
    if any(v.rule not in ("placed", "max_moved") for v in verdict.violations):
        return False
    if UNPLACED not in nodes:
        return True
    task = nodes.index(UNPLACED)
    for node in range(problem.node_count):
        used = {label for n, label in zip(nodes, labels, strict=True) if n == node}
        for label in [*sorted(used), max(used, default=-1) + 1]:
            nodes[task], labels[task] = node, label
            if _complete(problem, nodes, labels):
                return True
    nodes[task], labels[task] = UNPLACED, UNPLACED
    return False
