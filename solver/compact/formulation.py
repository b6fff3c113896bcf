"""The whole compact model: variables, rules, symmetry, and the terms of the objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.builder import E, ModelBuilder
from slotwise.solver.compact.constraints import add_rules
from slotwise.solver.compact.network import Product
from slotwise.solver.compact.objective import add_terms
from slotwise.solver.compact.symmetry import break_symmetry
from slotwise.solver.compact.variables import Counts, make_counts


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


def formulate(model: ModelBuilder[E], problem: Problem, product: Product[E]) -> Formulation[E]:
    """State the compact model of a problem, without an objective.

    Parameters
    ----------
    model
        Where to state it; raises what its rows and variables raise.
    problem
        What is modelled.
    product
        How this back end linearises products of counts.
    """
    counts = make_counts(model, problem)
    overload = add_rules(model, problem, counts)
    break_symmetry(model, problem, counts)
    return Formulation(counts, add_terms(model, problem, counts, overload, product))
