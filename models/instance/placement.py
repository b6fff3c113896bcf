"""A placement: the worker and node of every task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slotwise.models.display import counted, html_line, html_table, listed
from slotwise.models.errors import InputError, at, one_line
from slotwise.models.frame import frame
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.nouns import document

if TYPE_CHECKING:
    from slotwise.models.frame import DataFrame

UNPLACED = -1

TASK_COLUMNS = ("topology", "component", "index", "task", "node", "rack", "worker")
"""Of `Placement.to_frame`."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Node and worker of each task, in the instance's canonical task order.

    By names it is read and written with `from_dict` and `to_dict`.

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

    @classmethod
    def from_dict(cls, instance: Instance, places: Mapping[str, Mapping[str, Any]]) -> Placement:
        """Return a placement from places by name.

        Parameters
        ----------
        instance
            The instance that is placed.
        places
            Topology id -> ``component[index]`` -> ``{"node": "n1", "worker": 0}``, or the pair
            ``("n1", 0)``, or a `Place`. Tasks that are not named are not placed.

        Raises
        ------
        InputError
            For an unknown topology, task or node, and for a place of another form.

        Examples
        --------
        >>> import slotwise
        >>> instance = slotwise.read_instance("docs/examples/word-count.json")
        >>> placement = Placement.from_dict(instance, {"wc": {"lines[0]": ("n2", 0)}})
        >>> placement.to_dict(instance)
        {'wc': {'lines[0]': {'node': 'n2', 'worker': 0}}}
        """
        return from_places(instance, places_from_data(places))

    def to_dict(self, instance: Instance) -> dict[str, dict[str, dict[str, Any]]]:
        """Return topology id -> ``component[index]`` -> ``{"node": ..., "worker": ...}``.

        JSON-ready; tasks without a place are left out. `from_dict` reads it.

        Raises
        ------
        InputError
            When the placement is of another instance: another number of tasks, or unknown nodes.
        """
        places: dict[str, dict[str, dict[str, Any]]] = document(to_places(instance, self))
        return places

    def to_frame(self, instance: Instance) -> DataFrame:
        """Return a pandas DataFrame with a row for each task, in the instance's order.

        Columns: topology, component, index, task, node, rack, worker; the last three are null for
        a task without a place.

        Parameters
        ----------
        instance
            The instance that is placed: a placement has no names.

        Raises
        ------
        InputError
            When the placement is of another instance: another number of tasks, or unknown nodes.

        Examples
        --------
        >>> import slotwise
        >>> instance = slotwise.read_instance("docs/examples/word-count.json")
        >>> placement = slotwise.place(instance, "r-storm")
        >>> placement.to_frame(instance).groupby("node")["task"].count().to_dict()
        {'n1': 5, 'n2': 4}
        """
        places = to_places(instance, self)
        racks = {node.id: node.rack for node in instance.cluster.nodes}
        rows = []
        for topology, task in instance.task_names():
            component, _, index = task.removesuffix("]").rpartition("[")
            place = places.get(topology, {}).get(task)
            where = (None,) * 3 if place is None else (place.node, racks[place.node], place.worker)
            rows.append((topology, component, int(index), task, *where))
        return frame(TASK_COLUMNS, rows).astype({"worker": "Int64"})

    def __repr__(self) -> str:
        """One line: the number of tasks on each node, by the node's index."""
        counts = Counter(node for node in self.nodes if node != UNPLACED)
        by_node = [f"{node}: {count:,}" for node, count in sorted(counts.items())]
        return self._head() + (f"; tasks by node index: {listed(by_node)}" if by_node else "")

    def _repr_html_(self) -> str:
        tasks: dict[tuple[int, int], list[str]] = {}
        for task, place in enumerate(zip(self.nodes, self.workers, strict=True)):
            tasks.setdefault(place, []).append(str(task))
        rows = (
            ("not placed", "", listed(names))
            if node == UNPLACED
            else (str(node), str(worker), listed(names))
            for (node, worker), names in sorted(tasks.items())
        )
        heads = ("node (index)", "worker", "tasks (indices)")
        return html_line(self._head()) + html_table(heads, rows, len(tasks))

    def _head(self) -> str:
        places = {p for p in zip(self.nodes, self.workers, strict=True) if p[0] != UNPLACED}
        missing = self.nodes.count(UNPLACED)
        left = f", {missing:,} not placed" if missing else ""
        return (
            f"Placement of {counted(len(self.nodes), 'task')} on "
            f"{counted(len({node for node, _ in places}), 'node')} in "
            f"{counted(len(places), 'worker')}{left}"
        )

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


