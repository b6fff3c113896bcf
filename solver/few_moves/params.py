"""Parameters of engine ``few-moves``: limits of size and of work.

They decide how far the engine goes, never what it may claim.
"""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class FewMovesParams(Parameters):
    """Of engine ``few-moves``.

    Parameters
    ----------
    max_pairs
        Pairs of changes merged in one step, some hundred bytes each while they are looked at; a
        problem with more is not taken.
    max_all_pairs
        The same over all steps: about ten million a second.
    pairs_at_once
        Pairs in one array.
    """

    max_pairs: int = 60_000_000
    max_all_pairs: int = 400_000_000
    pairs_at_once: int = 500_000


FEW_MOVES_DEFAULTS = FewMovesParams()
"""As measured."""
