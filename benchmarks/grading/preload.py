"""What runs need, imported before a clock starts.

Imports (OR-Tools, HiGHS, Numba and ours take about two seconds) are not part of a method or an
engine. Of engines, nothing is solved and nothing compiled here: the first runs that use a compiled
loop have Numba load it from its cache on disk, or compile it, within their own clock; later ones
find it loaded (`children.compiled_loops`). Partitioners take so little time that this would be all
that is seen: `warm` runs them first.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from slotwise.benchmarks.grading.rows import EXACT_KINDS, Kind
from slotwise.models.problem.compile import compile_problem

_METHODS = ("slotwise.heuristics", "slotwise.models.prediction")
PACKAGES = {
    Kind.EXACT: (*_METHODS, "slotwise.solver"),
    Kind.CROSSCHECK: (*_METHODS, "slotwise.solver"),
    Kind.HEURISTIC: _METHODS,
    Kind.EXTERNAL: _METHODS,
}
"""Kind of run -> the packages it may import from."""


@cache
def preload(kind: Kind) -> None:
    """Import every module that a run of `kind` may use, those that are imported late included."""
    for package in PACKAGES[kind]:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)
    if kind in EXACT_KINDS:
        from slotwise.solver.engines import ENGINES

        for engine in ENGINES.values():
            engine.version()  # reads the metadata of packages, once


@cache
def warm(method: str) -> None:
    """Run a partitioner on two small instances, so that its loops and library are loaded."""
    from slotwise.heuristics.partitioning.partitioners import PARTITIONERS
    from slotwise.heuristics.registry import find_method
    from slotwise.heuristics.run import run_method
    from slotwise.models.families.registry import FAMILIES

    if method.partition(":")[0] not in PARTITIONERS:
        return
    chosen = find_method(method)
    for family in ("partition", "rstorm"):  # the latter's nodes overflow: parts are made to fit
        problem = compile_problem(FAMILIES[family].make(0, 0))
        if chosen.supports(problem) is None:
            run_method(problem, chosen, 0)
