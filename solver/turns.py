"""A turn of an engine in ``auto``, and the reasons it gives for it."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.engine import Engine

FIRST = "a first placement at once, and the bounds that hold for every placement"
SOON = "many tasks: a better placement to start from"
POLISH = "not proven: better placements in the time that is left"
PRICED = "distances by level: whole node contents can be listed and priced"
PIECED = "one topology: its connected pieces are priced without listing whole node contents"
LISTED = "distances by level: node contents listed with all that is decided on a node"
ENCLOSING = "more than two racks: all nodes in one rack bound the optimum from below"
ENCLOSED = "more than two racks: a placement in one rack bounds it from above"
TAKES_ALL = "takes every rule; has the time that is left"
BESIDE = "takes every rule; searches beside the others on the other threads"


@dataclass(frozen=True, slots=True)
class Turn:
    """An engine, why it is picked, and its share of the time that is left."""

    engine: Engine
    why: str
    share: float = 1.0
