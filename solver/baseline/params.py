"""Parameters of the first placement and its bounds."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class BaselineParams(Parameters):
    """How long heuristics may take.

    Parameters
    ----------
    time_fraction
        After this share of the time limit no other heuristic starts.
    patience, patience_for_first
        A heuristic is stopped after so many times that share; the second while there is no
        placement yet.
    """

    time_fraction: float = 0.05
    patience: float = 4.0
    patience_for_first: float = 10.0
    max_places: int = 1_000_000


BASELINE_DEFAULTS = BaselineParams()
