"""Two placements laid over each other so that they agree most: equal things are exchanged.

Tasks of one class, workers of one topology on a node, equal nodes of a rack and equal racks may be
exchanged without changing a rule or a cost. Of all such exchanges one is taken that leaves the
fewest tasks in different places: assignments nested from workers to racks, each solved exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ortools.graph.python.linear_sum_assignment import SimpleLinearSumAssignment

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.structure.node_types import equal_racks, signature

Place = tuple[int, int]
"""Node index and worker label."""

Contents = dict[int, dict[int, Counter[int]]]
"""What is on a node: topology -> worker label -> tasks of each class."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The second placement after the exchange.

    Parameters
    ----------
    placement
        Of the same cost as the second, and with the most tasks where the first has them.
    nodes
        Node of the second placement -> the node that it stands for, where that is another one.
    """

    placement: Placement
    nodes: dict[int, int]


def matched(problem: Problem, first: Placement, second: Placement) -> Matched:
    """Return `second` with what is interchangeable exchanged so that it agrees most with `first`.

    Nothing but tasks is exchanged where a worker holds two topologies, which no rule allows.
    """
    here, there = _contents(problem, first), _contents(problem, second)
    if any(map(_is_shared, [*here, *there])):
        own = {place: place for place in zip(second.nodes, second.workers, strict=True)}
        return Matched(_exchange_tasks(problem, first, second, own), {})
    match = _Match(problem, here, there)
    nodes = match.nodes()
    places = match.places(nodes)
    return Matched(
        _exchange_tasks(problem, first, second, places),
        {node: like for node, like in nodes.items() if node != like and there[node]},
    )


def _contents(problem: Problem, placement: Placement) -> list[Contents]:
    found: list[Contents] = [{} for _ in range(problem.node_count)]
    rows = zip(problem.task_class.tolist(), placement.nodes, placement.workers, strict=True)
    for c, node, label in rows:
        if node != UNPLACED:
            workers = found[node].setdefault(problem.classes[c].topology, {})
            workers.setdefault(label, Counter())[c] += 1
    return found


def _is_shared(contents: Contents) -> bool:
    labels = [label for workers in contents.values() for label in workers]
    return len(labels) > len(set(labels))


class _Match:
    """The nested assignments; a score is the number of tasks that are in the same place."""

    def __init__(self, problem: Problem, first: list[Contents], second: list[Contents]) -> None:
        self._problem = problem
        self._first, self._second = first, second
        self._homes = {one.home[0] for one in problem.classes if one.home is not None}
        self._kind: list[object] = [
            n if n in self._homes or problem.matrix is not None else signature(problem, n)
            for n in range(problem.node_count)
        ]

    def nodes(self) -> dict[int, int]:
        """Return node of the second placement -> node of the first that it stands for."""
        racks: dict[int, list[int]] = {}
        for node, rack in enumerate(self._problem.node_rack.tolist()):
            racks.setdefault(rack, []).append(node)
        groups = [] if self._problem.matrix is not None else equal_racks(self._problem)
        grouped = {node for group in groups for rack in group for node in rack}
        groups += [[rack] for rack in racks.values() if rack[0] not in grouped]
        found: dict[int, int] = {}
        for group in groups:
            pairs = {
                (i, j): self._match_nodes(group[i], group[j])
                for i in range(len(group))
                for j in range(len(group))
            }
            chosen = _assign(len(group), lambda i, j: pairs[i, j][0])  # noqa: B023
            for i, j in enumerate(chosen):
                found.update(pairs[i, j][1])
        return found

    def _match_nodes(
        self, first: Sequence[int], second: Sequence[int]
    ) -> tuple[int, dict[int, int]]:
        """Return the score of one rack laid over another, and its nodes (second -> first)."""
        kinds: dict[object, tuple[list[int], list[int]]] = {}
        for side, nodes in enumerate((first, second)):
            for node in nodes:
                kinds.setdefault(self._kind[node], ([], []))[side].append(node)
        score, found = 0, {}
        for rows, columns in kinds.values():
            scores = {(n, m): self._node_score(n, m) for n in rows for m in columns}
            chosen = _assign(len(rows), lambda i, j: scores[rows[i], columns[j]])  # noqa: B023
            for i, j in enumerate(chosen):
                score += scores[rows[i], columns[j]]
                found[columns[j]] = rows[i]
        return score, found

    def _node_score(self, n: int, m: int) -> int:
        return sum(
            _agreement(self._first[n][t].get(new, Counter()), counts)
            for t, workers in self._second[m].items()
            if t in self._first[n]
            for old, counts in workers.items()
            if (new := self._labels(n, m, t).get(old)) is not None
        )

    def _labels(self, n: int, m: int, topology: int) -> dict[int, int]:
        """Return label on node `m` of the second -> label on node `n` of the first."""
        first = self._first[n].get(topology, {})
        second = self._second[m].get(topology, {})
        if n in self._homes:
            return {label: label for label in second if label in first}
        old, new = list(second), list(first)
        size = max(len(old), len(new))

        def score(i: int, j: int) -> int:
            if i >= len(new) or j >= len(old):
                return 0
            return _agreement(first[new[i]], second[old[j]])

        chosen = _assign(size, score)
        return {old[j]: new[i] for i, j in enumerate(chosen) if i < len(new) and j < len(old)}

    def places(self, nodes: dict[int, int]) -> dict[Place, Place]:
        """Return place of the second placement -> place that it stands for."""
        found = {(UNPLACED, UNPLACED): (UNPLACED, UNPLACED)}
        for m, n in nodes.items():
            taken = {label for workers in self._first[n].values() for label in workers}
            fresh: list[int] = []
            for t, workers in self._second[m].items():
                labels = self._labels(n, m, t)
                for label in workers:
                    if label in labels:
                        found[m, label] = (n, labels[label])
                    elif n in self._homes:
                        found[m, label] = (n, label)
                    else:
                        fresh.append(label)
            free = (label for label in range(len(taken) + len(fresh)) if label not in taken)
            found.update({(m, label): (n, new) for label, new in zip(fresh, free, strict=False)})
        return found


def _agreement(first: Counter[int], second: Counter[int]) -> int:
    return (first & second).total()


def _assign(size: int, score: Callable[[int, int], int]) -> list[int]:
    """Return each row's column, of the highest total score; of equal ones near the diagonal."""
    if size == 1:
        return [0]
    solver = SimpleLinearSumAssignment()
    for row in range(size):
        for column in range(size):
            better = score(row, column) * (size + 1) + (row == column)
            solver.add_arc_with_cost(row, column, -better)
    if size:
        status = solver.solve()
        assert status == SimpleLinearSumAssignment.OPTIMAL, "every row may have every column"
    return [solver.right_mate(row) for row in range(size)]


def _exchange_tasks(
    problem: Problem, first: Placement, second: Placement, stands_for: dict[Place, Place]
) -> Placement:
    """Return the second placement at the places that its own stand for, equal tasks exchanged."""
    here = list(zip(first.nodes, first.workers, strict=True))
    there = [stands_for[place] for place in zip(second.nodes, second.workers, strict=True)]
    after = list(there)
    for one in problem.classes:
        wanted = Counter(there[task] for task in one.tasks)
        waiting = []
        for task in sorted(one.tasks, key=lambda task: there[task] != here[task]):
            if wanted[here[task]]:
                wanted[here[task]] -= 1
                after[task] = here[task]
            else:
                waiting.append(task)
        left = [place for place, count in wanted.items() for _ in range(count)]
        for task in list(waiting):  # a task goes where the second has it, where that is still open
            if there[task] in left:
                left.remove(there[task])
                after[task] = there[task]
                waiting.remove(task)
        for task, place in zip(waiting, left, strict=True):
            after[task] = place
    return Placement(tuple(node for node, _ in after), tuple(label for _, label in after))
