"""Columns: every undominated configuration of one node, split into workers, with its costs.

Whatever is decided on the node stays in its column: workers, shared memory, least cpu, overload,
tasks that stay at home. Of columns with the same tasks the one that is best in lexicographic order
stays, for it can replace the others in every solution; where moves are limited, all that no other
one dominates in terms and moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import NODE, RACK, WORKER, BoolArray, IntArray, Problem
from slotwise.solver.column_generation.configurations.enumeration import within_node_caps
from slotwise.solver.column_generation.params import ColumnsParams
from slotwise.solver.column_generation.worker_packing.pareto_splits import (
    WorkerSplits,
    worker_splits,
)
from slotwise.solver.column_generation.worker_packing.worker_costs import (
    CPU,
    MEMORY,
    MOVED,
    NETWORK,
    WORKERS,
    criteria_of,
)
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.structure.dominance import VectorSet, undominated
from slotwise.solver.structure.task_types import TaskTypes

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
    }
)
"""Rules that columns keep."""

PARTS = frozenset(("overload", "network", "rejected", "nodes", "workers", "moved", "linear"))
"""Parts of the objective that columns count."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeColumns:
    """All columns of a node type.

    Parameters
    ----------
    counts
        [Y, K] tasks of each kind.
    parts
        Part of the objective -> [Y] its value on this node: ``network`` is minus the saving
        against tasks on different nodes of one rack, ``moved`` minus the tasks that stay.
    chosen
        [Y, P] split of each topology that has tasks, in the order of `splits`.
    splits
        Of each topology that has tasks.
    """

    counts: IntArray
    parts: Mapping[str, IntArray]
    chosen: IntArray
    splits: tuple[WorkerSplits, ...]

    def where(self, mask: BoolArray) -> NodeColumns:
        """Return the columns where `mask` [Y] holds."""
        return NodeColumns(
            self.counts[mask],
            {part: values[mask] for part, values in self.parts.items()},
            self.chosen[mask],
            self.splits,
        )

    def workers(self, column: int) -> Iterator[tuple[int | None, IntArray]]:
        """Yield home label and configuration [K] of each worker of a column."""
        for splits, chosen in zip(self.splits, self.chosen[column].tolist(), strict=True):
            for label, counts in splits.workers(chosen):
                configuration = np.zeros(self.counts.shape[1], dtype=np.int64)
                configuration[splits.columns] = counts
                yield label, configuration


@dataclass(frozen=True, slots=True, eq=False)
class _PartialColumns:
    """Configurations of the topologies so far: [Y, K] counts, [Y, 5] costs, [Y, D] load, [Y, P]."""

    counts: IntArray
    costs: IntArray
    load: IntArray
    chosen: IntArray

    def where(self, mask: BoolArray) -> _PartialColumns:
        return _PartialColumns(
            self.counts[mask], self.costs[mask], self.load[mask], self.chosen[mask]
        )


def node_columns(
    problem: Problem,
    kinds: TaskTypes,
    node: int,
    deadline: float,
    params: ColumnsParams,
    token: RunToken,
    usable: IntArray | None = None,
) -> NodeColumns:
    """Return the columns of a node; of those that hold one of `usable` [U, K] where it is given.

    Raises
    ------
    NotTakenError
        When there are too many, or the deadline passes.
    """
    all_splits: list[WorkerSplits] = []
    rows = _PartialColumns(
        np.zeros((1, kinds.count), dtype=np.int64),
        np.zeros((1, 5), dtype=np.int64),
        np.zeros((1, len(problem.dims)), dtype=np.int64),
        np.zeros((1, 0), dtype=np.int64),
    )
    for t, rules in enumerate(problem.rules):
        if rules.classes:
            own = None if usable is None else usable[:, kinds.topology == t]
            splits, chosen = worker_splits(problem, kinds, t, node, deadline, params, token, own)
            all_splits.append(splits)
            more = _of_topology(problem, kinds, t, splits, chosen)
            rows = _combined(problem, rows, more, node, params, token)
        if token.now() > deadline:
            raise NotTakenError("listing the configurations of a node takes too long")
    if usable is not None:
        rows = rows.where(VectorSet(usable, kinds.sizes).has(rows.counts))
    parts = _parts(problem, kinds, rows, node)
    best = undominated(rows.counts, criteria_of(problem, _shares(problem, parts), parts["moved"]))
    return NodeColumns(
        counts=rows.counts[best],
        parts={part: values[best] for part, values in parts.items()},
        chosen=rows.chosen[best],
        splits=tuple(all_splits),
    )


