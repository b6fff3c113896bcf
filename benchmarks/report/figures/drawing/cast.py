"""How each method is drawn, the same in every chart: its name, colour, line style and marker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slotwise.benchmarks.grading.rows import Kind
from slotwise.benchmarks.judged.statistics import VIRTUAL_BEST
from slotwise.benchmarks.judged.summary import Summary
from slotwise.benchmarks.report.figures.drawing.colours import SERIES, colour

MOST_LETTERS = 20
"""Of a name beside a line or a bar; tables have it in full."""

_DASHES = ("solid", (0, (5, 1.6)), (0, (1.2, 1.4)), (0, (6, 1.6, 1.2, 1.6)))
_MARKERS = "osD^vPX"

Dash = str | tuple[int, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Look:
    """How a method's line is drawn; `is_named` = with its name beside it."""

    colour: str
    dash: Dash
    marker: str
    width: float
    is_named: bool


@dataclass(frozen=True, slots=True)
class Cast:
    """All methods of a report.

    Parameters
    ----------
    labels
        Method -> what it is called instead.
    ranks
        Method -> its rank among the methods that are graded; exact engines have none.
    """

    labels: Mapping[str, str]
    ranks: Mapping[str, int]

    def name(self, method: str) -> str:
        """Return a method's name; that of an exact engine says that it is exact."""
        name = self.labels.get(method, method)
        return name if method in self.ranks or method == VIRTUAL_BEST else f"{name} (exact)"

    def short(self, method: str) -> str:
        """Return its name, cut to fit beside a line or a bar."""
        name = self.name(method)
        return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"

    def look(self, method: str) -> Look:
        """Return how its line is drawn; methods behind the best `SERIES` share a thin grey."""
        if method == VIRTUAL_BEST:
            return Look(colour("muted"), (0, (1.2, 1.4)), "", 1.3, True)
        rank = self.ranks.get(method)
        if rank is None:
            return Look(colour("text"), "solid", "*", 1.6, True)
        if rank >= SERIES:
            return Look(colour("rest"), "solid", "", 0.7, False)
        return Look(
            colour(f"series-{rank + 1}"), _DASHES[rank % len(_DASHES)], _MARKERS[rank], 1.6, True
        )

    def ordered(self, methods: Iterable[str]) -> list[str]:
        """Return exact engines, methods by their rank, and last the best of them."""
        last = len(self.ranks)
        return sorted(methods, key=lambda m: last if m == VIRTUAL_BEST else self.ranks.get(m, -1))

    @property
    def unnamed(self) -> int:
        """Number of methods without a colour and a name of their own."""
        return max(0, len(self.ranks) - SERIES)

    @property
    def grey_lines(self) -> str:
        """A sentence on the lines without a name; empty where there are none."""
        if not self.unnamed:
            return ""
        return f" Thin grey lines: the {self.unnamed} methods ranked behind these."


def cast_of(summary: Summary, labels: Mapping[str, str]) -> Cast:
    """Return how the methods of a summary are drawn."""
    graded = summary.methods.loc[summary.methods["kind"] != str(Kind.EXACT), "method"]
    return Cast(labels, {method: rank for rank, method in enumerate(dict.fromkeys(graded))})
