"""An instance with another limit of moves."""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem


def with_limit(instance: Instance, max_moves: int | None) -> Problem:
    """Compile an instance with at most so many moves; ``None`` = as many as there are tasks."""
    if instance.running is None:
        raise InputError("needs an instance with `running`", field="running", has_value=False)
    limits = {} if max_moves is None else {"moved": max_moves}
    return compile_problem(replace(instance, objective=replace(instance.objective, limits=limits)))
