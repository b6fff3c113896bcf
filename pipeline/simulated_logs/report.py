"""What a reporter writes at once, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Prefix = Callable[[int], str]
"""What stands before a line that is written a number of milliseconds after the start."""

HEAD = "\0"
"""Stands for the head of a line, which is the same in all lines of a report."""


@dataclass(frozen=True, slots=True)
class Report:
    """Lines that are written together.

    Parameters
    ----------
    file
        Path below the output folder, without ``.gz``.
    ms
        When, in milliseconds after the start.
    prefix
        What each line begins with: it tells when the line was written.
    body
        The lines, `HEAD` in place of the beginning of each, and a line break after each.
    rest
        What follows the prefix in each line.
    lines
        How many there are.
    """

    file: str
    ms: int
    prefix: Prefix
    body: str
    rest: str
    lines: int

    def text(self) -> str:
        """Return the lines as they are written."""
        return self.body.replace(HEAD, self.prefix(self.ms) + self.rest)
