"""The explanation why no placement exists: conflicts and repairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from slotwise.models.infeasibility.statement import Statement
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.instance.placement import Placement
from slotwise.models.values import plain
from slotwise.solver.explain.change import Change
from slotwise.solver.explain.constraint import Constraint

Places = Mapping[str, Mapping[str, Place]]
"""Topology id -> ``component[index]`` -> place."""


class Feasibility(StrEnum):
    """Whether an instance has a placement."""

    FEASIBLE = "feasible"
    """A valid placement was found."""
    INFEASIBLE = "infeasible"
    """Proven: no placement keeps all hard rules."""
    UNDECIDED = "undecided"
    """Neither was proven within the time limit."""


class Cause(StrEnum):
    """Why the constraints of a conflict cannot hold together."""

    TASK_TOO_LARGE = "task_too_large"
    """A single task is larger than every node or worker that could hold it."""
    SHORTAGE = "shortage"
    """All tasks together need more than all nodes together have."""
    FRAGMENTATION = "fragmentation"
    """The totals suffice, but the tasks do not fit into the pieces that the nodes leave."""
    COMBINATION = "combination"
    """No single quantity is short; several rules exclude each other."""


@dataclass(frozen=True, slots=True)
class Member:
    """A constraint of a conflict, with what is required and what is available.

    Parameters
    ----------
    constraint
        The constraint.
    required, available
        In `unit`; ``None`` where the constraint has no such quantity or it was not computed.
    unit
        The unit, for example ``memory_mb``, ``slots`` or ``tasks``.
    detail
        The meaning of the two quantities, in words; may be empty.
    witness
        A valid placement of the conflict without this constraint, which proves that the constraint
        is needed; ``None`` where none was found within the time.
    """

    constraint: Constraint
    required: Fraction | None = None
    available: Fraction | None = None
    unit: str = ""
    detail: str = ""
    witness: Places | None = field(default=None, repr=False, compare=False)

    def to_document(self) -> dict[str, Any]:
        """Return the member as JSON-ready data; without the witness."""
        constraint = self.constraint
        return {
            "name": constraint.name,
            "rule": constraint.rule,
            "nodes": list(constraint.nodes),
            "topology": constraint.topology or None,
            "subject": constraint.subject or None,
            "other": constraint.other or None,
            "limit": None if constraint.amount is None else plain(constraint.amount),
            "required": None if self.required is None else plain(self.required),
            "available": None if self.available is None else plain(self.available),
            "unit": self.unit or None,
            "detail": self.detail or None,
            "needed": self.witness is not None,
        }


@dataclass(frozen=True, slots=True)
class Conflict:
    """Constraints of an instance that cannot hold together.

    Parameters
    ----------
    members
        Limits first, then the tasks that must be placed. Alone, with no other constraint, they
        have no placement.
    minimal
        Whether leaving out any one member was shown to leave a placement (`Member.witness`);
        ``False`` = not proven within the time.
    cause
        See `Cause`.
    summary
        One or two sentences.
    """

    members: tuple[Member, ...]
    minimal: bool
    cause: Cause
    summary: str

    @property
    def limits(self) -> tuple[Member, ...]:
        """Return the members that limit where tasks may go."""
        return tuple(one for one in self.members if one.constraint.is_limit)

    @property
    def tasks(self) -> tuple[Member, ...]:
        """Return the members that require tasks to be placed."""
        return tuple(one for one in self.members if not one.constraint.is_limit)

    def to_document(self) -> dict[str, Any]:
        """Return the conflict as JSON-ready data."""
        return {
            "cause": str(self.cause),
            "summary": self.summary,
            "minimal": self.minimal,
            "members": [member.to_document() for member in self.members],
        }


@dataclass(frozen=True, slots=True)
class Repair:
    """Changes after which the instance has a placement, which was found by solving it.

    Parameters
    ----------
    changes
        One change, or several that are cheaper together, or that keep all tasks where no single
        one does.
    price
        By the prices of the call.
    least
        Whether every amount is proven minimal: with one step less, and all other changes
        unchanged, there is no placement.
    instance, placement
        The instance after the changes, and a valid placement of it.
    """

    changes: tuple[Change, ...]
    price: Fraction
    least: bool
    instance: Instance = field(repr=False, compare=False)
    placement: Placement = field(repr=False, compare=False)

    @property
    def text(self) -> str:
        """The changes in words."""
        return ", and ".join(change.text for change in self.changes)

    def to_document(self) -> dict[str, Any]:
        """Return the repair as JSON-ready data; without instance and placement."""
        return {
            "text": self.text,
            "price": plain(self.price),
            "least": self.least,
            "changes": [
                {
                    "kind": change.kind,
                    "text": change.text,
                    "amount": plain(change.amount),
                    "before": None if change.before is None else plain(change.before),
                    "after": None if change.after is None else plain(change.after),
                    "nodes": list(change.nodes),
                    "topologies": list(change.topologies),
                    "subject": change.subject or None,
                    "other": change.other or None,
                }
                for change in self.changes
            ],
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an instance has no placement, and how to repair it.

    Parameters
    ----------
    status
        See `Feasibility`. There are conflicts and repairs only where it is ``infeasible``.
    placement
        A valid placement where it is ``feasible``; otherwise ``None``.
    conflicts
        The first is the one to read. Others share no limit with an earlier one; there may be
        more than were found.
    contradictions
        Simple reasons why the whole instance has no placement, each checked without a solver. They
        state how much is missing in total; a conflict, being minimal, states how much is missing
        for its own tasks.
    repairs
        Cheapest first; each resolves all conflicts. Empty where none was found within the time.
    complete
        Whether every repair that was considered was decided within the time, and all amounts are
        proven minimal.
    cheapest_proven
        Whether it is proven that no combination of changes, whatever their number, costs less than
        the first repair; without a repair: that none helps.
    seconds
        Wall-clock time.
    solves
        Number of instances that were solved for it.
    notes
        What was left out, in lines of text.
    """

    status: Feasibility
    placement: Placement | None = None
    conflicts: tuple[Conflict, ...] = ()
    repairs: tuple[Repair, ...] = ()
    complete: bool = True
    seconds: float = 0.0
    solves: int = 0
    notes: tuple[str, ...] = ()
    contradictions: tuple[Statement, ...] = ()
    cheapest_proven: bool = False

    def to_document(self) -> dict[str, Any]:
        """Return the explanation as JSON-ready data, without placements."""
        return {
            "status": str(self.status),
            "contradictions": [one.to_document() for one in self.contradictions],
            "conflicts": [conflict.to_document() for conflict in self.conflicts],
            "repairs": [repair.to_document() for repair in self.repairs],
            "complete": self.complete,
            "cheapest_proven": self.cheapest_proven,
            "seconds": round(self.seconds, 3),
            "solves": self.solves,
            "notes": list(self.notes),
        }
