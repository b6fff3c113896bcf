"""Curves as SVG files, drawn by Matplotlib, which is loaded when one is drawn."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.performance.model import PerformanceModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette: distinguishable with any colour vision.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = "osD^vPX"


@dataclass(frozen=True, slots=True)
class Line:
    """A curve: its label and its points (x, y), x rising."""

    label: str
    points: Sequence[tuple[float, float]]


def check_svg(path: Path, option: str = "--plot") -> None:
    """Refuse a file that is not an ``.svg``, before anything is computed."""
    if path.suffix.lower() != ".svg":
        raise InputError("must end in .svg", field=option, value=str(path))


def plot_models(path: Path, models: Mapping[str, PerformanceModel]) -> None:
    """Draw each model: threads against peak rate (left axis), CPU and memory (right axis)."""
    figure = _new_figure(len(models))
    for index, (name, model) in enumerate(models.items(), 1):
        axes = figure.add_subplot(len(models), 1, index)
        points = model.measurements
        threads = [one.threads for one in points]
        rates = [float(one.peak_rate) for one in points]
        axes.plot(threads, rates, color=_COLOURS[0], marker=_MARKERS[0], label="peak rate")
        axes.set(title=name, xlabel="threads on one slot", ylabel="tuples/s")
        axes.set_ylim(bottom=0)
        share = axes.twinx()
        for number, kind in enumerate(("cpu", "memory"), 1):
            values = [float(getattr(one, kind)) for one in points]
            share.plot(threads, values, color=_COLOURS[number], marker=_MARKERS[number], label=kind)
        share.set_ylim(bottom=0)
        share.set_ylabel("% of the slot")
        handles = [*axes.get_lines(), *share.get_lines()]
    figure.legend(handles=handles, loc="outside upper right", ncols=3)
    _write(path, figure)


def plot_lines(path: Path, lines: Sequence[Line], x: str, y: str) -> None:
    """Draw curves over a common x axis; `x` and `y` name the axes with their units."""
    figure = _new_figure(1)
    axes = figure.add_subplot()
    for index, line in enumerate(lines):
        colour = _COLOURS[index % len(_COLOURS)]
        marker = _MARKERS[index % len(_MARKERS)]
        axes.plot(*zip(*line.points, strict=True), color=colour, marker=marker, label=line.label)
    axes.set(xlabel=x, ylabel=y)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    _write(path, figure)


def _new_figure(rows: int) -> Figure:
    """Return an empty figure with room for a number of charts below each other."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    # The same figures give the same file; text stays text.
    rcParams.update({"svg.hashsalt": "slotwise", "svg.fonttype": "none"})
    return Figure(figsize=(8, 1 + 3 * rows), layout="constrained")


def _write(path: Path, figure: Figure) -> None:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    write_atomically(path, text.getvalue())
