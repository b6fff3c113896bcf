"""What a scheduler may return, and how it becomes a placement or a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slotwise.models.errors import InputError
from slotwise.models.formats.placement_file import answer_from_data
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.instance.placement import Placement, Refusal, from_places

Answer = Placement | Refusal

FORMS = (
    "must be a Placement, a Refusal, the content of a placement file, "
    "or topology -> task -> (node, worker)"
)


def normalised(instance: Instance, answer: object) -> Answer:
    """Return what a scheduler returned as a placement or a refusal.

    Parameters
    ----------
    instance
        What was to be placed.
    answer
        A `Placement`, a `Refusal`, the content of a placement file, ``{"refused": "reason"}``, or
        a mapping topology -> ``component[index]`` -> place. A place is a `Place`, a pair
        ``(node, worker)`` or ``{"node": ..., "worker": ...}``. Tasks that are not named are not
        placed.

    Raises
    ------
    InputError
        When it is nothing of the kind, or names a task or node that the instance does not have.
    """
    if isinstance(answer, Refusal):
        return answer
    if isinstance(answer, Placement):
        _check_shape(instance, answer)
        return answer
    if not isinstance(answer, Mapping):
        raise InputError(FORMS, field="answer", value=type(answer).__name__)
    if "refused" in answer or "format" in answer:
        return answer_from_data(dict(answer), instance)
    return from_places(instance, {key: _tasks(key, tasks) for key, tasks in answer.items()})


def _check_shape(instance: Instance, placement: Placement) -> None:
    tasks, nodes = len(instance.task_names()), len(instance.cluster.nodes)
    if len(placement.nodes) != tasks:
        rule = f"must have one entry per task ({tasks}), not {len(placement.nodes)}"
        raise InputError(rule, field="answer", has_value=False)
    if max(placement.nodes, default=-1) >= nodes:
        rule = f"must be below the number of nodes ({nodes})"
        raise InputError(rule, field="answer.nodes", value=max(placement.nodes))


def _tasks(topology: str, tasks: object) -> dict[str, Place]:
    if not isinstance(tasks, Mapping):
        raise InputError(FORMS, field=f"answer.{topology}", value=type(tasks).__name__)
    return {task: _place(f"{topology}.{task}", place) for task, place in tasks.items()}


def _place(field: str, place: Any) -> Place:
    if isinstance(place, Place):
        return place
    if isinstance(place, Mapping) and set(place) == {"node", "worker"}:
        return Place(place["node"], place["worker"])
    if isinstance(place, tuple | list) and len(place) == 2:
        return Place(*place)
    rule = "must be a Place, (node, worker) or {node: ..., worker: ...}"
    raise InputError(rule, field=f"answer.{field}", value=str(place))
