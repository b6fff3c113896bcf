"""Advice for people, shown as it is made."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.console import RenderableType

from slotwise.cli.render.tables import MOST_ROWS, more_rows, show, table
from slotwise.models.display import counted
from slotwise.models.values import short_text

if TYPE_CHECKING:
    from slotwise.pipeline.following.advice import Advice
    from slotwise.pipeline.following.saving import Saving

_WHY = {
    "gain": "A rebalance pays: it gains {gain}",
    "upheld": "A rebalance still pays: it gains {gain}",
    "small": "No rebalance pays: the best one gains {gain}",
    "cooldown": "Wait: a rebalance gains {gain}, but advice ended only at {since}",
}


def show_advice(advice: Advice) -> None:
    """Show one advice: a line, and if a rebalance pays its costs and moves."""
    saving = advice.saving
    parts: list[RenderableType] = [_headline(advice)]
    if saving.violations:
        parts.append(f"  What runs now breaks hard rules ({len(saving.violations)}), such as")
        parts.append(f"  {saving.violations[0]}")
    if advice.pays:
        parts += [_costs(saving), *_moves(saving)]
    show(*parts)


def _headline(advice: Advice) -> str:
    saving, since = advice.saving, advice.state.changed_ms
    if saving.is_repair:
        gain = "hard rules that are broken now"
    elif any(term.best is None for term in saving.terms):
        gain = f"nothing: no placement with at most {counted(saving.max_moves, 'move')} was found"
    else:
        gain = f"{float(100 * saving.gain):.3g} % with {counted(len(saving.moves), 'move')}"
    why = _WHY[advice.reason].format(gain=gain, since="-" if since is None else _clock(since))
    batch = advice.batch
    return f"{_clock(batch.time_ms)}, batch {batch.number}, {batch.samples:,} samples. {why}."


def _costs(saving: Saving) -> RenderableType:
    rows = [
        (one.term, short_text(one.now), short_text(one.best), short_text(one.bound))
        for one in saving.terms
    ]
    return table(rows, ("term", "now", "best", "bound"), ("now", "best", "bound"))


def _moves(saving: Saving) -> list[RenderableType]:
    rows = [
        (move.name, *_place(move.before), *_place(move.after)) for move in saving.moves[:MOST_ROWS]
    ]
    heads = ("task", "from node", "worker", "to node", "worker")
    return [table(rows, heads), *more_rows(len(saving.moves), "moves")]


def _place(place: tuple[str, int] | None) -> tuple[str, str]:
    return ("(left out)", "") if place is None else (place[0], str(place[1]))


def _clock(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S}"
