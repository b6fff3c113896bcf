"""The best contents of a place at given prices, by dynamic programming along the flows.

The worth of a content y is ``scale * flow inside - prices.y``, or more where flows are loose. With
the counts of the closing kinds fixed (a case), what is left is a forest: a table per kind holds the
best worth of its subtree by the number of its tasks and the units taken (docs/design.md, 8.6;
the tree knapsack of Johnson and Niemi, 1983).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.graph import PieceGraph
from slotwise.solver.column_generation.connected.kernels import IMPOSSIBLE
from slotwise.solver.core.ctrl_c import check_stop
from slotwise.solver.core.memory import check_room


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The tables of one case; Y_k = most tasks of kind k, H = units the case leaves.

    Parameters
    ----------
    graph, scale, prices
        What they are for; [K] prices on the integer grid `scale`.
    case, base
        [K] counts of the closing kinds, and the worth of these alone.
    rewards
        [K] worth of a task with the closing kinds of the case.
    own
        Kind -> [Y_k + 1, H + 1] best worth of its subtree, with so many tasks of the kind and at
        most so many units; with exactly so many where `exactly`.
    stages
        Kind -> the same before each of its children is counted in.
    lifted
        Kind -> [Y_parent + 1, H + 1] best worth of its subtree and its flow with the parent, by
        the tasks of the parent; for a root one row.
    """

    graph: PieceGraph
    scale: int
    prices: IntArray
    case: IntArray
    base: int
    rewards: IntArray
    exactly: bool
    own: dict[int, IntArray]
    stages: dict[int, list[IntArray]]
    lifted: dict[int, IntArray]

    @property
    def is_active(self) -> bool:
        """Whether subtrees may begin anywhere: they hang on the case, or by loose flows."""
        return bool(self.case.any() or self.graph.loose)

    @property
    def units(self) -> int:
        """Units of a place that the case leaves."""
        return self.graph.capacity - int(self.case @ self.graph.weights)

    def worths(self, k: int) -> IntArray:
        """Return [Y_k + 1] the worth of so many tasks of kind k with the case alone."""
        counts = np.arange(int(self.graph.most[k]) + 1, dtype=np.int64)
        return counts * int(self.rewards[k]) + self.graph.loose_gain(self.scale, k)


def make_tables(
    graph: PieceGraph, scale: int, prices: IntArray, case: IntArray, *, exactly: bool = False
) -> Tables:
    """Fill the tables of a case, children before parents.

    With `exactly`, units are those used, not those allowed; such tables give no contents.
    """
    check_room(table_bytes(graph), f"tables of {graph.count:,} kinds in pieces")
    inside = int(graph.gains(case))
    made = Tables(
        graph=graph,
        scale=scale,
        prices=prices,
        case=case,
        base=scale * inside - int(prices @ case),
        rewards=scale * (graph.tight_flow @ case) - prices,
        exactly=exactly,
        own={},
        stages={},
        lifted={},
    )
    for k in reversed(graph.order):
        _fill(made, k)
    return made


def table_bytes(graph: PieceGraph) -> int:
    """Return the memory that the tables of a case take at most."""
    rows = 0
    for k in graph.order:
        above = graph.parent[k]
        lifted = 1 if above < 0 else int(graph.most[above]) + 1
        rows += (int(graph.most[k]) + 1) * (1 + len(graph.children[k])) + lifted
    return 8 * rows * (graph.capacity + 1)


def _fill(made: Tables, k: int) -> None:
    check_stop()
    from slotwise.solver.column_generation.connected.compiled import lift

    check_stop()
    graph, units = made.graph, made.units
    table = np.full((int(graph.most[k]) + 1, units + 1), IMPOSSIBLE, dtype=np.int64)
    for y, worth in enumerate(made.worths(k).tolist()):
        used = y * int(graph.weights[k])
        table[y, used : used + 1 if made.exactly else None] = worth
    made.stages[k] = []
    for child in graph.children[k]:
        made.stages[k].append(table)
        table = _combined(made, table, made.lifted[child])
    made.own[k] = table
    parent = graph.parent[k]
    flow = 0 if parent < 0 else made.scale * int(graph.flow[k, parent])
    rows = 1 if parent < 0 else int(graph.most[parent]) + 1
    lifted = np.empty((rows, units + 1), dtype=np.int64)
    lift(table, flow, made.is_active, lifted)
    made.lifted[k] = lifted


