"""In which order a strategy schedules the executors of a topology (``S/sorter/ExecSorter*``)."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass

from slotwise.heuristics.ras.java.hash_codes import JAVA_RELEASE, executor_hash, set_copy
from slotwise.heuristics.ras.java.iteration_order import code_units
from slotwise.heuristics.ras.model import RasComponent, RasTopology

Queues = list[deque[int]]
"""Per component its executors that are not in the order yet."""


def by_connection_count(
    topology: RasTopology, unassigned: Collection[int], java: int = JAVA_RELEASE
) -> list[int]:
    """Return the unassigned executors by connections (``ExecSorterByConnectionCount``).

    Components go by executor pairs with their neighbours, the most first. Each in turn gives one
    executor, then each neighbour one, the neighbour with the fewest executors first (Storm's
    comment says the most), until neither has any. System components follow.
    """
    waiting = _waiting(topology, unassigned)
    order: dict[int, None] = {}
    for index in _most_connected_first(topology):
        around = _neighbours_by_pairs(topology, index)
        is_taken = True
        while is_taken:
            is_taken = False
            for queue in (waiting[index], *(waiting[other] for other in around)):
                if queue:
                    order[queue.popleft()] = None
                    is_taken = True
    return _with_system(topology, order, unassigned, java)


def by_proximity(
    topology: RasTopology, unassigned: Collection[int], java: int = JAVA_RELEASE
) -> list[int]:
    """Return the unassigned executors by nearness in the graph (``ExecSorterByProximity``).

    With each executor of a component come its children's, a fair share of them where the grouping
    is shuffle, else one of each; and theirs with them.
    """
    waiting = _waiting(topology, unassigned)
    order: dict[int, None] = {}
    for index in topological_order(topology):
        for _ in range(len(waiting[index])):
            order.update(dict.fromkeys(_take(topology, index, waiting)))
    return _with_system(topology, order, unassigned, java)


def by_constraint_severity(topology: RasTopology, unassigned: Collection[int]) -> list[int]:
    """Return the unassigned executors by constraints (``ExecSorterByConstraintSeverity``).

    A component counts its incompatible components, and the number of the topology's components
    over its own most executors per node, rounded down (meant were executors, it seems). Most
    first, then the larger id.
    """
    apart = incompatible(topology)
    most = topology.topology.constraints.max_per_node
    active = [c for c, one in enumerate(topology.components) if one.executors]
    count = len(active)

    def severity(c: int) -> int:
        limit = most.get(topology.components[c].id)
        return len(apart[c]) + (0 if limit is None else count // limit)

    count = len(active)
    active.sort(key=lambda c: (severity(c), code_units(topology.components[c].id)), reverse=True)
    pending = set(unassigned)
    return [task for c in active for task in topology.components[c].set_order if task in pending]


def incompatible(topology: RasTopology) -> list[frozenset[int]]:
    """Return per component those that may not share a worker with it, both ways.

    Components without executors do not count (``ConstraintSolverConfig``).
    """
    ids = {one.id: c for c, one in enumerate(topology.components) if one.executors}
    apart: list[set[int]] = [set() for _ in topology.components]
    for a, b in topology.topology.constraints.incompatible:
        if a in ids and b in ids:
            apart[ids[a]].add(ids[b])
            apart[ids[b]].add(ids[a])
    return [frozenset(one) for one in apart]


def acker_order(topology: RasTopology, unassigned: Collection[int]) -> list[int]:
    """Return the unassigned ackers in the order in which they are bound."""
    if topology.acker is None:
        return []
    pending = set(unassigned)
    return [task for task in topology.components[topology.acker].set_order if task in pending]


def topological_order(topology: RasTopology) -> list[int]:
    """Return the user components, senders first; those in cycles follow in the map's order."""
    left = list(topology.map_order)
    arriving = {c: sum(c in topology.components[other].children for other in left) for c in left}
    order: list[int] = []
    while True:
        free = next((c for c in left if not arriving[c]), None)
        if free is None:
            return [*order, *left]
        left.remove(free)
        order.append(free)
        for child in topology.components[free].children:
            arriving[child] -= 1


def _take(topology: RasTopology, index: int, waiting: Queues) -> list[int]:
    """Return one executor of a component with those of its children that come with it."""
    executors: list[int] = []
    visits: list[_Visit] = []

    def visit(c: int) -> None:
        if waiting[c]:
            children = deque(_children_in_turn(topology, topology.components[c]))
            visits.append(_Visit(c, len(waiting[c]), children))
            executors.append(waiting[c].popleft())

    visit(index)
    while visits:
        last = visits[-1]
        if last.left:
            last.left -= 1
            visit(last.child)
        elif last.children:
            last.child = last.children.popleft()
            theirs = len(waiting[last.child])
            shuffled = last.child in topology.components[last.component].shuffled
            last.left = min(theirs, max(1, theirs // last.own)) if shuffled else min(theirs, 1)
        else:
            visits.pop()
    return executors


@dataclass(slots=True)
class _Visit:
    """A component whose executor was taken: `left` more of its child `child` are to be taken.

    `own` is how many executors it had before, `children` are those not looked at yet.
    """

    component: int
    own: int
    children: deque[int]
    child: int = -1
    left: int = 0


def _children_in_turn(topology: RasTopology, component: RasComponent) -> list[int]:
    """Return the children without shuffle, the last of the set first, then the others by id.

    Storm's comparator puts every child without shuffle before all that are there already.
    """
    plain = [child for child in component.children if child not in component.shuffled]
    shuffled = [child for child in component.children if child in component.shuffled]
    shuffled.sort(key=lambda child: code_units(topology.components[child].id))
    return [*reversed(plain), *shuffled]


def _waiting(topology: RasTopology, unassigned: Collection[int]) -> Queues:
    pending = set(unassigned)
    return [
        deque(task for task in component.executors if task in pending and not component.system)
        for component in topology.components
    ]


def _neighbours(component: RasComponent) -> set[int]:
    return {*component.children, *component.parents}


def _most_connected_first(topology: RasTopology) -> list[int]:
    sizes = [len(component.executors) for component in topology.components]

    def rank(c: int) -> tuple[int, tuple[int, ...]]:
        component = topology.components[c]
        pairs = sum(sizes[other] * sizes[c] for other in _neighbours(component))
        return -pairs, code_units(component.id)

    return sorted(topology.map_order, key=rank)


def _neighbours_by_pairs(topology: RasTopology, index: int) -> list[int]:
    own = topology.components[index]

    def rank(c: int) -> tuple[int, tuple[int, ...]]:
        other = topology.components[c]
        return len(other.executors) * len(own.executors), code_units(other.id)

    return sorted(_neighbours(own), key=rank)


def _with_system(
    topology: RasTopology, order: dict[int, None], unassigned: Collection[int], java: int
) -> list[int]:
    """Return the order with what is left of `unassigned`, in the order of Java's set of them."""
    pending = set(unassigned)
    every = set_copy(topology.executors, executor_hash, java)
    left = set_copy([task for task in every if task in pending], executor_hash, java)
    order.update(dict.fromkeys(left))
    return list(order)
