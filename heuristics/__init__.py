"""Published placement methods, one file each; `HEURISTICS` lists them."""

from __future__ import annotations

from slotwise.heuristics.method import Method
from slotwise.heuristics.ras.documented import RAS_PAPER
from slotwise.heuristics.ras.methods import RAS_METHODS
from slotwise.heuristics.round_robin import ROUND_ROBIN
from slotwise.heuristics.rstorm.pseudocode import R_STORM_PSEUDOCODE
from slotwise.heuristics.rstorm.research_code import R_STORM
from slotwise.heuristics.rstorm.storm_1.method import R_STORM_1_0

HEURISTICS: dict[str, Method] = {
    "round-robin": ROUND_ROBIN,
    "r-storm": R_STORM,
    "r-storm-1.0": R_STORM_1_0,
    "r-storm-pseudocode": R_STORM_PSEUDOCODE,
    **RAS_METHODS,
    "ras-paper": RAS_PAPER,
}
