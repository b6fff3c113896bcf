"""The exact engines by name."""

from __future__ import annotations

from slotwise.solver.column_engine import CONFIGURATIONS
from slotwise.solver.cp_sat import CP_SAT
from slotwise.solver.dual_ascent import DUAL_ASCENT
from slotwise.solver.engine import Engine
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.milp import MILP, MILP_CBC
from slotwise.solver.pieces import PIECES
from slotwise.solver.subset_dp import SUBSET_DP

ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        CONFIGURATIONS,
        PIECES,
        CP_SAT,
        MILP,
        MILP_CBC,
        SUBSET_DP,
        DUAL_ASCENT,
        EXHAUSTIVE,
    )
}
