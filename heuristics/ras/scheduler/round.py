"""What one round of Storm's Resource Aware Scheduler decided about each topology."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from slotwise.heuristics.ras.scheduler.priority import PriorityEntry
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement


class DecisionOutcome(StrEnum):
    """What became of a topology."""

    RUNNING = "running"
    """Nothing to do: no task was without a place."""
    SCHEDULED = "scheduled"
    """All its tasks have a place now."""
    REFUSED = "refused"
    """Tasks are without a place, for the reason in the message.

    (Storm's message says that it runs where a strategy lost a task and called it a success.)
    """


@dataclass(frozen=True, slots=True)
class Decision:
    """What a round did with a topology.

    Parameters
    ----------
    topology
        Index in the instance.
    outcome, message
        The message is Storm's status of the topology, word by word.
    tried
        Who was evicted on the working copy, in that order; no matter if it helped.
    evicted
        The same where the working copy was kept; else nobody.
    attempts
        How often it was tried to make it fit, 0 where nothing was to do.
    states, backtracked
        Of the strategy's search, over all attempts.
    before
        The cluster before that; ``None`` where nothing was to do.
    """

    topology: int
    outcome: DecisionOutcome
    message: str
    tried: tuple[int, ...] = ()
    evicted: tuple[int, ...] = ()
    attempts: int = 0
    states: int = 0
    backtracked: int = 0
    before: Placement | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One round.

    Parameters
    ----------
    instance
        What was scheduled; what ran before is in it.
    order, decisions
        One each per topology, in the order of the round.
    placement
        The cluster after the round.
    """

    instance: Instance
    order: tuple[PriorityEntry, ...]
    decisions: tuple[Decision, ...]
    placement: Placement

    def of(self, topology: int) -> Decision:
        """Return the decision about `topology`."""
        return next(one for one in self.decisions if one.topology == topology)

    @property
    def refused(self) -> tuple[int, ...]:
        """Topologies with tasks that have no place after the round, in its order."""
        return tuple(d.topology for d in self.decisions if d.outcome is DecisionOutcome.REFUSED)

    @property
    def evicted(self) -> tuple[Evicted, ...]:
        """Who had to go, for whom, and whether the round placed it again."""
        return tuple(
            Evicted(victim, one.topology, self.of(victim).outcome is not DecisionOutcome.REFUSED)
            for one in self.decisions
            for victim in one.evicted
        )


@dataclass(frozen=True, slots=True)
class Evicted:
    """A topology that was evicted `by` another, and whether the round placed it again."""

    topology: int
    by: int
    again: bool
