"""Placing with a published method."""

from __future__ import annotations

from typing import Unpack

from slotwise.api.inputs import DecodedCluster, InstanceLike, as_problem, warn_of_unoffered
from slotwise.heuristics.method import Method
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.display import kind_of
from slotwise.models.errors import InputError
from slotwise.models.instance.placement import Placement, Refusal


def place(
    instance: InstanceLike,
    method: str | Method,
    *,
    seed: int = 0,
    **decoded: Unpack[DecodedCluster],
) -> Placement | Refusal:
    """Run a published method.

    Parameters
    ----------
    instance
        What to place: an `Instance`, a compiled problem, a path, a dict or text; see
        `read_instance`.
    method
        Name as ``slotwise methods`` lists it, for example ``r-storm``, ``cmd:COMMAND`` for a
        program of your own, or a `Method`.
    seed
        Of every random choice, 0 or more.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Returns
    -------
    Placement | Refusal
        The placement is not judged: it may break hard rules where the published method does.

    Raises
    ------
    InputError
        For bad input, when there is no such method, or its answer is none for this instance.
    MethodError
        When the method breaks down: a command fails, or code of another package raises something.

    Examples
    --------
    >>> import slotwise
    >>> placement = slotwise.place("docs/examples/word-count.json", "r-storm")
    >>> placement.nodes
    (0, 0, 0, 1, 1, 1, 0, 0, 1)
    """
    chosen = as_method(method)
    warn_of_unoffered(instance)
    return run_method(as_problem(instance, **decoded), chosen, seed)


def as_method(given: object) -> Method:
    """Return the method that `given` is or names.

    Raises
    ------
    InputError
        For what is neither, and as `find_method` does.
    """
    if isinstance(given, Method):
        return given
    if isinstance(given, str):
        return find_method(given)
    rule = f"must be the name of a method or a Method, not {kind_of(given)}"
    raise InputError(rule, field="method", has_value=False)
