"""Every worthwhile way to hold tasks of one topology on one node, split into workers.

The slow and general sister of `worker_packing`: there the network alone decides between splits.
Here a split also has a number of workers, memory shared in each of them, least cpu, and tasks that
stay where they run now; a split goes only where another of the same tasks is at least as good in
everything.

Workers are added one by one. A worker that is nobody's home must hold the first kind of all that
is there so far or an earlier one, which meets every multiset of workers in one order at least. Then
each home label may hold one more worker.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem import IntArray, Problem
from slotwise.solver.engine import NotTakenError
from slotwise.solver.kinds import Kinds
from slotwise.solver.memory import check_room
from slotwise.solver.stopping import check_stop
from slotwise.solver.undominated import undominated
from slotwise.solver.worker_layout import home_labels, keeps_apart
from slotwise.solver.worker_packing import worker_contents

WORKERS, CPU, MEMORY, APART, AWAY = range(5)
"""Costs of a split: workers; cpu and memory beyond what the tasks need; minus the flow inside
workers; minus the tasks that stay at home."""

MOST_SPLITS = 300_000
PAIRS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """What one worker can hold: [W, k] counts, [W, 5] costs, [W] first kind, by first kind.

    `label` is the home it has, ``None`` for a fresh worker.
    """

    counts: IntArray
    costs: IntArray
    label: int | None

    @property
    def firsts(self) -> IntArray:
        """The first kind of each."""
        return np.asarray((self.counts > 0).argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Splits of a topology's tasks on a node; the first is the empty one.

    Parameters
    ----------
    columns
        [k] the kinds of the topology.
    counts, costs
        [S, k] tasks, [S, 5] costs of each split.
    before, added
        [S] the split that one worker was added to, and its row in `contents`; -1 = none.
    contents
        Contents of workers, and [S] which of these sets was added from.
    """

    columns: IntArray
    counts: IntArray
    costs: IntArray
    before: IntArray
    added: IntArray
    source: IntArray
    contents: tuple[Contents, ...]

    def workers(self, split: int) -> Iterator[tuple[int | None, IntArray]]:
        """Yield home label and content [k] of each worker of a split."""
        while self.before[split] >= 0:
            chosen = self.contents[int(self.source[split])]
            yield chosen.label, chosen.counts[int(self.added[split])]
            split = int(self.before[split])


def worker_splits(
    problem: Problem, kinds: Kinds, topology: int, node: int, deadline: float
) -> tuple[Splits, IntArray]:
    """Return all splits that were reached, and which of them no other beats.

    Raises
    ------
    NotTakenError
        When there are too many, or the deadline passes.
    """
    contents = _contents(problem, kinds, topology, node)
    search = _Search(problem, kinds, topology, node, contents, deadline)
    layer = np.zeros(1, dtype=np.int64)
    fresh = int(problem.slots[node]) if keeps_apart(problem, topology) else 1
    while len(layer) and fresh:
        layer = search.extend(layer, 0)
        fresh -= 1
    for source in range(1, len(contents)):
        search.extend(search.kept, source)
    return search.splits(), search.kept


