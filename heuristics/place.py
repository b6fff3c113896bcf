"""Running a method: from a name and a seed to a checked answer."""

from __future__ import annotations

import numpy as np

from slotwise.heuristics.method import Method
from slotwise.models.errors import InputError
from slotwise.models.numbers import whole
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.models.refusal import Refusal


def run_method(problem: Problem, method: Method, seed: int) -> Placement | Refusal:
    """Return the answer of `method`; a method that does not apply refuses with its reason.

    Parameters
    ----------
    problem
        What to place.
    method
        Ours or another's.
    seed
        Of every random choice, 0 or more: the same seed gives the same answer.

    Raises
    ------
    InputError
        When the method returns something that is no answer for this problem.
    """
    whole(seed, "seed")
    reason = method.supports(problem)
    if reason is not None:
        return Refusal(reason)
    answer = method.place(problem, np.random.default_rng(seed))
    if not isinstance(answer, Refusal):
        _check_shape(problem, method, answer)
    return answer


def _check_shape(problem: Problem, method: Method, answer: object) -> None:
    field = f"answer of {method.name}"
    if not isinstance(answer, Placement):
        raise InputError(
            "must be a Placement or a Refusal", field=field, value=type(answer).__name__
        )
    if len(answer.nodes) != problem.task_count:
        raise InputError(
            f"must have one entry per task ({problem.task_count})",
            field=field,
            value=f"{len(answer.nodes)} entries",
        )
    highest = max(answer.nodes, default=-1)
    if highest >= problem.node_count:
        raise InputError(
            f"must be below the number of nodes ({problem.node_count})",
            field=f"{field}, nodes",
            value=highest,
        )