def _combined(made: Tables, first: IntArray, second: IntArray) -> IntArray:
    from slotwise.solver.column_generation.connected.compiled import combine, combine_exactly

    both = np.empty_like(first)
    (combine_exactly if made.exactly else combine)(first, second, both)
    return both


def worths_by_units(made: Tables) -> IntArray:
    """Return [H + 1] the best worth of a content that leaves the rest of the units the case leaves.

    With at least one task; of tables filled `exactly`. `IMPOSSIBLE` or less where there is none.
    """
    if made.is_active:
        return np.asarray(made.base + _together(made)[-1][0])
    tops = [made.own[k][1:].max(axis=0) for k in made.graph.order if len(made.own[k]) > 1]
    none = np.full(made.units + 1, IMPOSSIBLE, dtype=np.int64)
    return np.asarray(np.max([none, *tops], axis=0))


def best_worth(made: Tables) -> int:
    """Return the largest worth of a content of this case; 0 where no content is worth anything."""
    graph = made.graph
    if not made.is_active:
        return max((_best_top(made, k)[0] for k in graph.order), default=0)
    return made.base + int(_together(made)[-1][0, made.units])


def best_contents(made: Tables) -> list[IntArray]:
    """Return [K] contents of this case worth more than 0: the best one from each top kind."""
    graph, found = made.graph, []
    if not made.is_active:
        for k in graph.order:
            check_stop()
            worth, y = _best_top(made, k)
            if worth > 0:
                content = made.case.copy()
                _trace(made, k, y, made.units, content)
                found.append(content)
    elif best_worth(made) > 0:
        content, units = made.case.copy(), made.units
        stages = _together(made)
        roots = [k for k in graph.order if graph.parent[k] < 0]
        for i in range(len(roots) - 1, -1, -1):
            share = _share(stages[i][0], made.lifted[roots[i]][0], stages[i + 1][0, units], units)
            worth = made.lifted[roots[i]][0, share]
            y = int(np.flatnonzero(made.own[roots[i]][:, share] == worth)[0])
            _trace(made, roots[i], y, share, content)
            units -= share
        found.append(content)
    return found


def _best_top(made: Tables, k: int) -> tuple[int, int]:
    """Return worth and number of tasks of the best content whose top kind is k."""
    column = made.own[k][1:, made.units]
    if not len(column):
        return IMPOSSIBLE, 0
    y = int(column.argmax())
    return int(column[y]), y + 1


def _together(made: Tables) -> list[IntArray]:
    """Return [1, H + 1] the best worth of none, one, ... of the trees together."""
    stages = [np.zeros((1, made.units + 1), dtype=np.int64)]
    if made.exactly:
        stages[0][0, 1:] = IMPOSSIBLE
    for k in made.graph.order:
        if made.graph.parent[k] < 0:
            stages.append(_combined(made, stages[-1], made.lifted[k]))
    return stages


def _share(before: IntArray, part: IntArray, worth: int, units: int) -> int:
    """Return how many of the units the part has in the best sum of both."""
    shares = np.arange(units + 1)
    sums = before[units - shares] + part[shares]
    return int(np.flatnonzero((sums == worth) & (before[units - shares] > IMPOSSIBLE))[0])


def _trace(made: Tables, k: int, y: int, units: int, content: IntArray) -> None:
    """Write the best content of the subtree of k with y of its tasks into `content`."""
    graph, untraced = made.graph, [(k, y, units)]  # a chain may be deeper than calls may nest
    while untraced:
        k, y, units = untraced.pop()
        content[k] = y
        if not y and not made.is_active:
            continue  # nothing below it either
        worth = int(made.own[k][y, units])
        for i in range(len(graph.children[k]) - 1, -1, -1):
            child, before = graph.children[k][i], made.stages[k][i]
            share = _share(before[y], made.lifted[child][y], worth, units)
            flow = made.scale * int(graph.flow[k, child]) * y
            worths = made.own[child][:, share] + flow * np.arange(len(made.own[child]))
            tasks = int(np.flatnonzero(worths == made.lifted[child][y, share])[0])
            untraced.append((child, tasks, share))
            units -= share
            worth = int(before[y, units])