def places_from_data(places: Any) -> dict[str, dict[str, Place]]:
    """Return topology -> task -> place of plain data; see `Placement.from_dict`."""
    if not isinstance(places, Mapping):
        raise InputError("must be a dict of topologies", field="placement", value=str(places))
    by_topology: dict[str, dict[str, Place]] = {}
    for topology, tasks in places.items():
        if not isinstance(tasks, Mapping):
            rule = "must be a dict of tasks"
            raise InputError(rule, field=f"placement.{topology}", value=str(tasks))
        for task, place in tasks.items():
            where = f"placement.{topology}.{task}"
            by_topology.setdefault(topology, {})[task] = _place(place, where)
    return by_topology


def _place(given: Any, where: str) -> Place:
    if isinstance(given, Place):
        return given
    if isinstance(given, Mapping) and set(given) == {"node", "worker"}:
        node, worker = given["node"], given["worker"]
    elif isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2:
        node, worker = given
    else:
        rule = "must be {'node': NODE, 'worker': NUMBER} or (NODE, NUMBER)"
        raise InputError(rule, field=where, value=str(given))
    if not isinstance(node, str):
        raise InputError("must be the id of a node", field=f"{where}.node", value=str(node))
    with at(where):
        return Place(node, worker)


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
        found_place = places.get(topology, {}).get(task)
        nodes.append(UNPLACED if found_place is None else node_index[found_place.node])
        workers.append(UNPLACED if found_place is None else found_place.worker)
    return Placement(tuple(nodes), tuple(workers))


def to_places(instance: Instance, placement: Placement) -> dict[str, dict[str, Place]]:
    """Return a placement by names; topologies without a placed task are left out.

    Raises `InputError` for a placement of another instance.
    """
    places: dict[str, dict[str, Place]] = {}
    names, nodes = instance.task_names(), len(instance.cluster.nodes)
    if len(names) != len(placement.nodes) or max(placement.nodes, default=UNPLACED) >= nodes:
        size = f"{counted(len(names), 'task')}, {counted(nodes, 'node')}"
        rule = f"must be a placement of {instance.name} ({size}); it is another instance's"
        raise InputError(rule, field="placement", has_value=False)
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
    tasks: dict[tuple[str, int, int], list[str]] = {}
    rows = zip(instance.task_names(), placement.nodes, placement.workers, strict=True)
    for (topology, task), node, worker in rows:
        if node != UNPLACED:
            tasks.setdefault((topology, node, worker), []).append(task)
    return tasks


def node_lines(instance: Instance, placement: Placement) -> list[str]:
    """Return a line for each node in use, in the cluster's order: ``n1: lines[0], split[1]``.

    With several topologies each task has the prefix ``topology/``.
    """
    several = len(instance.topologies) > 1
    tasks: dict[int, list[str]] = {}
    workers = tasks_by_worker(instance, placement)
    for topology, node, worker in sorted(workers, key=lambda key: (key[1], key[2], key[0])):
        prefix = f"{topology}/" if several else ""
        here = workers[topology, node, worker]
        tasks.setdefault(node, []).extend(f"{prefix}{task}" for task in here)
    nodes = instance.cluster.nodes
    return [f"{nodes[node].id}: {listed(here)}" for node, here in tasks.items()]


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
    """A method found no placement, or does not apply; `reason` says why, in words.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.place("docs/examples/too-big.json", "r-storm")
    Refusal: topology t: no node has room for task source[2]
    """

    reason: str

    def __repr__(self) -> str:
        """One line: the reason."""
        return f"Refusal: {one_line(self.reason)}"
