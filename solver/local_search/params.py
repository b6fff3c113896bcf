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
        Tasks taken out at once.
    history_length
        Late acceptance: an outcome is compared with the value so many steps ago.
    blink_fraction
        Share of places that are overlooked, so that no two attempts are alike.
    max_cells
        Of its tables, 8 bytes each; a problem with more is not taken.
    """

    max_removed: int = 40
    history_length: int = 30
    blink_fraction: float = 0.02
    max_cells: int = 10**8


LOCAL_SEARCH_DEFAULTS = LocalSearchParams()