def _of_topology(
    problem: Problem, kinds: TaskTypes, topology: int, splits: WorkerSplits, chosen: IntArray
) -> _PartialColumns:
    """Return a topology's splits as rows, those that keep its caps per node."""
    counts = np.zeros((len(chosen), kinds.count), dtype=np.int64)
    counts[:, splits.columns] = splits.counts[chosen]
    costs = splits.costs[chosen]
    load = counts @ kinds.demand
    if problem.cpu is not None:
        load[:, problem.cpu] += costs[:, CPU]
    if problem.memory is not None:
        load[:, problem.memory] += costs[:, MEMORY]
    firsts = [group[0] for group in kinds.members]
    for region in problem.regions:
        if region.topology == topology and region.kind == "offheap_node":
            users = np.isin(firsts, region.classes)
            load[:, problem.memory] += region.size * (counts[:, users] > 0).any(axis=1)
    capped = within_node_caps(problem, kinds, counts)
    return _PartialColumns(counts[capped], costs[capped], load[capped], chosen[capped][:, None])


def _combined(
    problem: Problem,
    rows: _PartialColumns,
    more: _PartialColumns,
    node: int,
    params: ColumnsParams,
    token: RunToken,
) -> _PartialColumns:
    """Return every configuration of the topologies so far with every one of one more topology."""
    chunks = []
    at_once = max(1, params.pairs_at_once // max(1, len(more.counts)))
    pairs = min(at_once, len(rows.counts)) * len(more.counts)
    token.check_room(
        10 * pairs * (rows.load.shape[1] + 1), f"the loads of {pairs:,} configurations of a node"
    )
    total = 0
    for start in range(0, len(rows.counts), at_once):
        chunk = slice(start, start + at_once)
        load = rows.load[chunk][:, None, :] + more.load[None, :, :]
        workers = rows.costs[chunk, WORKERS][:, None] + more.costs[None, :, WORKERS]
        i, j = np.nonzero(_has_room(problem, load, workers, node))
        total += len(i)
        if total > params.max_columns:
            raise NotTakenError(f"a node has more than {params.max_columns:,} configurations")
        size = 16 * len(i) * _width(rows, more)
        token.check_room(size, f"{total:,} configurations of a node")
        left = i + start
        chunks.append(
            _PartialColumns(
                rows.counts[left] + more.counts[j],
                rows.costs[left] + more.costs[j],
                load[i, j],
                np.concatenate([rows.chosen[left], more.chosen[j]], axis=1),
            )
        )
    return _PartialColumns(
        np.concatenate([p.counts for p in chunks]),
        np.concatenate([p.costs for p in chunks]),
        np.concatenate([p.load for p in chunks]),
        np.concatenate([p.chosen for p in chunks]),
    )


def _width(rows: _PartialColumns, more: _PartialColumns) -> int:
    """Return the numbers that a configuration of both takes."""
    arrays = (rows.counts, rows.costs, rows.load, rows.chosen, more.chosen)
    return sum(array.shape[1] for array in arrays)


def _has_room(problem: Problem, load: IntArray, workers: IntArray, node: int) -> BoolArray:
    fits = ((load <= problem.capacity[node]) | ~problem.hard).all(axis=-1)
    return np.asarray(fits & (workers <= problem.slots[node]), dtype=np.bool_)


def _parts(
    problem: Problem, kinds: TaskTypes, rows: _PartialColumns, node: int
) -> dict[str, IntArray]:
    on_node = int(problem.distance[RACK] - problem.distance[NODE])
    in_worker = int(problem.distance[NODE] - problem.distance[WORKER])
    linear = np.zeros(len(rows.counts), dtype=np.int64)
    if problem.linear is not None:
        linear = rows.counts @ problem.linear[[group[0] for group in kinds.members], node]
    over = np.maximum(rows.load - problem.capacity[node], 0)
    return {
        "overload": over @ problem.soft_weight,
        "network": in_worker * rows.costs[:, NETWORK] - on_node * kinds.pairs(rows.counts),
        "nodes": (rows.costs[:, WORKERS] > 0).astype(np.int64),
        "workers": rows.costs[:, WORKERS],
        "moved": rows.costs[:, MOVED],
        "linear": linear,
        "rejected": np.zeros(len(rows.counts), dtype=np.int64),
    }


def _shares(problem: Problem, parts: Mapping[str, IntArray]) -> IntArray:
    """Return [Y, T] the columns' share of each term."""
    shares = [sum(m * parts[part] for part, m in term.parts) for term in problem.terms]
    return np.stack(shares, axis=1)
