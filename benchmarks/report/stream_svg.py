"""A topology as SVG: components from left to right, rates on the streams between them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import count

import networkx as nx

WIDTH, HEIGHT = 150, 44
GAP_X, GAP_Y = 130, 26
MARGIN = 12

Edge = tuple[str, str, str]
"""Source, target, and what stands on the line between them."""


def draw_streams(components: Sequence[tuple[str, str]], edges: Sequence[Edge], title: str) -> str:
    """Return the drawing: a box for each component, with its second text below the name."""
    at = _positions([name for name, _ in components], edges)
    size_x = max((x for x, _ in at.values()), default=0) + WIDTH + MARGIN
    size_y = max((y for _, y in at.values()), default=0) + HEIGHT + MARGIN
    lines = [_edge(at[a], at[b], text) for a, b, text in edges if a != b]
    boxes = [_box(at[name], name, below) for name, below in components]
    return (
        f'<svg class="streams" viewBox="0 0 {size_x} {size_y}" width="{size_x}" role="img">'
        f"<title>{escape(title)}</title>{''.join(lines)}{''.join(boxes)}</svg>"
    )


def _positions(names: Sequence[str], edges: Sequence[Edge]) -> dict[str, tuple[int, int]]:
    """Return the corner of each box: its column is the longest way to it, cycles taken as one."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((a, b) for a, b, _ in edges)
    parts = nx.condensation(graph)
    column = dict.fromkeys(parts, 0)
    for part in nx.topological_sort(parts):
        for after in parts.successors(part):
            column[after] = max(column[after], column[part] + 1)
    row = {level: count() for level in set(column.values())}
    found = {}
    for name in names:
        level = column[parts.graph["mapping"][name]]
        x, y = level * (WIDTH + GAP_X), next(row[level]) * (HEIGHT + GAP_Y)
        found[name] = (MARGIN + x, MARGIN + y)
    return found


def _edge(start: tuple[int, int], end: tuple[int, int], text: str) -> str:
    x, y = start[0] + WIDTH, start[1] + HEIGHT // 2
    to_x, to_y = end[0], end[1] + HEIGHT // 2
    bend = max(40, abs(to_x - x) // 2)
    path = f"M{x},{y} C{x + bend},{y} {to_x - bend},{to_y} {to_x},{to_y}"
    return (
        f'<path class="stream" d="{path}"/>'
        f'<text class="note" text-anchor="middle" x="{(x + to_x) // 2}" y="{(y + to_y) // 2 - 4}">'
        f"{escape(text)}</text>"
    )


def _box(corner: tuple[int, int], name: str, below: str) -> str:
    x, y = corner
    short = name if len(name) <= 20 else f"{name[:19]}…"
    return (
        f'<g><title>{escape(name)}</title><rect class="node" x="{x}" y="{y}" width="{WIDTH}" '
        f'height="{HEIGHT}" rx="6"/><text class="node-name" x="{x + 8}" y="{y + 18}">'
        f"{escape(short)}</text>"
        f'<text class="note" x="{x + 8}" y="{y + 34}">{escape(below)}</text></g>'
    )
