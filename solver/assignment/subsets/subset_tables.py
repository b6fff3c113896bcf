"""Tables of the subset dynamic programme: the least cost of each set of tasks on the first nodes.

See `subset_dp` for the recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.assignment.model import Assignment
from slotwise.solver.assignment.subsets.subset_fixing import NodeSubsets
from slotwise.solver.core.memory import RunToken

STEPS_A_CALL = 2 * 10**8
"""Steps of the inner loop between two looks at the clock, well under a second."""
INFINITE = 2**62
NO_WAY = 2**61
"""From here on a table entry means that there is no way."""


def distances_apart(model: Assignment) -> IntArray:
    """Return the distances that occur between different nodes."""
    different = ~np.eye(model.node_count, dtype=np.bool_)
    return np.unique(model.distance[different])


@dataclass(slots=True)
class Tables:
    """Values by set of tasks, a bit mask.

    Parameters
    ----------
    model
        What is solved.
    apart
        Distance between different nodes.
    order
        Nodes in the order in which they are filled.
    alike_from
        Position in `order` from which all nodes are alike.
    chosen
        Sets that each node may hold, ascending, and their costs there.
    levels
        [2^T] f_k for each position in `order`.
    """

    model: Assignment
    apart: int
    order: tuple[int, ...]
    alike_from: int
    chosen: NodeSubsets
    levels: list[IntArray] = field(default_factory=list)

    @property
    def full(self) -> int:
        """The set of all tasks."""
        return (1 << self.model.task_count) - 1

    @property
    def constant(self) -> int:
        """What every placement costs besides the sets on its nodes."""
        return self.apart * int(self.model.flow.sum())


def _sums(values: IntArray) -> IntArray:
    from slotwise.solver.assignment.subsets.subset_kernels import subset_sums

    return np.asarray(subset_sums(np.ascontiguousarray(values)))


def _fitting(model: Assignment, node: int) -> BoolArray:
    fits = np.ones(2**model.task_count, dtype=np.bool_)
    for d, most in enumerate(model.capacity[node].tolist()):
        fits &= _sums(model.demand[:, d]) <= most
    return fits


def make_tables(model: Assignment, token: RunToken) -> Tables:
    """Return the tables before the first node is filled: every set that fits may be chosen."""
    from slotwise.solver.assignment.subsets.subset_kernels import inner_flows

    levels = 8 * (model.node_count + 4) << model.task_count
    token.check_room(
        levels, f"tables of the sets of {model.task_count} tasks on {model.node_count} nodes"
    )
    distances = distances_apart(model)
    apart = int(distances[0]) if len(distances) else 0
    inside = np.asarray(inner_flows(np.ascontiguousarray(model.flow + model.flow.T)))
    chosen: NodeSubsets = {}
    for node in range(model.node_count):
        sets = np.flatnonzero(_fitting(model, node)).astype(np.int64, copy=False)
        token.check_room(levels + 5 * sets.nbytes, f"{len(sets):,} sets of tasks on a node")
        saved = apart - int(model.distance[node, node])
        chosen[node] = (sets, _sums(model.linear[:, node])[sets] - saved * inside[sets])
    order, alike_from = _order(model, {node: len(sets) for node, (sets, _) in chosen.items()})
    return Tables(model, apart, order, alike_from, chosen)


def _order(model: Assignment, fits: dict[int, int]) -> tuple[tuple[int, ...], int]:
    """Return the nodes in the order of filling, and from which position on they are alike."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for n in range(model.node_count):
        key = (*model.capacity[n], *model.linear[:, n], model.distance[n, n])
        groups.setdefault(key, []).append(n)
    alike = max(groups.values(), key=len)
    if len(alike) > 1:
        others = sorted((n for n in fits if n not in alike), key=lambda n: (-fits[n], n))
        return (*others, *alike), len(others)
    last, first, *middle = sorted(fits, key=lambda n: (-fits[n], n)) if len(fits) > 1 else (0, 0)
    order = (first, *middle, last) if len(fits) > 1 else (0,)
    return order, model.node_count


def fill(tables: Tables) -> Iterator[int]:
    """Fill the table of each node in turn; yield the steps done since the last time."""
    from slotwise.solver.assignment.subsets.subset_kernels import extend

    size = tables.full + 1
    before = np.full(size, INFINITE, dtype=np.int64)
    before[0] = 0
    for position, node in enumerate(tables.order):
        sets, costs = tables.chosen[node]
        after = np.full(size, INFINITE, dtype=np.int64)
        tables.levels.append(after)
        if position == 0 and tables.alike_from:
            after[sets] = costs
            yield len(sets)
        elif position == len(tables.order) - 1:
            after[tables.full] = (before[tables.full & ~sets] + costs).min(initial=INFINITE)
            yield len(sets)
        else:
            lowest = position >= tables.alike_from
            if lowest:
                np.copyto(after, before)  # the empty set, which has no lowest task
            for part in _parts(sets, tables.model.task_count):
                extend(before, after, sets[part], costs[part], tables.full, lowest)
                yield part.stop - part.start
        before = after


def _parts(sets: IntArray, tasks: int) -> Iterator[slice]:
    """Yield slices of `sets` with at most `STEPS_A_CALL` pairs of a set and its supersets."""
    work = np.cumsum(2.0 ** (tasks - np.bitwise_count(sets)))
    start = 0
    while start < len(sets):
        reached = (work[start - 1] if start else 0.0) + STEPS_A_CALL
        stop = max(start + 1, int(np.searchsorted(work, reached, side="right")))
        yield slice(start, stop)
        start = stop


def backtrack(tables: Tables) -> IntArray:
    """Return the node of each task in a best placement, the last node first."""
    nodes = np.zeros(tables.model.task_count, dtype=np.int64)
    left = tables.full
    for position in range(len(tables.order) - 1, -1, -1):
        node = tables.order[position]
        sets, costs = tables.chosen[node]
        inside = sets & ~left == 0
        sets, costs = sets[inside], costs[inside]
        if position:
            reached = tables.levels[position - 1][left & ~sets] + costs
        else:
            reached = np.where(sets == left, costs, INFINITE)
        chosen = int(sets[np.flatnonzero(reached == tables.levels[position][left])[0]])
        nodes[[i for i in range(len(nodes)) if chosen >> i & 1]] = node
        left &= ~chosen
    return nodes
