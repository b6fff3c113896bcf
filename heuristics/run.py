"""Running a method: from a name and a seed to a checked answer."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from slotwise.heuristics.method import Method
from slotwise.heuristics.plugin_errors import OURS, defined_at, package_of, wrap_plugin_errors
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError, one_line
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem
from slotwise.models.values import whole

MOST_REASON = 2000
"""Most characters of a refusal's reason; of a longer one the end is kept."""


def unsupported(problem: Problem, method: Method) -> str | None:
    """Return why `method` does not apply, in one line; ``None`` = it does.

    Raises
    ------
    InputError
        When its reason is not text.
    MethodError
        When its code, of another package, raises something.
    """
    with wrap_plugin_errors(method.name, method.supports):
        reason = method.supports(problem)
    return None if reason is None else _checked(method, method.supports, Refusal(reason)).reason


def run_method(
    problem: Problem,
    method: Method,
    seed: int,
    token: CancellationToken | None = None,
    *,
    copies: bool = True,
) -> Placement | Refusal:
    """Return the answer of `method`; a method that does not apply refuses with its reason.

    A method of another package gets a copy of the instance, so that its changes do not affect the
    judge or the next method. The problem's arrays are read-only.

    Parameters
    ----------
    problem
        What to place.
    method
        Ours or another's.
    seed
        Of every random choice, 0 or more: the same seed gives the same answer.
    token
        When to stop, for a method that can be stopped (`Method.place_until`); ``None`` = at its
        end.
    copies
        False where the caller has made a copy, and looks at it afterwards.

    Raises
    ------
    CancelledError
        When `token` stopped it.
    InputError
        When the method returns something that is not an answer for this problem.
    MethodError
        When the method fails, or its code, of another package, raises an exception.
    """
    whole(seed, "seed")
    if copies and package_of(method.place) != OURS:
        problem = replace(problem, instance=deepcopy(problem.instance))
    reason = unsupported(problem, method)
    if reason is not None:
        return Refusal(reason)
    with wrap_plugin_errors(method.name, method.place, token):
        rng = np.random.default_rng(seed)
        if token is None or method.place_until is None:
            answer = method.place(problem, rng)
        else:
            answer = method.place_until(problem, rng, token)
    if isinstance(answer, Refusal):
        return _checked(method, method.place, answer)
    _check_shape(problem, method, answer)
    return Placement(tuple(map(int, answer.nodes)), tuple(map(int, answer.workers)))


def _checked(method: Method, source: object, refusal: Refusal) -> Refusal:
    """Return a refusal whose reason is one line; control characters are written as escapes."""
    reason: object = refusal.reason
    if not isinstance(reason, str):
        raise InputError(
            f"must be a text{defined_at(source)}",
            field=f"reason of the refusal of {method.name}",
            value=type(reason).__name__,
        )
    if reason.isprintable() and len(reason) <= MOST_REASON:
        return refusal
    return Refusal(one_line(reason, MOST_REASON))


def _check_shape(problem: Problem, method: Method, answer: object) -> None:
    field = f"answer of {method.name}"
    place = defined_at(method.place)
    if not isinstance(answer, Placement):
        raise InputError(
            f"must be a Placement or a Refusal{place}", field=field, value=type(answer).__name__
        )
    if len(answer.nodes) != problem.task_count:
        raise InputError(
            f"must have one entry per task ({problem.task_count}), not {len(answer.nodes)}{place}",
            field=field,
            has_value=False,
        )
    for kind in {*map(type, answer.nodes), *map(type, answer.workers)}:
        if kind is bool or not issubclass(kind, int | np.integer):
            raise InputError(
                f"must hold whole numbers, not {kind.__name__}{place}", field=field, has_value=False
            )
    highest = max(answer.nodes, default=-1)
    if highest >= problem.node_count:
        raise InputError(
            f"must be below the number of nodes ({problem.node_count}){place}",
            field=f"{field}, nodes",
            value=highest,
        )
