"""What the public API adds to the packages: placing by a method's name."""

from __future__ import annotations

from slotwise.heuristics.place import run_method
from slotwise.heuristics.registry import find_method
from slotwise.models.compile import compile_problem
from slotwise.models.instance import Instance
from slotwise.models.placement import Placement
from slotwise.models.refusal import Refusal


def place(instance: Instance, method: str, *, seed: int = 0) -> Placement | Refusal:
    """Place `instance` with a published method.

    Parameters
    ----------
    instance
        What to place.
    method
        Name as ``slotwise methods`` lists it, for example ``r-storm``.
    seed
        Of every random choice, 0 or more.

    Returns
    -------
    Placement | Refusal
        The placement is not judged: it may break hard rules where the published method does.

    Raises
    ------
    InputError
        When there is no such method, or its answer is none for this instance.
    MethodError
        When the method breaks down: a command fails, or code of another package raises something.
    """
    return run_method(compile_problem(instance), find_method(method), seed)
