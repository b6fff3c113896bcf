"""The exact engines by name."""

from __future__ import annotations

from slotwise.solver.assignment.dual_ascent import DUAL_ASCENT
from slotwise.solver.assignment.subset_dp import SUBSET_DP
from slotwise.solver.capacities import over_capacities
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.column_generation.engine import CONFIGURATIONS
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.compact.milp.engine import MILP
from slotwise.solver.core.engine import Engine
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.few_moves import FEW_MOVES
from slotwise.solver.orphans.engine import ORPHANS
from slotwise.solver.partition.engine import PARTITION

ENGINES: dict[str, Engine] = {
    engine.name: over_capacities(engine)
    for engine in (
        CONFIGURATIONS,
        CONNECTED,
        PARTITION,
        FEW_MOVES,
        ORPHANS,
        CP_SAT,
        MILP,
        SUBSET_DP,
        DUAL_ASCENT,
        EXHAUSTIVE,
    )
}