def _contents(problem: Problem, kinds: Kinds, topology: int, node: int) -> tuple[Contents, ...]:
    """Return the contents of a fresh worker, then those of each home on the node."""
    columns = np.flatnonzero(kinds.topology == topology)
    counts = worker_contents(problem, kinds, topology, kinds.sizes[columns], node)
    costs = np.zeros((len(counts), 5), dtype=np.int64)
    costs[:, WORKERS] = 1
    flow = kinds.flow[np.ix_(columns, columns)]
    costs[:, APART] = -(np.einsum("wi,ij,wj->w", counts, flow, counts) // 2)
    firsts = [kinds.members[k][0] for k in columns.tolist()]
    heap = counts @ problem.heap[firsts]
    for region in problem.regions:
        if region.topology == topology and region.kind != "offheap_node":
            users = np.isin(firsts, region.classes)
            size = region.size * (counts[:, users] > 0).any(axis=1)
            costs[:, MEMORY] += size
            heap = heap + (size if region.kind == "onheap" else 0)
    if problem.cpu is not None:
        cpu = counts @ problem.demand[firsts, problem.cpu]
        costs[:, CPU] = np.maximum(problem.min_worker_cpu - cpu, 0)
    fits = heap <= problem.rules[topology].heap_limit
    order = np.argsort((counts[fits] > 0).argmax(axis=1), kind="stable")
    fresh = Contents(counts[fits][order], costs[fits][order], None)
    labels = home_labels(problem, topology).get(node, ())
    homes = (_at_home(problem, kinds, columns, fresh, (node, label)) for label in labels)
    return (fresh, *homes)


def _at_home(
    problem: Problem, kinds: Kinds, columns: IntArray, fresh: Contents, home: tuple[int, int]
) -> Contents:
    """Return the contents that hold some task whose home this is."""
    homed = [
        sum(problem.classes[c].size for c in kinds.members[k] if problem.classes[c].home == home)
        for k in columns.tolist()
    ]
    stay = np.minimum(fresh.counts, np.array(homed, dtype=np.int64)).sum(axis=1)
    costs = fresh.costs.copy()
    costs[:, AWAY] = -stay
    return Contents(fresh.counts[stay > 0], costs[stay > 0], home[1])


class _Search:
    """All splits reached so far; `kept` are those that no other beats."""

    def __init__(
        self,
        problem: Problem,
        kinds: Kinds,
        topology: int,
        node: int,
        contents: tuple[Contents, ...],
        deadline: float,
    ) -> None:
        self._problem = problem
        self._columns = np.flatnonzero(kinds.topology == topology)
        self._demand = kinds.demand[self._columns]
        self._most = kinds.sizes[self._columns]
        self._node = node
        self._contents = contents
        self._deadline = deadline
        self._relevant = _relevant(problem, node)
        self._counts = np.zeros((1, len(self._columns)), dtype=np.int64)
        self._costs = np.zeros((1, 5), dtype=np.int64)
        self._how = np.full((1, 3), -1, dtype=np.int64)
        self.kept = np.zeros(1, dtype=np.int64)

    def extend(self, rows: IntArray, source: int) -> IntArray:
        """Add one worker to each of the splits in every way; return the new ones that are kept."""
        start = len(self._counts)
        contents = self._contents[source]
        at_once = max(1, PAIRS_AT_ONCE // max(1, len(contents.counts)))
        for first in range(0, len(rows), at_once):
            check_stop()
            if time.perf_counter() > self._deadline:
                raise NotTakenError("splitting the tasks of a node into workers takes too long")
            self._add(rows[first : first + at_once], source)
        new = self.kept[self.kept >= start]
        if len(self.kept) > MOST_SPLITS:
            raise NotTakenError(f"a node's tasks split into workers in over {MOST_SPLITS:,} ways")
        return new

    def _add(self, rows: IntArray, source: int) -> None:
        contents = self._contents[source]
        pairs = len(rows) * len(contents.counts)
        width = len(self._columns) + 5 + self._demand.shape[1]
        check_room(10 * pairs * width, f"{pairs:,} splits of a node's tasks into workers")
        counts = self._counts[rows][:, None, :] + contents.counts[None, :, :]
        costs = self._costs[rows][:, None, :] + contents.costs[None, :, :]
        fits = (counts <= self._most).all(axis=2) & self._has_room(counts, costs)
        if contents.label is None:
            held = self._counts[rows]
            first = np.where(held.any(axis=1), (held > 0).argmax(axis=1), len(self._columns))
            fits &= contents.firsts[None, :] <= first[:, None]
        row, added = np.nonzero(fits)
        how = np.stack([rows[row], added, np.full(len(row), source, dtype=np.int64)], axis=1)
        start = len(self._counts)
        counts, costs = counts[row, added], costs[row, added]
        best = undominated(counts, costs[:, self._relevant])  # most go here, before the others
        self._counts = np.concatenate([self._counts, counts[best]])
        self._costs = np.concatenate([self._costs, costs[best]])
        self._how = np.concatenate([self._how, how[best]])
        rivals = np.concatenate([self.kept, np.arange(start, len(self._counts))])
        best = undominated(self._counts[rivals], self._costs[rivals][:, self._relevant])
        self.kept = np.sort(rivals[best])

    def _has_room(self, counts: IntArray, costs: IntArray) -> IntArray:
        """Return where slots and hard capacities of the otherwise empty node are kept."""
        problem = self._problem
        load = counts @ self._demand
        if problem.cpu is not None:
            load[..., problem.cpu] += costs[..., CPU]
        if problem.memory is not None:
            load[..., problem.memory] += costs[..., MEMORY]
        fits = ((load <= problem.capacity[self._node]) | ~problem.hard).all(axis=-1)
        return np.asarray(fits & (costs[..., WORKERS] <= problem.slots[self._node]))

    def splits(self) -> Splits:
        """Return all that was reached."""
        before, added, source = self._how.T
        return Splits(
            self._columns, self._counts, self._costs, before, added, source, self._contents
        )


def _relevant(problem: Problem, node: int) -> list[int]:
    """Return the costs that can make a difference on the node."""
    parts = {part for term in problem.terms for part, _ in term.parts}
    able = {
        WORKERS: "workers" in parts or bool(problem.slots[node] < problem.task_count),
        CPU: problem.min_worker_cpu > 0,
        MEMORY: bool(problem.regions),
        APART: "network" in parts,
        AWAY: problem.counts_moves,
    }
    return [cost for cost, matters in able.items() if matters]
