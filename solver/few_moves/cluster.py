"""Changes of racks and of the cluster: those of nodes, merged; the best for each number of moves.

The terms are folded into one whole number, each weighted above all that the later ones can reach.
Flow between the nodes of a rack depends on what the rack holds in all, so it is added when its
nodes are merged. What leaves and what joins must be the same in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, RACK, IntArray, Problem
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.few_moves.changes import Changes, Merger, best_of
from slotwise.solver.few_moves.nodes import NodeChanges, held_now
from slotwise.solver.few_moves.params import FewMovesParams
from slotwise.solver.structure.disaggregation import WorkerCounts, disaggregate
from slotwise.solver.structure.node_types import signature
from slotwise.solver.structure.task_types import TaskTypes, merge_twins
from slotwise.solver.structure.worker_layout import home_labels

MAX_BITS = 60


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A node with its changes; `folded` has the same rows with the terms as one number."""

    index: int
    changes: Changes
    folded: Changes


class FewMoves:
    """All ways to make at most a number of moves, merged.

    Parameters
    ----------
    problem
        One that the engine takes.
    most
        Moves.

    Raises
    ------
    NotTakenError
        Where there are too many.
    """

    def __init__(
        self, problem: Problem, most: int, params: FewMovesParams, token: RunToken
    ) -> None:
        self._problem = problem
        self._kinds = merge_twins(problem, token)
        self._held = held_now(problem, self._kinds)
        self._merger = Merger(most, params, token)
        self._maker = NodeChanges(problem, self._kinds, self._held, self._merger)
        made = self._changes_of_nodes()
        self._weights = _weights(problem, self._kinds, most, list(made.values()))
        self._nodes = [self._folded(node, changes) for node, changes in made.items()]
        self._all = self._cluster()

    def best(self, moves: int) -> Placement | None:
        """Return the best placement with at most `moves` moves; ``None`` = there is none."""
        found = self._all
        rows = np.flatnonzero((found.net == 0).all(axis=1) & (found.moves <= moves))
        if not len(rows):
            return None
        order = np.lexsort((found.moves[rows], found.costs[rows, 0]))
        return self._placement(int(rows[order[0]]))

    def _changes_of_nodes(self) -> dict[int, Changes]:
        """Return the changes of each node; of equal empty ones only as many as can be used."""
        problem, made = self._problem, {}
        of_empty: dict[object, Changes] = {}
        used: Counter[object] = Counter()
        for node in range(problem.node_count):
            if self._held.nodes[node].any():
                made[node] = self._maker.of(node)
                continue
            key = signature(problem, node)
            place = (key, int(problem.node_rack[node]))
            used[place] += 1
            if used[place] <= self._merger.most:
                if key not in of_empty:
                    of_empty[key] = self._maker.of(node)
                made[node] = of_empty[key]
        return made

    def _folded(self, node: int, changes: Changes) -> _Node:
        """Return a node with its terms, less what they are at least, as one number."""
        value = (changes.costs - _least(changes)) @ self._weights
        value = value + changes.moves * _per_move(self._problem, self._weights)
        return _Node(node, changes, Changes(changes.net, changes.moves, value[:, None]))

    def _cluster(self) -> Changes:
        problem = self._problem
        inter_rack = [
            dict(term.parts).get("network", 0) * self._inter_rack for term in problem.terms
        ]
        saved = int(np.array(inter_rack, dtype=np.int64) @ self._weights)
        racks: dict[int, list[Changes]] = {}
        for node in self._nodes:
            rack = int(problem.node_rack[node.index]) if saved else 0
            racks.setdefault(rack, []).append(node.folded)
        whole = [self._in_rack(rack, parts, saved) for rack, parts in racks.items()]
        return self._merged(whole)

    @property
    def _inter_rack(self) -> int:
        if len(self._problem.racks) == 1:
            return 0
        return int(self._problem.distance[CLUSTER] - self._problem.distance[RACK])

    def _in_rack(self, rack: int, nodes: Sequence[Changes], saved: int) -> Changes:
        """Return the changes of a rack with what the flow inside it saves or costs."""
        found = self._merged(nodes)
        if not saved:
            return found
        held = self._held.nodes[self._problem.node_rack == rack].sum(axis=0)
        inside = self._kinds.pairs(held[None, :] + found.net) - self._kinds.pairs(held)
        return found.with_costs(found.costs - saved * inside[:, None])

    def _merged(self, parts: Sequence[Changes]) -> Changes:
        found = parts[0]
        for part in parts[1:]:
            made = self._merger.merged(found, part)
            found = best_of(made, made.costs)
        return found

    def _placement(self, row: int) -> Placement:
        """Return the placement of a row: tasks that stay at home first."""
        nodes = {id(node.folded): node for node in self._nodes}
        contents: list[tuple[int, int | None, IntArray]] = []
        for changes, index in self._all.parts(row):
            node = nodes[id(changes)]
            for part, own in node.changes.parts(index):
                if id(part) in self._maker.worker_of:
                    topology, label = self._maker.worker_of[id(part)]
                    key = (topology, node.index, -1 if label is None else label)
                    held = self._held.workers.get(key, 0)
                    contents.append((node.index, label, held + part.net[own]))
        return _placed(self._problem, self._kinds, contents)


