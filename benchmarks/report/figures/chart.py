"""A chart and its images: drawn, as text and SVG for the page, and as files for a paper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

from slotwise.benchmarks.report.figures.drawing.canvas import image
from slotwise.benchmarks.report.figures.drawing.colours import ROLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


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


@dataclass(frozen=True)
class Chart:
    """A chart that was drawn; see `Figure` for its words and its table."""

    name: str
    title: str
    caption: str
    alt: str
    drawn: Drawn
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @cached_property
    def svg(self) -> bytes:
        """The image as SVG, drawn once: of a second one Matplotlib lays out some a little off."""
        return image(self.drawn, "svg")

    def figure(self) -> Figure:
        """Return it for the page."""
        svg = page_svg(self.svg.decode(), self.name, f"{self.title}. {self.alt}")
        return Figure(self.name, self.title, self.caption, self.alt, svg, self.columns, self.rows)


_ID = re.compile(r' id="([^"]*)"')
_TAG = re.compile(r"<[^>]*>")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FONT = re.compile(r"font: (?:(?:normal|bold|700) )?([\d.]+px) [^;\"]*")
_REFERENCE = re.compile(r'(?:href="#|url\(#)([^")]*)')
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_LEVEL = re.compile(r' transform="rotate\(-?0 [^"]*"| font-family: [^;"]*;')
_PATH = re.compile(r' d="([^"]*)"')
_NUMBER = re.compile(r"-?\d+\.\d+")
_DECIMALS = re.compile(r"(\d+\.\d\d)\d+")
_VARIABLES = {role.light: role.variable for role in ROLES.values()}


def page_svg(written: str, name: str, label: str) -> str:
    """Return `written` for a page.

    Parameters
    ----------
    written
        What Matplotlib wrote, with the light colours of roles only.
    name
        Of the figure; ids begin with it, so that two figures share none.
    label
        What a screen reader says.

    Raises
    ------
    KeyError
        For a colour that is that of no role.
    """
    inside = written[written.index("<g ") : written.rindex("</svg>")]
    inside = _COMMENT.sub("", inside)
    size = re.search(r'viewBox="([^"]*)"', written)
    assert size is not None, "Matplotlib writes a view box"
    used = frozenset(_REFERENCE.findall(inside))
    inside = _TAG.sub(lambda tag: _short_tag(tag[0], name, used), inside)
    inside = re.sub(r"\s*\n\s*", "\n", inside)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="{size[1]}" role="img" '
        f'aria-label="{escape(label)}">\n'
        f'<g style="stroke-linejoin: round">\n{inside}</g></svg>'
    )


def _short_tag(tag: str, name: str, used: frozenset[str]) -> str:
    """Return a tag with the page's colours and font, ids of its own, and short numbers."""
    tag = _COLOUR.sub(lambda found: _VARIABLES[found[0]], tag)
    tag = _FONT.sub(r"font-size: \1", tag)
    tag = _LEVEL.sub("", tag)
    tag = _PATH.sub(lambda found: f' d="{_short_path(found[1])}"', tag)
    tag = _DECIMALS.sub(r"\1", tag)
    tag = _ID.sub(lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", tag)
    tag = _REFERENCE.sub(lambda found: found[0].replace("#", f"#{name}-"), tag)
    return tag.replace("xlink:href", "href")


def _short_path(path: str) -> str:
    """Return a path with one decimal, level and upright lines short, no command said twice."""
    words = _NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), path).split()
    short: list[str] = []
    last_command, x, y = "", "", ""
    index = 0
    while index < len(words):
        command = words[index]
        if command not in ("M", "L"):
            # Curves, and the end of a path: as they are.
            return " ".join((*short, *words[index:]))
        new_x, new_y = words[index + 1 : index + 3]
        if command == "L" and new_y == y:
            command, numbers = "H", [new_x]
        elif command == "L" and new_x == x:
            command, numbers = "V", [new_y]
        else:
            numbers = [new_x, new_y]
        short += numbers if command == last_command and command != "M" else [command, *numbers]
        last_command, x, y = command, new_x, new_y
        index += 3
    return " ".join(short)
