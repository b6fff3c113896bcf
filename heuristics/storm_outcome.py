"""What a round of Storm's scheduler made of each topology, as the answer of a method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slotwise.models.instance.placement import Placement, Refusal, leave_out
from slotwise.models.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class TopologyOutcome:
    """What became of a topology: whether all of it has a place, and Storm's status of it."""

    scheduled: bool
    status: str


def whole_topologies(
    problem: Problem, placement: Placement, outcomes: Mapping[str, TopologyOutcome]
) -> Placement | Refusal:
    """Leave out what is not whole where that is allowed; else refuse in Storm's words."""
    out = {key for key, found in outcomes.items() if not found.scheduled}
    if out and not problem.may_reject:
        name = min(out, key=list(outcomes).index)
        return Refusal(f"topology {name}: {outcomes[name].status or 'evicted'}")
    return leave_out(problem.instance, placement, out)
