"""The linear model of engine ``milp`` as a file in MPS or LP format, for one term."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.problem.compile import compiled
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.milp.builder import Expr, coefficients, constant, total
from slotwise.solver.compact.milp.formulation import CompactModel, build
from slotwise.solver.core.not_taken import NotTakenError

MOST_COEFFICIENT = 10**12
"""Largest coefficient: PuLP writes 12 digits."""

COMMENT = {"mps": "*", "lp": "\\"}
"""Format -> the characters that begin a comment line."""


@dataclass(frozen=True, slots=True)
class Written:
    """A model as text; its objective is `term`, in steps of `unit` of the user's unit."""

    text: str
    term: str
    unit: Fraction
    columns: int
    rows: int


def linear_model(
    instance: Instance | Problem,
    to: str,
    term: str | None = None,
    fixed: Mapping[str, Decimal] | None = None,
) -> Written:
    """Return the linear model of an instance that minimises one term of its objective.

    Parameters
    ----------
    instance
        What to place; a compiled problem is taken as it is.
    to
        A key of `COMMENT`.
    term
        Name of a term; default: the first. No other term is in the model, unless `fixed`.
    fixed
        Term -> value in the user's unit that it may not exceed.

    Raises
    ------
    InputError
        For a term that the instance does not have, a value between two steps of a term, or
        numbers that the format cannot hold.
    """
    problem = compiled(instance)
    index = 0 if term is None else _index(problem, term, "term")
    limits = {_index(problem, name, "fix"): value for name, value in (fixed or {}).items()}
    try:
        compact = build(problem, CancellationToken())
        for other, value in limits.items():
            _limit(problem, compact, other, value)
        text = _text(compact, compact.terms[index], to)
    except NotTakenError as error:
        raise InputError(f"has no such file: {error}", field="instance", has_value=False) from error
    lp = compact.model.lp
    lines = [
        "The linear model of slotwise, engine milp.",
        f"instance: {' '.join(problem.instance.name.split())}",
        f"minimises: {problem.terms[index].name}, in steps of {problem.terms[index].unit}",
        *(f"at most: {problem.terms[i].name} = {value}" for i, value in limits.items()),
        "x_COMPONENT_NODE_WORKER = tasks there; every other column follows from those.",
    ]
    header = "".join(f"{COMMENT[to]} {line}\n" for line in lines)
    chosen = problem.terms[index]
    return Written(
        header + text, chosen.name, chosen.unit, len(lp.variables()), lp.numConstraints()
    )


def _index(problem: Problem, name: str, field: str) -> int:
    names = [term.name for term in problem.terms]
    if name not in names:
        raise InputError(f"must be one of {', '.join(names)}", field=field, value=name)
    return names.index(name)


def _limit(problem: Problem, compact: CompactModel, index: int, value: Decimal) -> None:
    """State that a term is at most `value`."""
    term = problem.terms[index]
    steps = Fraction(value) / term.unit
    if steps.denominator != 1:
        rule = f"must be a whole number of steps of {term.unit}"
        raise InputError(rule, field=f"fix {term.name}", value=value)
    _check_digits(compact.terms[index])
    compact.model.at_most(f"term_{term.name}", compact.terms[index], int(steps), checked=False)


def _check_digits(term: Expr) -> None:
    largest = max(map(abs, (*coefficients(term).values(), constant(term))))
    if largest > MOST_COEFFICIENT:
        raise NotTakenError(f"it needs the coefficient {largest:,}, more than 12 digits")


def _text(compact: CompactModel, term: Expr, to: str) -> str:
    """Return the file's text as PuLP writes it; the term's constant is a column that is 1."""
    _check_digits(term)
    lp = compact.model.lp
    constant_column = lp.add_variable("constant", 1, 1)
    fixed = constant(term)
    lp.setObjective(total((term, -fixed, fixed * constant_column)))
    lp.addConstraint(constant_column >= 1, "constant_is_one")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        if to == "mps":
            lp.writeMPS(str(path))
        else:
            lp.writeLP(str(path), max_length=255)
        return path.read_text("utf-8")
