"""An instance with another limit of moves, or without running tasks."""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance, parts_of
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem


def with_limit(instance: Instance, max_moves: int | None) -> Problem:
    """Compile an instance with at most `max_moves` moves; ``None`` = as many as there are tasks."""
    if instance.running is None:
        raise InputError("needs an instance with `running`", field="running", has_value=False)
    limits = {} if max_moves is None else {"moved": max_moves}
    return compile_problem(replace(instance, objective=replace(instance.objective, limits=limits)))


def compiled_without_running(instance: Instance) -> Problem:
    """Compile an instance without `running` and without the parts of terms that count moves.

    Rules and all other costs are the same but are computed far faster, because tasks that run in
    different places are one class.
    """
    left = [
        "+".join(p for p in parts_of(term) if p != "moved") for term in instance.objective.terms
    ]
    terms = tuple(term for term in left if term) or ("network",)
    objective = replace(instance.objective, terms=terms, limits={})
    linear = instance.linear if "linear" in objective.parts else ()
    return compile_problem(replace(instance, running=None, objective=objective, linear=linear))
