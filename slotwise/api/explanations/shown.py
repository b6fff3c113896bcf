"""What the answers of ``explain`` show of themselves: a few lines, and a table in notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from slotwise.models.display import block, counted, html_line, html_table
from slotwise.models.explanation.alternatives import Alternative
from slotwise.models.explanation.cost_split import CostSplit
from slotwise.models.instance.instance import Instance
from slotwise.models.judge.moves import TaskMove
from slotwise.models.judge.verdict import Verdict
from slotwise.models.values import short_text
from slotwise.solver.explain.comparison import Comparison
from slotwise.solver.explain.explanation import Explanation
from slotwise.solver.explain.first_mistake import FirstMistake

Row = tuple[str, str]
"""What a line is about, and what it says."""


class Shown:
    """An answer that is shown as a first line and rows below it."""

    __slots__ = ()

    def __repr__(self) -> str:
        """At most five lines."""
        head, rows = self._shown()
        return block(head, [f"{about}: {text}" for about, text in rows])

    def _repr_html_(self) -> str:
        head, rows = self._shown()
        return html_line(head) + html_table(("", ""), rows, len(rows))

    def _shown(self) -> tuple[str, list[Row]]:
        raise NotImplementedError


def values(verdict: Verdict) -> str:
    """Return the values of the terms: ``overload 0, network 23``."""
    return ", ".join(f"{term.term} {short_text(term.value)}" for term in verdict.objective)


def stream_rows(split: CostSplit) -> list[Row]:
    """Return the network cost of each stream, the dearest first."""
    return [(f"{s.source} -> {s.target}", f"network {short_text(s.total)}") for s in split.streams]


def infeasible_rows(found: Explanation) -> list[Row]:
    """Return the first conflict, then the repairs with their prices."""
    rows = [("conflict", conflict.summary) for conflict in found.conflicts[:1]]
    return rows + [(f"repair at price {short_text(one.price)}", one.text) for one in found.repairs]


def mistake_rows(instance: Instance, mistake: FirstMistake | None) -> list[Row]:
    """Return the decision after which no completion exists, if it is known."""
    wrong = None if mistake is None else mistake.decision
    if mistake is None or wrong is None:
        return []
    task = "/".join(instance.task_names()[wrong.task])
    where = f"{task} on {instance.cluster.nodes[wrong.node].id}, worker {wrong.worker}"
    return [(f"decision {mistake.possible + 1} made it impossible", where)]


def comparison_head(found: Comparison) -> str:
    """Return how many tasks differ and how each term changes."""
    differ = f"{counted(len(found.moves), 'task')} differ{'s' if len(found.moves) == 1 else ''}"
    changes = [f"{term} {short_text(one)} -> {short_text(two)}" for term, one, two in found.terms]
    return "; ".join((differ, ", ".join(changes)))


def move_rows(moves: Iterable[TaskMove]) -> list[Row]:
    """Return where each task is in the first and in the second placement."""
    return [(move.name, f"{_place(move.before)} -> {_place(move.after)}") for move in moves]


def _place(place: tuple[str, int] | None) -> str:
    return "no place" if place is None else f"{place[0]}, worker {place[1]}"


def place_rows(places: Iterable[Alternative]) -> list[Row]:
    """Return what each other place would cost, or the rules that forbid it."""
    return [(f"{p.node}, worker {p.worker}", _verdict_on(p)) for p in places if not p.here]


def _verdict_on(place: Alternative) -> str:
    if place.forbidden_by:
        return "; ".join(map(str, place.forbidden_by))
    changes = [f"{term} {_signed(value)}" for term, value in place.change.items() if value]
    return ", ".join(changes) or "no change"


def _signed(value: Fraction) -> str:
    return f"{'+' if value > 0 else ''}{short_text(value)}"
