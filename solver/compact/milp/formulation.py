"""The whole linear model: columns, rules, symmetry, and the terms of the objective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.milp.backend import just_above, whole_bound
from slotwise.solver.compact.milp.builder import Expr, Model, total
from slotwise.solver.compact.milp.constraints import add_rules
from slotwise.solver.compact.milp.network import network
from slotwise.solver.compact.milp.variables import Counts, make_counts, node_name
from slotwise.solver.structure.node_types import equal_nodes, equal_racks


@dataclass(frozen=True, slots=True, eq=False)
class CompactModel:
    """A problem as an integer linear program.

    Parameters
    ----------
    model, counts
        Its rows and columns; the columns that describe a placement.
    terms
        Each term of the objective in its integer steps.
    """

    model: Model
    counts: Counts
    terms: tuple[Expr, ...]


def build(problem: Problem) -> CompactModel:
    """Return the linear model of a problem, without an objective.

    Raises
    ------
    NotTakenError
        When it is too large, or its numbers are.
    """
    model = Model()
    counts = make_counts(model, problem)
    overload = add_rules(model, problem, counts)
    _break_symmetry(model, problem, counts)
    return CompactModel(model, counts, _terms(model, problem, counts, overload))


def _terms(model: Model, problem: Problem, counts: Counts, overload: Expr) -> tuple[Expr, ...]:
    used = problem.instance.objective.parts
    parts: dict[str, Expr] = {"overload": overload}
    if "network" in used:
        parts["network"] = network(model, problem, counts)
    if "nodes" in used:
        parts["nodes"] = _nodes(model, problem, counts)
    if "linear" in used:
        parts["linear"] = _linear(problem, counts)
    if problem.counts_moves:
        parts["moved"] = _moved(problem, counts)
        if problem.move_limit != NO_LIMIT:
            model.at_most("move_limit", parts["moved"], problem.move_limit)
    if "workers" in used:
        parts["workers"] = total(worker.open for worker in counts.all_workers())
    parts["rejected"] = total(
        problem.rules[t].reject_weight * left_out for t, left_out in counts.rejected.items()
    )
    return tuple(
        total(multiplier * parts[part] for part, multiplier in term.parts) for term in problem.terms
    )


def _nodes(model: Model, problem: Problem, counts: Counts) -> Expr:
    """Nodes in use: used >= open for each worker there."""
    used = [model.boolean(f"node_{node_name(problem, n)}") for n in range(problem.node_count)]
    for worker in counts.all_workers():
        model.at_most(f"uses_node_{worker.name}", worker.open, used[worker.node])
    return total(used)


def _linear(problem: Problem, counts: Counts) -> Expr:
    """Cost of each task on its node."""
    if problem.linear is None:
        return total(())
    return total(
        int(problem.linear[counts.layout.groups[g].cls, worker.node]) * count
        for worker in counts.all_workers()
        for g, count in worker.counts.items()
    )


def _moved(problem: Problem, counts: Counts) -> Expr:
    """Tasks with a home, less those that are there."""
    homed = sum(one.size for one in problem.classes if one.home is not None)
    stay = total(
        count
        for worker in counts.all_workers()
        for g, count in worker.counts.items()
        if problem.classes[counts.layout.groups[g].cls].home == (worker.node, worker.label)
    )
    return homed - stay


def _break_symmetry(model: Model, problem: Problem, counts: Counts) -> None:
    """Order interchangeable workers, nodes, racks and (by matrix) tasks, as in the CP-SAT model."""
    for workers in counts.workers.values():
        fresh = [total(w.counts.values()) for w in workers if w.label is None]
        _descending(model, "order_workers", fresh)
    if problem.matrix is None:
        keys = [_key(problem, counts, n) for n in range(problem.node_count)]
        for nodes in equal_nodes(problem):
            _descending(model, "order_nodes", [keys[n] for n in nodes])
        for racks in equal_racks(problem):
            sums = [total(keys[n] for n in nodes) for nodes in racks]
            _descending(model, "order_racks", sums)
    else:
        _order_tasks(model, problem, counts)


def _descending(model: Model, name: str, keys: Sequence[Expr]) -> None:
    for more, less in pairwise(keys):
        model.at_most(name, less, more)


def _key(problem: Problem, counts: Counts, node: int) -> Expr:
    """Return a count that tells nodes apart as far as one sum can: a mixed sum of all counts."""
    return total(
        (g + 1) * count
        for t in range(len(problem.rules))
        for worker in counts.workers[t, node]
        for g, count in worker.counts.items()
    )


def _order_tasks(model: Model, problem: Problem, counts: Counts) -> None:
    """Order the single tasks of a class by the index of their node; all or none are placed.

    Only where a node has one worker of the topology, so that the node says all.
    """
    nodes = range(problem.node_count)
    for c, one in enumerate(problem.classes):
        if any(len(counts.workers[one.topology, n]) > 1 for n in nodes):
            continue
        keys = [
            total(n * counts.on_node(one.topology, g, n) for n in nodes)
            for g in counts.layout.groups_of((c,))
        ]
        _descending(model, "order_tasks", keys)


@dataclass(frozen=True, slots=True)
class Grid:
    """A term as ``constant + step * columns``; `columns` is whole at every placement."""

    constant: int
    step: int
    columns: Expr

    @classmethod
    def of(cls, term: Expr) -> Grid:
        """Return a term with its coefficients in lowest terms."""
        step = math.gcd(*(int(coefficient) for coefficient in term.values())) or 1
        columns = total(int(c) // step * column for column, c in term.items())
        return cls(int(term.constant), step, columns)

    def bound(self, of_columns: float | None) -> int | None:
        """Return the bound of the term that one of the columns proves; terms are at least 0."""
        whole = whole_bound(of_columns)
        return None if whole is None else max(0, self.constant + self.step * whole)


def fix(compact: CompactModel, grid: Grid, name: str, value: int) -> None:
    """State that a term is at most `value`."""
    most = (value - grid.constant) // grid.step
    compact.model.at_most(f"term_{name}", grid.columns, just_above(most), checked=False)
