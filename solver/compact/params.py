"""Parameters of the engines that solve the compact model."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class CpSatParams(Parameters):
    """Of engine ``cp-sat``.

    Parameters
    ----------
    max_counts
        Most variables; above it building and presolving would take minutes, and the problem is
        declined.
    report_fraction
        Largest share of the search's time for reporting better placements as they are found.
    max_pair_tasks
        Most tasks for which the network cost goes by pairs of tasks where it can; 0 = it never
        does. `slotwise partition` sets it.
    """

    max_counts: int = 20_000
    report_fraction: float = 0.05
    max_pair_tasks: int = 0


@dataclass(frozen=True, slots=True)
class MilpParams(Parameters):
    """Of engine ``milp``.

    Parameters
    ----------
    max_columns
        Most columns of the linear model; a problem with more is declined.
    max_pair_tasks
        As in `CpSatParams`.
    """

    max_columns: int = 300_000
    max_pair_tasks: int = 0


CP_SAT_DEFAULTS = CpSatParams()
MILP_DEFAULTS = MilpParams()
