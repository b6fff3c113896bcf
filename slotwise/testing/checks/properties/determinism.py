"""Whether a scheduler answers the same when it is asked the same."""

from __future__ import annotations

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.testing.checks.answer import Answer
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.scheduler import HASH_SEEDS
from slotwise.testing.checks.trial import REFUSED, Trial

CALLS = 3
"""How often a scheduler is asked the same, with the same seed."""


def is_deterministic(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that each call, with the same seed, has the same answer; reasons may differ.

    Python's seed of hashing differs from call to call: an order that follows from it shows.
    """
    first = trial.answer_anew(instance)
    for call in range(1, CALLS):
        other = trial.answer_anew(instance, HASH_SEEDS[call % len(HASH_SEEDS)])
        if not _are_alike(first, other):
            return Finding(f"answers {_shown(instance, first)}, then {_shown(instance, other)}")
    if isinstance(first, Refusal):
        raise NotJudgedError(REFUSED)
    return None


def _are_alike(one: Answer, other: Answer) -> bool:
    both_refuse = not isinstance(one, Placement) and not isinstance(other, Placement)
    return both_refuse or one == other


def _shown(instance: Instance, answer: Answer) -> str:
    if not isinstance(answer, Placement):
        return "with a refusal"
    ids = [node.id for node in instance.cluster.nodes]
    rows = zip(instance.task_names(), answer.nodes, answer.workers, strict=True)
    places = [
        f"{task} on {ids[n]}/{w}" if n >= 0 else f"{task} nowhere" for (_, task), n, w in rows
    ]
    if not places:
        return "with a placement of nothing"
    return ", ".join(places[:6]) + (", ..." if len(places) > 6 else "")
