"""A problem as a choice of columns: how often each configuration of a node type is used.

    sum over types, columns: counts * used = sizes of the kinds (0 where a topology is rejected)
    sum over columns of a type: used = its nodes

Every term of the objective, and the moves, are linear in the used columns, the rejected
topologies, and the flow between racks (`ColumnExpression`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, RACK, BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.columns.enumeration import NodeColumns, node_columns
from slotwise.solver.column_generation.params import COLUMNS_DEFAULTS, ColumnsParams
from slotwise.solver.core.memory import RunToken
from slotwise.solver.structure.node_types import NodeType, home_labels, node_types
from slotwise.solver.structure.task_types import TaskTypes, WorkerCounts, disaggregate, merge_twins


@dataclass(frozen=True, slots=True, eq=False)
class ColumnExpression:
    """``constant + values of used columns + rejection costs + inter-rack cost * flow``.

    Parameters
    ----------
    constant
        Where nothing is rejected.
    values
        Per node type: [Y] of each column.
    rejection_costs
        [P] what rejecting a topology adds; below 0 where it saves more than it costs.
    inter_rack_cost
        Cost of one unit of flow between racks beyond that within a rack, 0 or more.
    """

    constant: int
    values: tuple[IntArray, ...]
    rejection_costs: IntArray
    inter_rack_cost: int


@dataclass(frozen=True, slots=True, eq=False)
class ColumnModel:
    """The columns of a problem.

    Parameters
    ----------
    kinds, types
        What is counted, and the node types.
    columns
        Per type.
    terms
        One expression per term of the objective, in its integer steps.
    moves
        The tasks that moved; ``None`` where they are not limited.
    """

    problem: Problem
    kinds: TaskTypes
    types: tuple[NodeType, ...]
    columns: tuple[NodeColumns, ...]
    terms: tuple[ColumnExpression, ...]
    moves: ColumnExpression | None

    def where(self, masks: Sequence[BoolArray]) -> ColumnModel:
        """Return the model with the columns of each type where its mask [Y] holds."""

        def narrowed(expression: ColumnExpression) -> ColumnExpression:
            values = tuple(v[k] for v, k in zip(expression.values, masks, strict=True))
            return replace(expression, values=values)

        return replace(
            self,
            columns=tuple(c.where(k) for c, k in zip(self.columns, masks, strict=True)),
            terms=tuple(narrowed(term) for term in self.terms),
            moves=None if self.moves is None else narrowed(self.moves),
        )


@dataclass(frozen=True, slots=True)
class ColumnSolution:
    """A solution of the master: the column of each node (type, row); the rejected topologies."""

    nodes: dict[int, tuple[int, int]]
    rejected: frozenset[int]


def make_column_model(
    problem: Problem,
    deadline: float,
    token: RunToken,
    params: ColumnsParams = COLUMNS_DEFAULTS,
    usable: Mapping[int, IntArray] | None = None,
) -> ColumnModel:
    """List all columns; raises `NotTakenError` where they are too many.

    `usable` lists the counts that nodes may hold, node -> [Y, K]; ``None`` = whatever fits.
    """
    kinds = merge_twins(problem, token)
    types = node_types(problem)
    token.check()
    columns = tuple(
        node_columns(
            problem,
            kinds,
            kind.sample,
            deadline,
            params,
            token,
            None if usable is None else usable[kind.sample],
        )
        for kind in types
    )
    terms = tuple(_expression(problem, kinds, columns, dict(term.parts)) for term in problem.terms)
    limited = problem.move_limit != NO_LIMIT
    moves = _expression(problem, kinds, columns, {"moved": 1}) if limited else None
    return ColumnModel(problem, kinds, types, columns, terms, moves)


def _expression(
    problem: Problem, kinds: TaskTypes, columns: tuple[NodeColumns, ...], parts: dict[str, int]
) -> ColumnExpression:
    homed = sum(one.size for one in problem.classes if one.home is not None)
    pairs = [
        int(kinds.pairs(kinds.sizes * (kinds.topology == t))) for t in range(len(problem.rules))
    ]
    flow = parts.get("network", 0)
    near = flow * int(problem.distance[RACK])
    rejected = parts.get("rejected", 0)
    return ColumnExpression(
        constant=near * sum(pairs) + parts.get("moved", 0) * homed,
        values=tuple(
            np.asarray(sum(m * c.parts[part] for part, m in parts.items()), dtype=np.int64)
            for c in columns
        ),
        rejection_costs=np.array(
            [
                rejected * rules.reject_weight - near * inside
                for rules, inside in zip(problem.rules, pairs, strict=True)
            ],
            dtype=np.int64,
        ),
        inter_rack_cost=flow * int(problem.distance[CLUSTER] - problem.distance[RACK])
        if len(problem.racks) > 1
        else 0,
    )


def placement_of(model: ColumnModel, solution: ColumnSolution) -> Placement:
    """Assign the tasks to the workers of a solution: those that stay at home first."""
    problem = model.problem
    waiting = [list(group) for group in _tasks(model)]
    staying: list[list[int]] = []
    workers: list[WorkerCounts] = []
    for node, (t, row) in solution.nodes.items():
        for label, configuration in _labelled(problem, model.columns[t], node, row):
            counts: list[tuple[int, int]] = []
            for k in np.flatnonzero(configuration).tolist():
                home = _at_home(problem, waiting[k], (node, label))[: int(configuration[k])]
                for task in home:
                    waiting[k].remove(task)
                counts.append((len(waiting) + len(staying), len(home)))
                counts.append((k, int(configuration[k]) - len(home)))
                staying.append(home)
            workers.append((node, label, counts))
    return disaggregate(problem, [*waiting, *staying], workers)


def _tasks(model: ColumnModel) -> list[list[int]]:
    """Return the tasks of each kind."""
    classes = model.problem.classes
    return [[task for c in group for task in classes[c].tasks] for group in model.kinds.members]


def _at_home(problem: Problem, tasks: list[int], place: tuple[int, int]) -> list[int]:
    if not problem.counts_moves:
        return []
    classes = problem.classes
    return [task for task in tasks if classes[int(problem.task_class[task])].home == place]


def _labelled(
    problem: Problem, columns: NodeColumns, node: int, row: int
) -> list[tuple[int, IntArray]]:
    """Return the workers of a column; fresh ones get labels that are nobody's home."""
    homes = {
        label for t in range(len(problem.rules)) for label in home_labels(problem, t).get(node, ())
    }
    free = (label for label in range(problem.task_count + len(homes)) if label not in homes)
    return [
        (next(free) if label is None else label, configuration)
        for label, configuration in columns.workers(row)
    ]
