"""Parameters of the large-neighbourhood search."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class LargeNeighbourhoodParams(Parameters):
    """How large neighbourhoods are, and what each may take.

    Parameters
    ----------
    least_nodes, most_nodes
        Nodes freed at once.
    patience
        Neighbourhoods solved to the end, on end and in vain, before they grow by a node.
    empty_fraction
        Share of neighbourhoods that have an empty node, too.
    seconds
        Of each engine on a neighbourhood.
    cp_sat_work
        Of CP-SAT on a neighbourhood, in its deterministic time.
    """

    least_nodes: int = 2
    most_nodes: int = 6
    patience: int = 10
    empty_fraction: float = 0.3
    seconds: float = 2.0
    cp_sat_work: float = 1.0


LARGE_NEIGHBOURHOOD_DEFAULTS = LargeNeighbourhoodParams()
