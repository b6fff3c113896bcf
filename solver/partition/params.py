"""Parameters of engine ``partition``: limits of size and of work.

They decide how far the engine goes, never what it may claim.
"""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.column_generation.params import ResidualParams
from slotwise.solver.parameters import Parameters

RESIDUAL_DEFAULTS = ResidualParams()


@dataclass(frozen=True, slots=True)
class PartitionParams(Parameters):
    """Of engine ``partition``.

    Parameters
    ----------
    max_classes
        Classes of tasks; a problem with more is not taken.
    max_cells
        Entries of the tables, eight bytes each; larger capacities are counted in coarser units.
    min_units
        Units of a part at least; with fewer the engine does not take the problem.
    max_parts
        Parts within the gap; with more it is not closed.
    smoothing_fraction
        Weight of the duals of the best bound against those of the restricted master.
    residual
        Of the search that closes the gap.
    """

    max_classes: int = 400
    max_cells: int = 40_000_000
    min_units: int = 100
    max_parts: int = 200_000
    smoothing_fraction: float = 0.7
    residual: ResidualParams = RESIDUAL_DEFAULTS


PARTITION_DEFAULTS = PartitionParams()
