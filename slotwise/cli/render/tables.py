"""Rich tables and plain sentences on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table

from slotwise.api.orphans import FirstPlaces
from slotwise.cli.exits import emit
from slotwise.models.display import counted, takes_escapes
from slotwise.models.values import short_text

MOST_ROWS = 40
"""A longer table is cut; the rest is in ``--json`` and ``--out``."""


MOST_WIDE = 1000
"""Columns of a table in a file."""


def show(*parts: RenderableType, whole: bool = False) -> None:
    """Print on stdout; names with brackets are names, not markup.

    With `whole`, tables that go into a file or a pipe keep their lines whole, however long.
    """
    console = Console(
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=False,
        color_system="auto" if takes_escapes(sys.stdout) else None,
    )
    with console.capture() as captured:
        usual = console.width
        for part in parts:
            is_whole = whole and isinstance(part, Table) and not console.is_terminal
            console.width = max(usual, _natural_width(console, part)) if is_whole else usual
            console.print(part)
    emit(captured.get())


def _natural_width(console: Console, part: RenderableType) -> int:
    return Measurement.get(console, console.options.update(max_width=MOST_WIDE), part).maximum


def table(rows: Iterable[Sequence[str]], heads: Sequence[str], right: Sequence[str] = ()) -> Table:
    """Return a table; columns named in `right` are numbers."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        made.add_column(head, justify="right" if head in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names in a row; of a long list the first ones and how many more."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def more_rows(count: int, what: str) -> list[str]:
    """Return the line that says how many of `count` rows were cut, if any were."""
    return [f"  ... and {count - MOST_ROWS} more {what}: see --json"] if count > MOST_ROWS else []


# The first line about orphans; it loads nothing heavy.


def show_first(first: FirstPlaces, *, search_follows: bool) -> None:
    """Show at once, in a line, whether the orphans have a place."""
    count = counted(len(first.orphans), "task")
    gone = dict.fromkeys(one.was.node for one in first.orphans if one.was is not None)
    of = f" of {', '.join(gone)}" if gone else ""
    if first.verdict is None:
        places = "no place found at once" + (", the search goes on" if search_follows else "")
    else:
        costs = (f"{one.term} {short_text(one.value)}" for one in first.verdict.objective)
        moves = counted(first.moves or 0, "other move")
        better = "; looking for better ones" if search_follows else ""
        places = f"a place for each, {moves} ({', '.join(costs)}){better}"
    emit(f"Orphans: {count}{of}; {places}.\n")
    sys.stdout.flush()
