"""The first line about orphans; it loads nothing heavy."""

from __future__ import annotations

import sys

from slotwise.api.running.orphans import FirstPlaces
from slotwise.cli.exits import emit
from slotwise.models.display import counted
from slotwise.models.values import short_text


def show_first(first: FirstPlaces, *, search_follows: bool) -> None:
    """Show at once, in a line, whether the orphans have a place."""
    count = counted(len(first.orphans), "task")
    gone = dict.fromkeys(one.was.node for one in first.orphans if one.was is not None)
    of = f" of {', '.join(gone)}" if gone else ""
    if first.verdict is None:
        said = "no place found at once" + (", the search goes on" if search_follows else "")
    else:
        costs = (f"{one.term} {short_text(one.value)}" for one in first.verdict.objective)
        moves = counted(first.moves or 0, "other move")
        better = "; looking for better ones" if search_follows else ""
        said = f"a place for each, {moves} ({', '.join(costs)}){better}"
    emit(f"Orphans: {count}{of}; {said}.\n")
    sys.stdout.flush()
