"""A chart of a report as text: title, caption, what one sees, SVG, and the table behind it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart of a report.

    Parameters
    ----------
    name
        Stable, of lower-case letters and hyphens: names of files and ids on a page.
    title
        A few words.
    caption
        What is drawn, on how many instances, and the definitions it rests on.
    alt
        One sentence with numbers that says what one sees.
    svg
        An ``<svg>`` element with role, label and view box; its colours are the CSS variables of
        `drawing.colours.ROLES`.
    columns, rows
        The table behind the chart: heads, and cells as text.
    """

    name: str
    title: str
    caption: str
    alt: str
    svg: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
