"""A placement as one SVG image that needs nothing else, for pages that show images only."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from slotwise.benchmarks.report.viewer.boxes import Bar, Group, NodeBox, WorkerBox
from slotwise.benchmarks.report.viewer.components import tasks_of
from slotwise.benchmarks.report.viewer.racks import RackBox, drawn_roles, rack_boxes
from slotwise.benchmarks.report.viewer.side import Shown, side_of
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem

TIMES = "\N{MULTIPLICATION SIGN}"
COLUMNS = 3
"""Nodes side by side."""

NODE_WIDTH, GAP, PADDING = 170, 10, 8
INSIDE = NODE_WIDTH - 2 * PADDING
HEAD, LINE, SQUARE, BAR_HEIGHT = 18, 17, 13, 20
WIDTH = COLUMNS * (NODE_WIDTH + GAP) + GAP
MOST_NAME, MOST_LONG = 20, 70
"""Characters of a name, and of a line across the drawing, before they are cut."""

COLOURS = (
    *("#4477aa", "#ee6677", "#228833", "#b59a1c"),
    *("#3fa9c9", "#aa3377", "#e07020", "#778899"),
)
STYLE = """svg { background: #ffffff; } text { font-family: sans-serif; fill: #223344; }
.rack { fill: #f3f5f8; stroke: #d5dbe3; } .rack-name { font-size: 12px; font-weight: 600; }
.node { fill: #ffffff; stroke: #d5dbe3; } .node-name { font-size: 12px; font-weight: 600; }
.worker { fill: none; stroke: #d5dbe3; } .note { font-size: 10.5px; fill: #556677; }
.letter { font-size: 9px; font-weight: 700; text-anchor: middle; } .square { fill-opacity: .3; }
.track { fill: #e4e8ee; } .load { fill: #667788; }
.over { fill: #bb2233; } .alarm { fill: #bb2233; font-weight: 600; }
"""


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Some SVG and its height in pixels."""

    svg: str
    height: int


def draw(problem: Problem, placement: Placement, title: str) -> str:
    """Return the SVG of a placement.

    Parameters
    ----------
    problem
        What is placed.
    placement
        Of that instance; of a large one the image has the nodes with most tasks, and says so.
    title
        What the drawing is, for screen readers.

    Raises
    ------
    InputError
        When the placement is another instance's.
    """
    side = side_of(problem, Shown(title, placement), None)
    racks = rack_boxes(problem, side, tasks_of(problem), drawn_roles(problem, [side]))
    parts, top = [], 0
    for rack in racks:
        piece = _rack(rack)
        parts.append(_at(0, top, piece.svg))
        top += piece.height + GAP
    colours = "".join(
        f".c{i} {{ fill: {colour}; stroke: {colour}; }}\n" for i, colour in enumerate(COLOURS, 1)
    )
    return (
        f'<svg role="img" viewBox="0 0 {WIDTH} {max(top - GAP, 1)}" '
        f'width="{WIDTH}" xmlns="http://www.w3.org/2000/svg"><style>{STYLE}{colours}</style>'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _rack(rack: RackBox) -> _Drawing:
    parts, top = [], HEAD + 6
    for start in range(0, len(rack.nodes), COLUMNS):
        row = rack.nodes[start : start + COLUMNS]
        pieces = [_node(node) for node in row]
        height = max(piece.height for piece in pieces)
        for column, (node, piece) in enumerate(zip(row, pieces, strict=True)):
            box = _box("node", NODE_WIDTH, height, 5)
            title = f"<title>{escape(f'node {node.name}: {node.note}')}</title>"
            svg = f"<g>{title}{box}{piece.svg}</g>"
            parts.append(_at(GAP + column * (NODE_WIDTH + GAP), top, svg))
        top += height + GAP
    name = _text(GAP, 16, rack.name, "rack-name", most=40)
    note = _text(WIDTH - GAP, 16, rack.note, "note", most=MOST_LONG, end=True)
    if rack.left_out:
        parts.append(_text(GAP, top + 8, rack.left_out, "note", most=MOST_LONG))
        top += LINE
    return _Drawing(f"<g>{_box('rack', WIDTH, top, 8)}{name}{note}{''.join(parts)}</g>", top)


def _node(node: NodeBox) -> _Drawing:
    parts = [_text(PADDING, 14, node.name, "node-name", most=MOST_NAME)]
    top = HEAD + 4
    for worker in node.workers:
        piece = _worker(worker)
        parts.append(_at(PADDING, top, piece.svg))
        top += piece.height + 3
    if node.left_out:
        parts.append(_text(PADDING, top + 10, node.left_out, "note", most=30))
        top += LINE
    top += 2
    for bar in node.bars:
        parts.append(_at(PADDING, top, _bar(bar)))
        top += BAR_HEIGHT
    return _Drawing("".join(parts), top + 4)


def _worker(worker: WorkerBox) -> _Drawing:
    parts, top = [], 3
    if worker.name:
        parts.append(_text(5, top + 10, worker.name, "note"))
        top += LINE - 3
    for group in worker.groups:
        parts.append(_at(4, top, _group(group)))
        top += LINE
    return _Drawing(_box("worker", INSIDE, top, 3) + "".join(parts), top)


def _group(group: Group) -> str:
    """Draw a square with the component's letter, its name, and how many of its tasks there are."""
    component, half = group.component, SQUARE / 2
    title = f"{component.name}, tasks {group.indices}"
    return (
        f'<g><title>{escape(title)}</title><rect class="square c{component.series}" '
        f'width="{SQUARE}" height="{SQUARE}" rx="2"/>'
        f'<text class="letter" x="{half}" y="10">{escape(component.letter)}</text>'
        + _text(SQUARE + 5, 11, component.name, "note", most=MOST_NAME)
        + _text(INSIDE - 8, 11, f"{TIMES}{group.count}", "note", end=True)
        + "</g>"
    )


def _bar(bar: Bar) -> str:
    """Draw a load bar: what exceeds the capacity is red."""
    style = "note alarm" if bar.over else "note"
    words = _text(0, 9, bar.name, style, most=MOST_NAME) + _text(
        INSIDE, 9, bar.text, style, end=True
    )
    if bar.within is None:
        return f"<g>{words}</g>"
    within, over = INSIDE * bar.within / 100, INSIDE * bar.over / 100
    red = f'<rect class="over" x="{within:.1f}" y="12" width="{over:.1f}" height="4"/>'
    return (
        f'<g>{words}<rect class="track" y="12" width="{INSIDE}" height="4" rx="2"/>'
        f'<rect class="load" y="12" width="{within:.1f}" height="4" rx="2"/>'
        f"{red if bar.over else ''}</g>"
    )


def _box(style: str, width: int, height: int, radius: int) -> str:
    return f'<rect class="{style}" width="{width}" height="{height}" rx="{radius}"/>'


def _text(x: int, y: int, text: str, style: str, *, most: int = 99, end: bool = False) -> str:
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    anchor = ' text-anchor="end"' if end else ""
    return f'<text class="{style}" x="{x}" y="{y}"{anchor}>{escape(short)}</text>'


def _at(x: int, y: int, svg: str) -> str:
    return f'<g transform="translate({x},{y})">{svg}</g>'
