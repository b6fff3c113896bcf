"""Our own implementations of published methods, by name."""

from __future__ import annotations

from slotwise.heuristics.method import Method
from slotwise.heuristics.one_by_one import ROUND_ROBIN
from slotwise.heuristics.partitioning.instances import PARTITIONING_METHODS
from slotwise.heuristics.ras.documented import RAS_PAPER
from slotwise.heuristics.ras.methods import RAS_METHODS
from slotwise.heuristics.rstorm.pseudocode import R_STORM_PSEUDOCODE
from slotwise.heuristics.rstorm.research_code import R_STORM
from slotwise.heuristics.rstorm.storm_1.method import R_STORM_1_0
from slotwise.heuristics.stromax import (
    STROMAX_BOOTSTRAP,
    STROMAX_BOOTSTRAP_CONDENSED,
    STROMAX_GLOBAL,
    STROMAX_GLOBAL_COMM,
    STROMAX_REASSIGN,
)

HEURISTICS: dict[str, Method] = {
    "round-robin": ROUND_ROBIN,
    "r-storm": R_STORM,
    "r-storm-1.0": R_STORM_1_0,
    "r-storm-pseudocode": R_STORM_PSEUDOCODE,
    **RAS_METHODS,
    "ras-paper": RAS_PAPER,
    "stromax-bootstrap": STROMAX_BOOTSTRAP,
    "stromax-bootstrap-condensed": STROMAX_BOOTSTRAP_CONDENSED,
    "stromax-global": STROMAX_GLOBAL,
    "stromax-global-comm": STROMAX_GLOBAL_COMM,
    "stromax-reassign": STROMAX_REASSIGN,
    **PARTITIONING_METHODS,
}
