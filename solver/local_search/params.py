"""Parameters of the local search."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class LocalSearchParams(Parameters):
    """Of ruin and recreate with late acceptance.

    Parameters
    ----------
    max_removed
        Tasks taken out at once; each step draws its own limit up to it.
    history_length
        Late acceptance: steps back to the value that an outcome is compared with.
    blink_fraction
        Share of places that are overlooked, so that no two attempts are alike.
    compiled_from_tasks
        Tasks from which the compiled loop pays, on the problems that it takes.
    compiled_steps
        Steps of the compiled loop that are counted as one: they take about as long.
    max_cells
        Of its tables, 8 bytes each; a problem with more is not taken.
    """

    max_removed: int = 30
    history_length: int = 100
    blink_fraction: float = 0.02
    compiled_from_tasks: int = 64
    compiled_steps: int = 50
    max_cells: int = 10**8


LOCAL_SEARCH_DEFAULTS = LocalSearchParams()
