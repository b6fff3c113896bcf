"""Every undominated way to split tasks of one topology on one node into workers.

The slow and general sister of `table`: there the network alone decides between splits. Here a
split also has a number of workers, memory shared in each of them, least cpu, and tasks that stay
where they run now; a split is dropped only where another one of the same tasks dominates it.

Workers are added one by one. A worker that is nobody's home must hold the first kind of all that
is there so far or an earlier one, which meets every multiset of workers in one order at least. Then
each home label may hold one more worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.column_generation.params import ColumnsParams
from slotwise.solver.column_generation.worker_packing.worker_costs import (
    CPU,
    MEMORY,
    WORKERS,
    WorkerConfigurations,
    costed_configurations,
    network_first,
    split_criteria,
)
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.structure.dominance import VectorSet, undominated
from slotwise.solver.structure.node_types import keeps_apart
from slotwise.solver.structure.task_types import TaskTypes

MOST_MERGED = 64
"""Factor by which more pairs are looked at together where most of them are merged away."""


@dataclass(frozen=True, slots=True, eq=False)
class WorkerSplits:
    """Splits of a topology's tasks on a node; the first is the empty one.

    Parameters
    ----------
    columns
        [k] the kinds of the topology.
    counts, costs
        [S, k] tasks, [S, 5] costs of each split.
    before, added
        [S] the split that one worker was added to, and its row in `configurations`; -1 = none.
    configurations
        Configurations of workers, and [S] which of these sets was added from.
    """

    columns: IntArray
    counts: IntArray
    costs: IntArray
    before: IntArray
    added: IntArray
    source: IntArray
    configurations: tuple[WorkerConfigurations, ...]

    def workers(self, split: int) -> Iterator[tuple[int | None, IntArray]]:
        """Yield home label and configuration [k] of each worker of a split."""
        while self.before[split] >= 0:
            chosen = self.configurations[int(self.source[split])]
            yield chosen.label, chosen.counts[int(self.added[split])]
            split = int(self.before[split])


def worker_splits(
    problem: Problem,
    kinds: TaskTypes,
    topology: int,
    node: int,
    deadline: float,
    params: ColumnsParams,
    token: RunToken,
    usable: IntArray | None = None,
) -> tuple[WorkerSplits, IntArray]:
    """Return all splits that were reached, and which of them are undominated.

    `usable` [U, k] is what the node may hold of the topology; ``None`` = whatever fits.

    Raises
    ------
    NotTakenError
        When there are too many, or the deadline passes.
    """
    configurations = costed_configurations(problem, kinds, topology, node, params.packing, token)
    search = _SplitEnumeration(
        problem, kinds, topology, node, configurations, deadline, params, token
    )
    layer = np.zeros(1, dtype=np.int64)
    fresh = int(problem.slots[node]) if keeps_apart(problem, topology) else 1
    last = len(configurations) - 1
    while len(layer) and fresh:
        is_last = last == 0 and fresh == 1  # nothing is added to these, so they must be usable
        layer = search.extend(layer, 0, usable if is_last else None)
        fresh -= 1
    for source in range(1, len(configurations)):
        search.extend(search.kept, source, usable if source == last else None)
    return search.splits(), search.kept


class _SplitEnumeration:
    """All splits reached so far; `kept` are the undominated ones."""

    def __init__(
        self,
        problem: Problem,
        kinds: TaskTypes,
        topology: int,
        node: int,
        configurations: tuple[WorkerConfigurations, ...],
        deadline: float,
        params: ColumnsParams,
        token: RunToken,
    ) -> None:
        self._problem = problem
        self._columns = np.flatnonzero(kinds.topology == topology)
        self._demand = kinds.demand[self._columns]
        self._most = kinds.sizes[self._columns]
        self._node = node
        self._worker_configurations = configurations
        self._deadline = deadline
        self._params = params
        self._token = token
        self._flow = kinds.flow[np.ix_(self._columns, self._columns)]
        self._merger_pays = not keeps_apart(problem, topology) and network_first(problem)
        self._counts = np.zeros((1, len(self._columns)), dtype=np.int64)
        self._costs = np.zeros((1, 5), dtype=np.int64)
        self._how = np.full((1, 3), -1, dtype=np.int64)
        self.kept = np.zeros(1, dtype=np.int64)

    def extend(self, rows: IntArray, source: int, usable: IntArray | None) -> IntArray:
        """Add one worker to each of the splits in every way; return the new ones that are kept.

        Where `usable` [U, k] is given, they must hold one of these.
        """
        allowed = None if usable is None else VectorSet(usable, self._most)
        start = len(self._counts)
        configurations = self._worker_configurations[source]
        at_once = max(1, self._params.split_pairs_at_once // max(1, len(configurations.counts)))
        at_once *= MOST_MERGED if self._merger_pays else 1
        for first in range(0, len(rows), at_once):
            self._token.check()
            if self._token.now() > self._deadline:
                raise NotTakenError("splitting the tasks of a node into workers takes too long")
            self._add(rows[first : first + at_once], source, allowed)
        new = self.kept[self.kept >= start]
        if len(self.kept) > self._params.max_worker_splits:
            raise NotTakenError(
                f"a node's tasks split into workers in over {self._params.max_worker_splits:,} ways"
            )
        return new

    def _add(self, rows: IntArray, source: int, allowed: VectorSet | None) -> None:
        configurations = self._worker_configurations[source]
        row, added = self._pairs(rows, configurations)
        width = len(self._columns) + 5 + self._demand.shape[1]
        self._token.check_room(
            10 * len(row) * width, f"{len(row):,} splits of a node's tasks into workers"
        )
        counts = self._counts[rows[row]] + configurations.counts[added]
        costs = self._costs[rows[row]] + configurations.costs[added]
        fits = (counts <= self._most).all(axis=1) & self._has_room(counts, costs)
        if allowed is not None:
            fits[fits] = allowed.has(counts[fits])
        row, added, counts, costs = row[fits], added[fits], counts[fits], costs[fits]
        how = np.stack([rows[row], added, np.full(len(row), source, dtype=np.int64)], axis=1)
        start = len(self._counts)
        best = undominated(counts, self._criteria(costs))  # most go here, before the others
        self._counts = np.concatenate([self._counts, counts[best]])
        self._costs = np.concatenate([self._costs, costs[best]])
        self._how = np.concatenate([self._how, how[best]])
        rivals = np.concatenate([self.kept, np.arange(start, len(self._counts))])
        best = undominated(self._counts[rivals], self._criteria(self._costs[rivals]))
        self.kept = np.sort(rivals[best])

    def _pairs(
        self, rows: IntArray, configurations: WorkerConfigurations
    ) -> tuple[IntArray, IntArray]:
        """Return which worker may be added to which split: one order, and no needless flow.

        Two workers that no rule keeps apart may be merged, and a merger that saves flow is better
        where the network comes before the moves, which are all that may suffer. It depends on the
        kinds that are there alone.
        """
        split_kinds, split_of = np.unique(self._counts[rows] > 0, axis=0, return_inverse=True)
        worker_kinds, worker_of = np.unique(configurations.counts > 0, axis=0, return_inverse=True)
        joins = np.ones((len(split_kinds), len(worker_kinds)), dtype=np.bool_)
        if configurations.label is None:
            first = np.where(
                split_kinds.any(axis=1), split_kinds.argmax(axis=1), len(self._columns)
            )
            joins &= worker_kinds.argmax(axis=1)[None, :] <= first[:, None]
        if self._merger_pays:
            joins &= (split_kinds @ self._flow @ worker_kinds.T) == 0
        pairs = []
        for row in range(len(split_kinds)):
            splits = np.flatnonzero(split_of.ravel() == row)
            workers = np.flatnonzero(joins[row, worker_of.ravel()])
            pairs.append((np.repeat(splits, len(workers)), np.tile(workers, len(splits))))
        split, worker = zip(*pairs, strict=True)
        return np.concatenate(split), np.concatenate(worker)

    def _criteria(self, costs: IntArray) -> IntArray:
        return split_criteria(self._problem, self._node, costs)

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

    def splits(self) -> WorkerSplits:
        """Return all that was reached."""
        before, added, source = self._how.T
        return WorkerSplits(
            self._columns,
            self._counts,
            self._costs,
            before,
            added,
            source,
            self._worker_configurations,
        )
