"""What a round of Storm's scheduler made of each topology, as the answer of a method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
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
    kept = [topology not in out for topology, _ in problem.instance.task_names()]
    return Placement(
        tuple(node if keep else UNPLACED for node, keep in zip(placement.nodes, kept, strict=True)),
        tuple(
            port if keep else UNPLACED for port, keep in zip(placement.workers, kept, strict=True)
        ),
    )
