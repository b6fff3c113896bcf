"""Matplotlib as the charts use it: the same drawing gives the same bytes, text stays text."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from slotwise.benchmarks.report.figures.drawing.colours import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN = 5.0
"""Of every chart, so that its text is still read on a phone (360 points wide)."""

FONT_POINTS = 9.5

# Names of methods may have a dollar sign; `Any`, because stubs of Matplotlib differ on the keys.
SETTINGS: Any = {
    "text.parse_math": False,
    "svg.hashsalt": "slotwise",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
    "font.size": FONT_POINTS,
    "axes.titlesize": FONT_POINTS + 0.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "text.color": colour("text"),
    "axes.titlecolor": colour("text"),
    "axes.labelcolor": colour("muted"),
    "axes.edgecolor": colour("rest"),
    "xtick.color": colour("rest"),
    "ytick.color": colour("rest"),
    "xtick.labelcolor": colour("muted"),
    "ytick.labelcolor": colour("muted"),
    "grid.color": colour("grid"),
    "grid.linewidth": 0.8,
    "hatch.color": colour("surface"),
    "hatch.linewidth": 0.8,
    "path.simplify_threshold": 0.5,
}


@contextmanager
def styled() -> Iterator[None]:
    """Return a context in which charts are drawn.

    Matplotlib says nothing there of letters that its font lacks, as emoji: it has to guess their
    width, but they stay text, which a browser has a font for.
    """
    with _settings(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from", UserWarning)
        yield


def _settings() -> AbstractContextManager[None]:
    from matplotlib import rc_context

    return rc_context(rc=SETTINGS)


def new_chart(heights: list[float]) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels of these heights (inches) below each other; inside `styled`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_IN, sum(heights)), layout="constrained")
    grid = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)
    return figure, [axes for row in grid for axes in row]


def image(figure: Figure, form: str) -> bytes:
    """Return the figure as ``svg``, ``pdf`` or ``png``, without a date in it.

    For PDF and PNG, Matplotlib warns of letters that its font lacks: they are lost there.
    """
    with styled() if form == "svg" else _settings():
        written = io.BytesIO()
        date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[form]
        figure.savefig(written, format=form, metadata=date, transparent=form != "png", dpi=150)
    return written.getvalue()
