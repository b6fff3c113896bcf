"""Which engines are different enough from those behind a proof to confirm it."""

from __future__ import annotations

from collections.abc import Iterable

from slotwise.models.problem.problem import Problem
from slotwise.solver.engines import ENGINES

FAMILY = {
    "configurations": "column generation",
    "connected": "column generation",
    "partition": "column generation",
    "rack-cut": "column generation",
    "few-moves": "tables of changes",
    "orphans": "CP-SAT",
    "cp-sat": "CP-SAT",
    "milp": "mixed-integer programming",
    "subset-dp": "assignment",
    "dual-ascent": "assignment",
    "exhaustive": "enumeration",
}
"""Engine -> what it searches by: engines of a family share code, so they may share a mistake."""

ORDER = (
    *("exhaustive", "cp-sat", "configurations", "connected", "partition", "few-moves"),
    "orphans",
    *("milp", "subset-dp", "dual-ascent"),
)
"""Who is asked first: the plainest, then who proves most often."""


def second_engines(
    problem: Problem, behind: Iterable[str], *, by_work: bool = False
) -> tuple[str, ...]:
    """Return the engines that take `problem` and are of no family of those `behind` a proof.

    The best choice first; `by_work` leaves out engines that only seconds can limit. Names that are
    no engine's, of first placements for example, stand for no family.
    """
    families = {FAMILY[name] for name in behind if name in FAMILY}
    return tuple(
        name
        for name in ORDER
        if FAMILY[name] not in families
        and (ENGINES[name].takes_work or not by_work)
        and ENGINES[name].supports(problem) is None
    )
