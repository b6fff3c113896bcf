"""Published placement methods, and third-party methods; `HEURISTICS` lists ours by name.

A method takes a compiled problem and a random generator and returns a placement or a `Refusal` with
its reason (`method`). Ours follow their sources to the letter, oddities included: `one_by_one`
(Storm's even scheduler), `rstorm` (the article and the authors' code), `ras` (Storm's Resource
Aware Scheduler), `stromax` (streaming graph partitioning) and general graph partitioners
(`partitioning`). `sam` allocates instead of placing (threads and slots for a rate); its methods
are in `PAIRS`. `external` runs commands and Storm's own schedulers. `registry` finds any of
them by name, including entry points of other packages; `run` runs one and checks its answer.

Start with `method`. It may import `models`; no engine, no benchmark. ``docs/methods.md`` says how
to add one.
"""

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