def _least(changes: Changes) -> IntArray:
    """Return [T] the least of each term; 0 where there is no change at all."""
    if not len(changes.costs):
        return np.zeros(changes.costs.shape[1], dtype=np.int64)
    return np.asarray(changes.costs.min(axis=0))


def _per_move(problem: Problem, weights: IntArray) -> int:
    moved = [dict(term.parts).get("moved", 0) for term in problem.terms]
    return int(np.array(moved, dtype=np.int64) @ weights)


def _weights(problem: Problem, kinds: TaskTypes, most: int, nodes: Sequence[Changes]) -> IntArray:
    """Return [T] weights, each above all that the later terms can reach together."""
    if any(not len(changes.net) for changes in nodes):
        return np.ones(len(problem.terms), dtype=np.int64)  # there is no placement at all
    span = np.zeros(len(problem.terms), dtype=np.int64)
    for changes in nodes:
        span += changes.costs.max(axis=0) - _least(changes)
    flow = int(kinds.pairs(kinds.sizes)) * int(problem.distance[CLUSTER])
    weights: list[int] = []
    weight = 1
    for term, reach in zip(reversed(problem.terms), reversed(span.tolist()), strict=True):
        parts = dict(term.parts)
        weights.insert(0, weight)
        weight *= reach + parts.get("network", 0) * 2 * flow + parts.get("moved", 0) * most + 1
    if weight.bit_length() > MAX_BITS:
        raise NotTakenError("the terms are too large to be told apart in one number")
    return np.array(weights, dtype=np.int64)


def _placed(
    problem: Problem, kinds: TaskTypes, contents: Sequence[tuple[int, int | None, IntArray]]
) -> Placement:
    waiting = [
        [task for c in group for task in problem.classes[c].tasks] for group in kinds.members
    ]
    homes = {
        (node, label)
        for t in range(len(problem.rules))
        for node, labels in home_labels(problem, t).items()
        for label in labels
    }
    groups: list[list[int]] = []
    workers: list[WorkerCounts] = []
    taken = set(homes)
    for node, label, content in contents:
        if not content.any():
            continue
        free = next(n for n in range(len(taken) + 1) if (node, n) not in taken)
        place = (node, free if label is None else label)
        taken.add(place)
        for kind in np.flatnonzero(content).tolist():
            count = int(content[kind])
            home = [t for t in waiting[kind] if _home(problem, t) == place][:count]
            waiting[kind] = [task for task in waiting[kind] if task not in set(home)]
            workers.append((*place, [(len(waiting) + len(groups), len(home))]))
            workers.append((*place, [(kind, count - len(home))]))
            groups.append(home)
    return disaggregate(problem, [*waiting, *groups], workers)


def _home(problem: Problem, task: int) -> tuple[int, int] | None:
    return problem.classes[int(problem.task_class[task])].home
