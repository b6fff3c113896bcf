"""The exact engines, and which one ``auto`` picks."""

from __future__ import annotations

from slotwise.models.problem import Problem
from slotwise.solver.cp_sat import CP_SAT
from slotwise.solver.engine import Engine
from slotwise.solver.exhaustive import EXHAUSTIVE

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (CP_SAT, EXHAUSTIVE)}


def choose(problem: Problem) -> Engine:
    """Return the engine for ``auto``: CP-SAT, which takes every problem."""
    return CP_SAT
