"""Parameters of engine ``exhaustive``."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class ExhaustiveParams(Parameters):
    """Which problems are small enough.

    Parameters
    ----------
    max_tasks
        Tasks.
    max_placements
        Estimated placements, tasks of a class being interchangeable.
    """

    max_tasks: int = 14
    max_placements: int = 10**9


EXHAUSTIVE_DEFAULTS = ExhaustiveParams()
