"""What a search found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from slotwise.models.display import counted
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_hash
from slotwise.testing.checks.finding import Finding
from slotwise.testing.checks.table import Demand
from slotwise.testing.checks.trial import REFUSED, UNSUPPORTED

SMALL_TASKS, SMALL_NODES = 3, 2
"""Up to this size a failing instance is small; above, the message says why it is not."""


class State(StrEnum):
    """How a check ended."""

    HOLDS = "holds"
    FAILS = "fails"
    NOT_JUDGED = "not judged"
    """No instance could be judged, for the reasons that the report counts."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The smallest failing instance that was seen, and what is wrong on it.

    Parameters
    ----------
    instance, finding
        Where, and what.
    is_reduced
        Whether the reduction has tried all smaller instances that are one step away, and none
        fails in this way; ``None`` = nothing was reduced.
    """

    instance: Instance
    finding: Finding
    is_reduced: bool | None = None

    def size(self) -> str:
        """Return ``1 task, 2 nodes``."""
        tasks, nodes = self._counts()
        return f"{tasks} task{'s' * (tasks != 1)}, {nodes} node{'s' * (nodes != 1)}"

    def to_document(self) -> dict[str, Any]:
        """Return what is wrong, and on which instance, as JSON-ready data."""
        return {
            "kinds": [kind for kind in self.finding.kinds if kind],
            "finding": self.finding.message,
            "instance": instance_hash(self.instance),
        }

    def why_not_smaller(self) -> str:
        """Return why a large instance is the smallest; empty where it is small."""
        tasks, nodes = self._counts()
        if self.is_reduced is None or (tasks <= SMALL_TASKS and nodes <= SMALL_NODES):
            return ""
        if self.is_reduced:
            return (
                "No smaller instance was found: without any one node, or a task of any component, "
                "the failure goes away."
            )
        return "The time for making it smaller ran out; a smaller one may fail too."

    def _counts(self) -> tuple[int, int]:
        return len(self.instance.task_names()), len(self.instance.cluster.nodes)


@dataclass(frozen=True, slots=True)
class Report:
    """What a check says of a scheduler.

    Parameters
    ----------
    demand
        The check.
    scheduler
        The scheduler's name.
    examples
        Number of different instances that were looked at until the first on which it fails.
    judged
        Of these, how many the check says something of.
    not_judged
        Reason -> number of the others.
    failures
        The smallest instance found for each way in which it fails: for each rule that is broken.
        Empty = none was found.
    share
        Of the judged instances those on which it holds; for checks of a share, else ``None``.
    """

    demand: Demand
    scheduler: str
    examples: int
    judged: int
    not_judged: Mapping[str, int]
    failures: tuple[Failure, ...]
    share: float | None = None

    @property
    def failure(self) -> Failure | None:
        """The first of the failures; ``None`` = the check does not fail."""
        return next(iter(self.failures), None)

    @property
    def refused(self) -> int:
        """Number of the instances that the scheduler refuses, or does not support at all."""
        return sum(self.not_judged.get(why, 0) for why in (REFUSED, UNSUPPORTED))

    @property
    def state(self) -> State:
        """Whether the check holds."""
        if self.failure is not None:
            return State.FAILS
        return State.HOLDS if self.judged else State.NOT_JUDGED

    def counts(self) -> str:
        """Return in words how many instances were judged, and why the others were not."""
        share = "" if self.share is None else f"; holds on {100 * self.share:.4g} %"
        others = [f"{count:,} not judged: {why}" for why, count in self.not_judged.items()]
        return "; ".join([f"{counted(self.judged, 'instance')} judged{share}", *others])

    def to_document(self) -> dict[str, Any]:
        """Return the report as JSON-ready data."""
        return {
            "check": str(self.demand),
            "state": self.state.value,
            "examples": self.examples,
            "judged": self.judged,
            "refused": self.refused,
            "not_judged": dict(self.not_judged),
            "share": self.share,
        }
