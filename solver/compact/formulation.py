"""The whole compact model: variables, rules, symmetry, and the terms of the objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic

from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.builder import E, ModelBuilder
from slotwise.solver.compact.constraints import add_rules
from slotwise.solver.compact.names import node_name
from slotwise.solver.compact.network import Product, network
from slotwise.solver.compact.pairs import counts_pairs, pair_network
from slotwise.solver.compact.symmetry import break_symmetry
from slotwise.solver.compact.variables import Counts, make_counts

PARTS = frozenset(("overload", "network", "rejected", "nodes", "workers", "moved", "linear"))
"""Parts of the objective that the compact models count."""


@dataclass(frozen=True, slots=True, eq=False)
class Formulation(Generic[E]):
    """What the rows of a model speak of.

    Parameters
    ----------
    counts
        The variables that describe a placement.
    terms
        Each term of the objective in its integer steps.
    """

    counts: Counts[E]
    terms: tuple[E, ...]


def formulate(
    model: ModelBuilder[E], problem: Problem, product: Product[E], max_pair_tasks: int = 0
) -> Formulation[E]:
    """State the compact model of a problem, without an objective.

    Parameters
    ----------
    model
        Where to state it; raises what its rows and variables raise.
    problem
        What is modelled.
    product
        How this back end linearises products of counts.
    max_pair_tasks
        Most tasks for which the network cost goes by pairs where it can.
    """
    counts = make_counts(model, problem)
    overload = add_rules(model, problem, counts)
    break_symmetry(model, problem, counts)
    if counts_pairs(problem, max_pair_tasks):
        cost = partial(pair_network, model, problem, counts)
    else:
        cost = partial(network, model, problem, counts, product)
    return Formulation(counts, add_terms(model, problem, counts, overload, cost))


def add_terms(
    model: ModelBuilder[E],
    problem: Problem,
    counts: Counts[E],
    overload: E,
    cost: Callable[[], E],
) -> tuple[E, ...]:
    """Return each term of the objective, in its integer steps; state the limits of parts.

    `cost` states the network cost.
    """
    used = problem.instance.objective.parts
    parts = {"overload": overload}
    if "network" in used:
        parts["network"] = cost()
    if "nodes" in used:
        parts["nodes"] = _nodes(model, problem, counts)
    if "linear" in used:
        parts["linear"] = _linear(model, problem, counts)
    if problem.counts_moves:
        parts["moved"] = _moved(model, problem, counts)
        if problem.move_limit != NO_LIMIT:
            model.at_most("move_limit", parts["moved"], problem.move_limit)
    if "workers" in used:
        parts["workers"] = model.total(worker.opened for worker in counts.all_workers())
    parts["rejected"] = model.total(
        problem.rules[t].reject_weight * left_out for t, left_out in counts.rejected.items()
    )
    return tuple(
        model.total(multiplier * parts[part] for part, multiplier in term.parts)
        for term in problem.terms
    )


def _nodes(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> E:
    """Nodes in use: each open worker has its node used."""
    used = [model.boolean(f"node_{node_name(problem, n)}") for n in range(problem.node_count)]
    for worker in counts.all_workers():
        model.implies(f"uses_node_{worker.name}", worker.opened, used[worker.node])
    return model.total(used)


def _linear(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> E:
    """Cost of each task on its node."""
    if problem.linear is None:
        return model.total(())
    return model.total(
        int(problem.linear[counts.groups[g].cls, worker.node]) * count
        for worker in counts.all_workers()
        for g, count in worker.counts.items()
    )


def _moved(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> E:
    """Tasks with a home, less those that are there."""
    homed = sum(one.size for one in problem.classes if one.home is not None)
    stay = model.total(
        count
        for worker in counts.all_workers()
        for g, count in worker.counts.items()
        if problem.classes[counts.groups[g].cls].home == (worker.node, worker.label)
    )
    return model.total((homed, -1 * stay))
