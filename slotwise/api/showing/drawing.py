"""What `show` returns: a notebook shows it, and it can be written as a page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from slotwise.api.inputs import path_of
from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.benchmarks.report.viewer.view import page, standalone
from slotwise.models.display import listed
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.problem.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Placements of one instance side by side; a notebook shows them.

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
