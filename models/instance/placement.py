"""A placement: the worker and node of every task."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance, Place

UNPLACED = -1


@dataclass(frozen=True, slots=True)
class Placement:
    """Node and worker of each task, in the instance's canonical task order.

    Parameters
    ----------
    nodes
        Index of the node of each task; `UNPLACED` where the task is not placed.
    workers
        Label of its worker, 0 or more, meaningful only together with the node; `UNPLACED` where
        the task is not placed. Labels need not be dense.
    """

    nodes: tuple[int, ...]
    workers: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check shapes and signs."""
        if len(self.nodes) != len(self.workers):
            raise InputError(
                f"must be as long as nodes ({len(self.nodes)})",
                field="workers",
                value=f"{len(self.workers)} entries",
            )
        for node, worker in zip(self.nodes, self.workers, strict=True):
            if (node == UNPLACED) != (worker == UNPLACED) or min(node, worker) < UNPLACED:
                raise InputError(
                    "a task has both a node and a worker, or neither",
                    field="placement",
                    value=(node, worker),
                )


def from_places(instance: Instance, places: Mapping[str, Mapping[str, Place]]) -> Placement:
    """Return the placement written as topology id -> ``component[index]`` -> place.

    Tasks that are not named are unplaced. Raises `InputError` for an unknown topology, task or
    node.
    """
    node_index = {node.id: index for index, node in enumerate(instance.cluster.nodes)}
    names = instance.task_names()
    known = set(names)
    for topology, tasks in places.items():
        for task, place in tasks.items():
            if (topology, task) not in known:
                raise InputError(
                    "must be a task of the instance",
                    field=f"topologies.{topology}",
                    value=task,
                )
            if place.node not in node_index:
                raise InputError(
                    "must be a node of the instance",
                    field=f"topologies.{topology}.{task}.node",
                    value=place.node,
                )
    nodes, workers = [], []
    for topology, task in names:
        found = places.get(topology, {}).get(task)
        nodes.append(UNPLACED if found is None else node_index[found.node])
        workers.append(UNPLACED if found is None else found.worker)
    return Placement(tuple(nodes), tuple(workers))


def to_places(instance: Instance, placement: Placement) -> dict[str, dict[str, Place]]:
    """Return a placement by names; topologies without a placed task are left out."""
    places: dict[str, dict[str, Place]] = {}
    names = instance.task_names()
    for (topology, task), node, worker in zip(
        names, placement.nodes, placement.workers, strict=True
    ):
        if node != UNPLACED:
            here = Place(instance.cluster.nodes[node].id, worker)
            places.setdefault(topology, {})[task] = here
    return places


def tasks_by_worker(
    instance: Instance, placement: Placement
) -> dict[tuple[str, int, int], list[str]]:
    """Return (topology, index of the node, label of the worker) -> names of the tasks there."""
    found: dict[tuple[str, int, int], list[str]] = {}
    rows = zip(instance.task_names(), placement.nodes, placement.workers, strict=True)
    for (topology, task), node, worker in rows:
        if node != UNPLACED:
            found.setdefault((topology, node, worker), []).append(task)
    return found


def leave_out(instance: Instance, placement: Placement, topologies: Collection[str]) -> Placement:
    """Return the placement without the tasks of these topologies."""
    kept = [topology not in topologies for topology, _ in instance.task_names()]
    nodes, workers = (
        tuple(value if keep else UNPLACED for value, keep in zip(values, kept, strict=True))
        for values in (placement.nodes, placement.workers)
    )
    return Placement(nodes, workers)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A method found no placement, or does not apply; `reason` in words for people."""

    reason: str
