"""Published placement methods, one file each; `HEURISTICS` lists them."""

from __future__ import annotations

from slotwise.heuristics.method import Method
from slotwise.heuristics.r_storm import R_STORM
from slotwise.heuristics.r_storm_1_0 import R_STORM_1_0
from slotwise.heuristics.r_storm_pseudocode import R_STORM_PSEUDOCODE
from slotwise.heuristics.ras_methods import RAS_METHODS
from slotwise.heuristics.ras_paper import RAS_PAPER
from slotwise.heuristics.round_robin import ROUND_ROBIN

HEURISTICS: dict[str, Method] = {
    "round-robin": ROUND_ROBIN,
    "r-storm": R_STORM,
    "r-storm-1.0": R_STORM_1_0,
    "r-storm-pseudocode": R_STORM_PSEUDOCODE,
    **RAS_METHODS,
    "ras-paper": RAS_PAPER,
}
