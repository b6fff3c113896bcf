"""Matching two placements: equal things are exchanged so that they agree as far as possible.

Equal tasks, workers of one topology on a node, equal nodes of a rack and equal racks may be
exchanged without changing a rule or a cost. Of all such exchanges this finds one that leaves the
fewest tasks in different places: assignments nested from workers to racks, each solved exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from ortools.graph.python.linear_sum_assignment import SimpleLinearSumAssignment

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.moves import running_placement
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.structure.node_types import equal_racks, signature
from slotwise.solver.structure.task_types import merge_twins

Contents = dict[int, dict[int, Counter[int]]]
"""What is on a node: topology -> worker label -> tasks of each kind."""

MOST_PAIRS = 250_000
"""Most pairs of equal nodes that are compared, in half a second; see `matched` for more pairs."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The second placement after the exchange.

    Parameters
    ----------
    placement
        Of the same cost as the second, with as many tasks as possible where the first has them.
    nodes
        Node of the second placement -> the node it is exchanged for, where that is another one.
    all_nodes
        The same for every node, empty ones too: a permutation.
    places
        Place of the second placement -> the place it is exchanged for, for each place in use.
    """

    placement: Placement
    nodes: dict[int, int]
    all_nodes: dict[int, int]
    places: dict[Place, Place]


def matched(
    problem: Problem,
    first: Placement,
    second: Placement,
    kinds: Sequence[Sequence[int]] | None = None,
    most_pairs: int | None = None,
) -> Matched:
    """Return `second` with equal things exchanged so that it agrees with `first` in most tasks.

    Only tasks are exchanged where a worker holds two topologies, which no valid placement has.

    Parameters
    ----------
    kinds
        Groups of classes whose tasks may be exchanged, each class in one group; ``None`` = only
        tasks of one class.
    most_pairs
        With more pairs of equal nodes, nodes are not exchanged; ``None`` = no limit.
    """
    kinds = [(c,) for c in range(len(problem.classes))] if kinds is None else kinds
    contents = [_contents(problem, placement, kinds) for placement in (first, second)]
    if any(map(_is_shared, [*contents[0], *contents[1]])):
        own = {place: place for place in zip(second.nodes, second.workers, strict=True)}
        exchanged = exchange_tasks(problem, first, second, own, kinds)
        return Matched(exchanged, {}, {n: n for n in range(problem.node_count)}, own)
    match = _Match(problem, *contents)
    nodes = match.nodes(most_pairs)
    places = match.places(nodes)
    return Matched(
        exchange_tasks(problem, first, second, places, kinds),
        {node: like for node, like in nodes.items() if node != like and contents[1][node]},
        nodes,
        places,
    )


def _contents(
    problem: Problem, placement: Placement, kinds: Sequence[Sequence[int]]
) -> list[Contents]:
    contents: list[Contents] = [{} for _ in range(problem.node_count)]
    kind_of = {c: kind for kind, members in enumerate(kinds) for c in members}
    rows = zip(problem.task_class.tolist(), placement.nodes, placement.workers, strict=True)
    for c, node, label in rows:
        if node != UNPLACED:
            workers = contents[node].setdefault(problem.classes[c].topology, {})
            workers.setdefault(label, Counter())[kind_of[c]] += 1
    return contents


def _is_shared(contents: Contents) -> bool:
    labels = [label for workers in contents.values() for label in workers]
    return len(labels) > len(set(labels))


class _Match:
    """The nested assignments; a score is the number of tasks that are in the same place."""

    def __init__(self, problem: Problem, first: list[Contents], second: list[Contents]) -> None:
        self._problem = problem
        self._first, self._second = first, second
        self._homes = {one.home[0] for one in problem.classes if one.home is not None}
        self._alike: list[object] = [
            n if n in self._homes or problem.matrix is not None else signature(problem, n)
            for n in range(problem.node_count)
        ]

    def nodes(self, most_pairs: int | None) -> dict[int, int]:
        """Return node of the second placement -> matching node of the first."""
        groups = self._rack_groups()
        if most_pairs is not None and self._pairs(groups) > most_pairs:
            return {n: n for n in range(self._problem.node_count)}
        matched: dict[int, int] = {}
        for group in groups:
            pairs = [[self._match_nodes(one, other) for other in group] for one in group]
            chosen = _assign(np.array([[score for score, _ in row] for row in pairs]))
            for row, j in zip(pairs, chosen, strict=True):
                matched.update(row[j][1])
        return matched

    def _rack_groups(self) -> list[list[list[int]]]:
        """Return groups of equal racks, each a list of nodes."""
        racks: dict[int, list[int]] = {}
        for node, rack in enumerate(self._problem.node_rack.tolist()):
            racks.setdefault(rack, []).append(node)
        groups = [] if self._problem.matrix is not None else equal_racks(self._problem)
        grouped = {node for group in groups for rack in group for node in rack}
        return groups + [[[*rack]] for rack in racks.values() if rack[0] not in grouped]

    def _pairs(self, groups: list[list[list[int]]]) -> int:
        """Return the number of pairs of nodes to compare."""
        return sum(
            len(group) ** 2 * count**2
            for group in groups
            for count in Counter(self._alike[n] for n in group[0]).values()
        )

    def _match_nodes(
        self, first: Sequence[int], second: Sequence[int]
    ) -> tuple[int, dict[int, int]]:
        """Return the best score of two racks, and the matched nodes (second -> first)."""
        alike: dict[object, tuple[list[int], list[int]]] = {}
        for side, nodes in enumerate((first, second)):
            for node in nodes:
                alike.setdefault(self._alike[node], ([], []))[side].append(node)
        score, matched = 0, {}
        for rows, columns in alike.values():
            scores = self._node_scores(rows, columns)
            for i, j in enumerate(_assign(scores)):
                score += int(scores[i, j])
                matched[columns[j]] = rows[i]
        return score, matched

    def _node_scores(self, rows: Sequence[int], columns: Sequence[int]) -> IntArray:
        """Return [rows, columns]: most tasks in the same place if two nodes are matched."""
        scores = np.zeros((len(rows), len(columns)), dtype=np.int64)
        columns_of: dict[int, list[tuple[int, int]]] = {}
        for j, m in enumerate(columns):
            for kind, count in _on_node(self._second[m]).items():
                columns_of.setdefault(kind, []).append((j, count))
        for i, n in enumerate(rows):
            for kind, count in _on_node(self._first[n]).items():
                for j, other in columns_of.get(kind, ()):
                    scores[i, j] += min(count, other)
        for i, j in np.argwhere(scores).tolist():  # so far as if each topology had one worker
            n, m = rows[i], columns[j]
            if n in self._homes or _has_several(self._first[n]) or _has_several(self._second[m]):
                scores[i, j] = self._node_score(n, m)
        return scores

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
        scores = np.zeros((size, size), dtype=np.int64)
        for i, label in enumerate(new):
            for j, other in enumerate(old):
                scores[i, j] = _agreement(first[label], second[other])
        chosen = _assign(scores)
        return {old[j]: new[i] for i, j in enumerate(chosen) if i < len(new) and j < len(old)}

    def places(self, nodes: Mapping[int, int]) -> dict[Place, Place]:
        """Return place of the second placement -> matching place of the first."""
        matched = {(UNPLACED, UNPLACED): (UNPLACED, UNPLACED)}
        for m, n in nodes.items():
            used_labels = {label for workers in self._first[n].values() for label in workers}
            fresh: list[int] = []
            for t, workers in self._second[m].items():
                labels = self._labels(n, m, t)
                for label in workers:
                    if label in labels:
                        matched[m, label] = (n, labels[label])
                    elif n in self._homes:
                        matched[m, label] = (n, label)
                    else:
                        fresh.append(label)
            free = (
                label for label in range(len(used_labels) + len(fresh)) if label not in used_labels
            )
            matched.update({(m, label): (n, new) for label, new in zip(fresh, free, strict=False)})
        return matched


def _on_node(contents: Contents) -> Counter[int]:
    """Return the tasks of each kind on a node."""
    total: Counter[int] = Counter()
    for workers in contents.values():
        for counts in workers.values():
            total.update(counts)
    return total


def _has_several(contents: Contents) -> bool:
    """Return whether some topology has several workers on a node."""
    return any(len(workers) > 1 for workers in contents.values())


def _agreement(first: Counter[int], second: Counter[int]) -> int:
    return (first & second).total()


def _assign(scores: IntArray) -> list[int]:
    """Return the column of each row, of the highest total score; ties prefer the diagonal."""
    size = len(scores)
    if size <= 1:
        return [0] * size
    solver = SimpleLinearSumAssignment()
    rows, columns = np.divmod(np.arange(size * size), size)
    better = scores * (size + 1) + np.eye(size, dtype=np.int64)
    solver.add_arcs_with_cost(rows, columns, -better.ravel())
    status = solver.solve()
    assert status == SimpleLinearSumAssignment.OPTIMAL, "every row may have every column"
    return [solver.right_mate(row) for row in range(size)]


# Exchanging equal tasks of a placement, so that as many as possible are where another has them.

Place = tuple[int, int]
"""Node index and worker label."""


def exchange_tasks(
    problem: Problem,
    first: Placement,
    second: Placement,
    stands_for: Mapping[Place, Place],
    kinds: Sequence[Sequence[int]],
) -> Placement:
    """Return `second` with its places mapped by `stands_for` and equal tasks exchanged.

    A task is put where `first` has it, else where `second` has it, as long as that place still
    needs one.

    Parameters
    ----------
    stands_for
        Place of `second` -> place that it is exchanged for.
    kinds
        Groups of classes whose tasks may be exchanged.
    """
    here = list(zip(first.nodes, first.workers, strict=True))
    target_places = [stands_for[place] for place in zip(second.nodes, second.workers, strict=True)]
    after = list(target_places)
    for members in kinds:
        waiting = [task for c in members for task in problem.classes[c].tasks]
        target_counts = Counter(target_places[task] for task in waiting)
        for places in (here, target_places):
            waiting = _settle(waiting, places, target_counts, after)
        for task, place in zip(waiting, target_counts.elements(), strict=True):
            after[task] = place
    return Placement(tuple(node for node, _ in after), tuple(label for _, label in after))


def _settle(
    tasks: Sequence[int], places: Sequence[Place], target_counts: Counter[Place], after: list[Place]
) -> list[int]:
    """Put tasks where `places` has them as `target_counts` allows; return the others."""
    waiting = []
    for task in tasks:
        if target_counts[places[task]] > 0:
            target_counts[places[task]] -= 1
            after[task] = places[task]
        else:
            waiting.append(task)
    return waiting


# Exchanging equal things so that as many tasks as possible stay where they run.


def kept_running(problem: Problem, placement: Placement) -> Placement:
    """Return `placement` with equal tasks, workers, nodes and racks exchanged for fewest moves.

    Engines choose among equal things arbitrarily where moves are not a term. The exchange changes
    only the part ``moved`` and what counts towards the limit of moves. Without `running` the
    placement is returned unchanged; with more equal nodes than `MOST_PAIRS` allows, nodes are not
    exchanged.
    """
    running = running_placement(problem)
    if running is None:
        return placement
    free, kinds = without_homes(problem), exchangeable_classes(problem)
    return matched(free, running, placement, kinds, MOST_PAIRS).placement


def exchangeable_classes(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Return the classes whose tasks are equal, wherever they run, by kind."""
    return merge_twins(without_homes(problem), CancellationToken()).members


def without_homes(problem: Problem) -> Problem:
    """Return the problem as if nothing ran, without a limit of moves."""
    classes = tuple(replace(one, home=None) for one in problem.classes)
    return replace(problem, classes=classes, move_limit=NO_LIMIT)
