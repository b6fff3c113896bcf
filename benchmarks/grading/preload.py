"""What runs need, imported before a clock starts.

Imports (OR-Tools, HiGHS, Numba and ours take about two seconds) are no part of a method or an
engine. Nothing is solved and nothing compiled here: a process that uses compiled loops for the
first time has Numba load them from its cache on disk, or compile them, within its own clock.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from slotwise.benchmarks.grading.rows import Kind

PACKAGES = {
    Kind.EXACT: ("slotwise.heuristics", "slotwise.solver"),
    Kind.HEURISTIC: ("slotwise.heuristics",),
    Kind.EXTERNAL: ("slotwise.heuristics",),
}
"""Kind of run -> the packages it may import from."""


@cache
def preload(kind: Kind) -> None:
    """Import every module that a run of `kind` may use, those that are imported late included."""
    for package in PACKAGES[kind]:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)
    if kind is Kind.EXACT:
        from slotwise.solver.engines import ENGINES

        for engine in ENGINES.values():
            engine.version()  # reads the metadata of packages, once
