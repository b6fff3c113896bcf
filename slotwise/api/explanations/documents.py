"""Parts of the JSON documents of ``explain``."""

from __future__ import annotations

from typing import Any

from slotwise.models.explanation.mending import mending
from slotwise.models.formats.placement_file import placement_document
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.solver.explain.placements.decisions import FirstMistake
from slotwise.solver.explain.placements.fewest_moves import FewestMoves


def placement_or_none(instance: Instance, placement: Placement | None) -> dict[str, Any] | None:
    """Return a placement as its file has it; ``None`` = there is none."""
    return None if placement is None else placement_document(instance, placement)


def mistake_or_none(instance: Instance, mistake: FirstMistake | None) -> dict[str, Any] | None:
    """Return the first mistake of a method as JSON-ready data; ``None`` = it is not known."""
    if mistake is None:
        return None
    names = ["/".join(name) for name in instance.task_names()]
    nodes = [node.id for node in instance.cluster.nodes]
    return {
        "decisions": [
            {"task": names[one.task], "node": nodes[one.node], "worker": one.worker}
            for one in mistake.decisions
        ],
        "possible": mistake.possible,
        "impossible": mistake.impossible,
        "settled": mistake.settled,
        "broken": [mending(one).to_document() for one in mistake.broken],
        "stuck": [
            {"task": names[one.task], "places": [place.to_document() for place in one.places]}
            for one in mistake.stuck
        ],
    }


def nearest_or_none(instance: Instance, nearest: FewestMoves | None) -> dict[str, Any] | None:
    """Return the nearest valid placement as JSON-ready data; ``None`` = it was not looked for."""
    if nearest is None:
        return None
    names = ["/".join(name) for name in instance.task_names()]
    return {
        "status": str(nearest.status),
        "moved": [names[task] for task in nearest.moved],
        "placed": [names[task] for task in nearest.placed],
        "placement": placement_or_none(instance, nearest.placement),
    }
