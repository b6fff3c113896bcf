"""Placements drawn side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from slotwise.api.inputs import (
    DecodedCluster,
    InstanceLike,
    PlacementLike,
    as_placement,
    as_problem,
)
from slotwise.api.paths import path_of
from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.benchmarks.report.viewer.view import page, standalone
from slotwise.models.display import listed
from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.instance.placement import to_places
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Result


def show(
    instance: InstanceLike,
    *placements: PlacementLike | Result,
    names: Sequence[str] = (),
    **decoded: Unpack[DecodedCluster],
) -> Drawing:
    """Draw placements side by side: nodes, loads, traffic, and differences from the first.

    Parameters
    ----------
    instance
        What is placed: an `Instance`, a compiled problem, a path, a dict or text.
    placements
        One or more: results of `solve`, or placements as `judge` takes them. Put the best first.
    names
        A name for each of them; by default, results have that of their engine, others a number.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, no placement, a result without one, a placement that is not of this
        instance, or another number of names than of placements.

    Examples
    --------
    >>> import slotwise
    >>> instance = slotwise.read_instance("docs/examples/word-count.json")
    >>> best, other = slotwise.solve(instance), slotwise.place(instance, "r-storm")
    >>> slotwise.show(instance, best, other, names=["optimum", "r-storm"])
    Drawing of word-count: optimum, r-storm
    """
    problem = as_problem(instance, **decoded)
    if not placements:
        raise InputError("needs one or more", field="placements", has_value=False)
    if names and len(names) != len(placements):
        rule = f"must be as many as placements ({len(placements)})"
        raise InputError(rule, field="names", value=f"{len(names)} names")
    named = names or [_name(one, i) for i, one in enumerate(placements, start=1)]
    shown = zip(named, placements, strict=True)
    return Drawing(problem, tuple(_shown(problem, name, one) for name, one in shown))


def drawing(verdict: Verdict) -> str:
    """Return a judged placement as HTML for a notebook."""
    name = "valid" if verdict.valid else "not valid"
    return standalone(verdict.problem, [Shown(name, verdict.placement)])


def _name(given: PlacementLike | Result, number: int) -> str:
    if isinstance(given, Result):
        return f"{given.engine}: {given.status}"
    return f"placement {number}"


def _shown(problem: Problem, name: str, given: PlacementLike | Result) -> Shown:
    if isinstance(given, Result):
        if given.placement is None:
            rule = f"has no placement: {given.status}"
            raise InputError(rule, field=f"placements ({name})", has_value=False)
        given = given.placement
    placement = as_placement(given, problem.instance)
    to_places(problem.instance, placement)  # raises for another instance's
    return Shown(name, placement)


# The result of `show`: a notebook displays it, and it can be written as a page.


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Placements of one instance side by side; a notebook displays them.

    Parameters
    ----------
    problem
        What is placed.
    placements
        The placements with their names; the others are compared with the first.
    """

    problem: Problem
    placements: tuple[Shown, ...]

    def __repr__(self) -> str:
        """One line: the instance and the names."""
        names = listed([one.name for one in self.placements])
        return f"Drawing of {self.problem.instance.name}: {names}"

    def _repr_html_(self) -> str:
        return standalone(self.problem, self.placements)

    def write_page(self, path: str | os.PathLike[str]) -> None:
        """Write an HTML page that needs nothing else, whole or not at all.

        Raises
        ------
        InputError
            When the file cannot be written.
        """
        write_atomically(Path(path_of(path, "path", "a path")), page(self.problem, self.placements))
