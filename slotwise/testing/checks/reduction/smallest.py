"""A smallest instance that still fails."""

from __future__ import annotations

from collections.abc import Callable

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_from_text, instance_text
from slotwise.models.problem.compile import compile_problem
from slotwise.testing.checks.reduction.steps import STEPS


def smallest(instance: Instance, fails: Callable[[Instance], bool]) -> Instance:
    """Return an instance that fails of which no instance that is one step smaller does.

    Parameters
    ----------
    instance
        One that fails.
    fails
        Whether an instance fails; false for all ends the search.
    """
    current, improved = instance, True
    while improved:
        improved = False
        for step in STEPS:
            number = 0
            while number < len(options := list(step(current))):
                smaller = _made(options[number])
                if smaller is not None and smaller != current and fails(smaller):
                    current, improved = smaller, True
                else:
                    number += 1
    return current


def as_read(instance: Instance) -> Instance:
    """Return the instance as it is read from its file: what fails in memory fails there too.

    Raises
    ------
    InputError
        When no file can hold it.
    """
    return instance_from_text(instance_text(instance))


def _made(make: Callable[[], Instance]) -> Instance | None:
    """Return the smaller instance; ``None`` where what is left refers to what was taken away."""
    try:
        instance = as_read(make())
        compile_problem(instance)
    except InputError:
        return None
    return instance
