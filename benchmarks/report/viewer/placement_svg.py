"""A placement as inline SVG: racks, nodes in them, tasks as squares, loads as bars.

Colours come from the page's style sheet (classes ``c0``, ``c1``, ...), so that a drawing reads in
light and dark. Every part has a ``title``: a tooltip, and words for those who cannot see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from slotwise.benchmarks.report.viewer.placement_view import (
    COLOURS,
    TIMES,
    DrawnRack,
    DrawnWorker,
    LoadBar,
    NodeView,
)

COLUMNS = 3
"""Nodes side by side."""

NODE_WIDTH, GAP, PADDING = 160, 10, 8
SQUARE, STEP = 10, 12
PER_ROW = (NODE_WIDTH - 2 * PADDING - 4) // STEP
HEAD, CHIP, BAR_HEIGHT = 18, 17, 20
MOST_CHIPS = 8
WIDTH = COLUMNS * (NODE_WIDTH + GAP) + GAP


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Some SVG and its height in pixels."""

    svg: str
    height: int


def draw(racks: Sequence[DrawnRack], title: str) -> str:
    """Return the SVG of a placement.

    Parameters
    ----------
    racks
        What to show; see `placement_view.racks_of`.
    title
        What the drawing is, for tooltips and screen readers.
    """
    parts, top = [], 0
    for rack in racks:
        piece = _rack(rack)
        parts.append(_at(0, top, piece.svg))
        top += piece.height + GAP
    return (
        f'<svg class="placement" role="img" viewBox="0 0 {WIDTH} {max(top - GAP, 1)}" '
        f'width="{WIDTH}" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _rack(rack: DrawnRack) -> _Drawing:
    rows = [rack.nodes[i : i + COLUMNS] for i in range(0, len(rack.nodes), COLUMNS)]
    parts, top = [], HEAD + 6
    for row in rows:
        pieces = [_node(node) for node in row]
        height = max(piece.height for piece in pieces)
        for column, piece in enumerate(pieces):
            left = GAP + column * (NODE_WIDTH + GAP)
            box = f'<rect class="node" width="{NODE_WIDTH}" height="{height}" rx="5"/>'
            parts.append(_at(left, top, piece.svg.replace(_BOX, box, 1)))
        top += height + GAP
    label = _text(GAP, 16, f"rack {rack.name}", "rack-name", most=40)
    note = _text(WIDTH - GAP, 16, rack.note, "note", most=70, end=True) if rack.note else ""
    height = top if rows else HEAD + 10
    box = f'<rect class="rack" width="{WIDTH}" height="{height}" rx="8"/>'
    return _Drawing(f"<g>{box}{label}{note}{''.join(parts)}</g>", height)


_BOX = "<!--box-->"


def _node(node: NodeView) -> _Drawing:
    parts = [_text(PADDING, 14, node.name, "node-name", most=22)]
    top = HEAD + 4
    pieces = [_chips(node)] if node.crowded else [_worker(worker) for worker in node.workers]
    for piece in pieces:
        parts.append(_at(PADDING, top, piece.svg))
        top += piece.height + 3
    top += 2
    for bar in node.bars:
        parts.append(_at(PADDING, top, _bar(bar)))
        top += BAR_HEIGHT
    title = f"<title>{escape(node.summary)}</title>"
    return _Drawing(
        f'<g class="{"busy" if pieces else "idle"}">{title}{_BOX}{"".join(parts)}</g>', top + 4
    )


def _worker(worker: DrawnWorker) -> _Drawing:
    squares, index = [], 0
    for component in worker.components:
        cells = []
        for _ in range(component.count):
            x, y = index % PER_ROW * STEP + 3, index // PER_ROW * STEP + 3
            cells.append(f'<rect x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}" rx="2"/>')
            index += 1
        title = f"{component.name} {TIMES}{component.count}, {worker.name}"
        squares.append(
            f'<g class="c{component.colour % COLOURS}"><title>{escape(title)}</title>'
            f"{''.join(cells)}</g>"
        )
    height = -(-index // PER_ROW) * STEP + 4
    width = NODE_WIDTH - 2 * PADDING
    box = f'<rect class="worker" width="{width}" height="{height}" rx="3"/>'
    return _Drawing(f"{box}{''.join(squares)}", height)


def _chips(node: NodeView) -> _Drawing:
    """Show one square per component with its number of tasks, for nodes full of tasks."""
    totals: dict[tuple[str, int], int] = {}
    for worker in node.workers:
        for component in worker.components:
            key = component.name, component.colour
            totals[key] = totals.get(key, 0) + component.count
    shown = list(totals.items())[:MOST_CHIPS]
    parts = [
        f'<g class="c{colour % COLOURS}"><title>{escape(name)} {TIMES}{count}</title>'
        f'<rect y="{i * CHIP + 3}" width="{SQUARE}" height="{SQUARE}" rx="2"/></g>'
        + _text(SQUARE + 5, i * CHIP + 12, f"{TIMES}{count} {name}", "note", most=22)
        for i, ((name, colour), count) in enumerate(shown)
    ]
    hidden = len(totals) - len(shown)
    if hidden:
        parts.append(_text(0, len(shown) * CHIP + 12, f"and {hidden} more components", "note"))
    return _Drawing("".join(parts), (len(shown) + bool(hidden)) * CHIP)


def _bar(bar: LoadBar) -> str:
    """Draw a load bar; its end is the larger of capacity and load, what exceeds is red."""
    width = NODE_WIDTH - 2 * PADDING
    full = max(bar.load, bar.capacity or 0.0) or 1.0
    fits = bar.load if bar.capacity is None else min(bar.load, bar.capacity)
    filled = width * (0.5 if bar.capacity is None and bar.load else fits / full)
    over = width * (bar.load - fits) / full
    red = f'<rect class="over" x="{filled:.1f}" y="12" width="{over:.1f}" height="4"/>'
    style = "note alarm" if over else "note"
    return (
        f"<g><title>{escape(bar.title)}</title>"
        + _text(0, 9, bar.name, style, most=12)
        + _text(width, 9, bar.label, style, end=True)
        + f'<rect class="track" y="12" width="{width}" height="4" rx="2"/>'
        + f'<rect class="load" y="12" width="{filled:.1f}" height="4" rx="2"/>'
        + (red if over else "")
        + "</g>"
    )


def _text(x: int, y: int, text: str, style: str, *, most: int = 99, end: bool = False) -> str:
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    anchor = ' text-anchor="end"' if end else ""
    return f'<text class="{style}" x="{x}" y="{y}"{anchor}>{escape(short)}</text>'


def _at(x: int, y: int, svg: str) -> str:
    return f'<g transform="translate({x},{y})">{svg}</g>'


def legend(names: Iterable[tuple[str, int]]) -> str:
    """Return the key of colours as HTML: name and colour index of each component."""
    items = (
        f'<li><svg width="12" height="12" aria-hidden="true"><g class="c{colour % COLOURS}">'
        f'<rect width="12" height="12" rx="2"/></g></svg>{escape(name)}</li>'
        for name, colour in names
    )
    return f'<ul class="legend">{"".join(items)}</ul>'
