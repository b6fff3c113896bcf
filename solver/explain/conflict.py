"""A minimal set of constraints that cannot hold together.

First whole groups are left out (one resource on all nodes, a topology), then single constraints,
by QuickXplain, which divides and conquers. Then a deletion filter leaves out each member of the
core in turn: it proves by a placement that the member is needed, or deletes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import to_places
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.problem.scaling import CPU, MEMORY, dimension
from slotwise.models.values import exact_text
from slotwise.solver.explain.constraint import Constraint, constraints_of, relax
from slotwise.solver.explain.explanation import Feasibility, Places
from slotwise.solver.explain.feasibility import Decider, Decision

FOR_WITNESSES = 0.5
"""Share of the remaining time for proving that a core found by counting is minimal."""

Group = tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Core:
    """Constraints that cannot hold together.

    Parameters
    ----------
    constraints
        In the order of `constraints_of`.
    witnesses
        For each, a placement that keeps all the others; ``None`` where none was found in time.
    instance
        The instance with these constraints alone.
    """

    constraints: tuple[Constraint, ...]
    witnesses: tuple[Places | None, ...]
    instance: Instance

    @property
    def is_minimal(self) -> bool:
        """Whether each constraint is proven to be needed."""
        return None not in self.witnesses


class CoreSearch:
    """Finds cores of one instance; remembers its decisions.

    Dropping more constraints never makes a feasible instance infeasible, so "has a placement" holds
    for subsets, too, and "has none" for supersets. `is_infeasible` says that the instance is
    already proven to have no placement.
    """

    def __init__(
        self, instance: Instance, decider: Decider, *, is_infeasible: bool = False
    ) -> None:
        self._instance = instance
        self._decider = decider
        self._all = constraints_of(instance)
        self._quick = False
        self._possible: list[frozenset[Constraint]] = []
        self._impossible = [frozenset(self._all)] if is_infeasible else []

    def find(self, without: Sequence[Constraint] = ()) -> Core | None:
        """Return a core; ``None`` where it is not proven that there is one.

        `without` are constraints that it must not contain.
        """
        usable = [constraint for constraint in self._all if constraint not in without]
        counted = self._counted(usable)
        if counted is not None:
            self._decider = self._decider.until(FOR_WITNESSES)
            return self._filtered(counted)
        if not self._conflicts(usable):
            return None
        groups = self._few_groups(_groups(usable))
        members = [constraint for group in groups for constraint in group]
        core = [group[0] for group in self._reduced([(constraint,) for constraint in members])]
        return self._filtered(core)

    def _counted(self, usable: list[Constraint]) -> list[Constraint] | None:
        """Return a core that counting alone proves; ``None`` = there is none.

        Of the tasks it keeps the largest components: without one of them much room is left, so
        that a witness is found easily.
        """
        tasks = sorted(
            (constraint for constraint in usable if not constraint.is_limit),
            key=self._weight,
            reverse=True,
        )
        search = CoreSearch(self._instance, self._decider)
        search._quick = True
        ordered = [*(constraint for constraint in usable if constraint.is_limit), *tasks]
        if not search._conflicts(ordered):
            return None
        members = [one for group in search._few_groups(_groups(ordered)) for one in group]
        return [group[0] for group in search._reduced([(constraint,) for constraint in members])]

    def _weight(self, constraint: Constraint) -> float:
        """Return the share of the cluster that the tasks of a component take."""
        topology = next(t for t in self._instance.topologies if t.id == constraint.topology)
        component = next(c for c in placed(topology) if c.id == constraint.subject)
        shares = [
            float(demand(component, resource) / total)
            for resource in {dimension(key) for key in component.resources}
            if (total := total_capacity(self._instance, resource))
        ]
        return component.parallelism * max(shares, default=0.0)

    def _few_groups(self, groups: list[Group]) -> list[Group]:
        """Return groups that conflict, with one kind of limit only where that suffices."""
        tasks = [group for group in groups if not group[0].is_limit]
        for limit in (group for group in groups if group[0].is_limit):
            if self._conflicts([*limit, *(constraint for group in tasks for constraint in group)]):
                return self._reduced([limit, *tasks])
        return self._reduced(groups)

    def _reduced(self, groups: list[Group]) -> list[Group]:
        """Return a minimal subset of conflicting groups, by QuickXplain.

        Of several, the one with the earliest groups. Groups not decided in time are kept.
        """
        if len(groups) == 1:
            return groups
        return self._divided([], False, groups)

    def _divided(self, background: list[Group], is_new: bool, groups: list[Group]) -> list[Group]:
        """Return the groups needed in addition to `background` for a conflict."""
        if is_new and self._conflicts([one for group in background for one in group]):
            return []
        if len(groups) == 1:
            return groups
        half = len(groups) // 2
        first, second = groups[:half], groups[half:]
        of_second = self._divided([*background, *first], True, second)
        of_first = self._divided([*background, *of_second], bool(of_second), first)
        return [*of_first, *of_second]

    def _filtered(self, core: list[Constraint]) -> Core:
        """Leave out each member in turn, and delete those that are not needed."""
        witnesses: dict[Constraint, Places | None] = {}
        for member in tuple(core):
            rest = [other for other in core if other != member]
            decision = self._decide(rest)
            if decision.status is Feasibility.INFEASIBLE:
                core = rest
                continue
            witnesses[member] = None
            if decision.placement is not None:
                looser = relax(self._instance, self._dropped(rest))
                witnesses[member] = to_places(looser, decision.placement)
        members = tuple(member for member in self._all if member in core)
        instance = relax(self._instance, self._dropped(members))
        member_witnesses = tuple(self._of_members(witnesses[member], members) for member in members)
        return Core(members, member_witnesses, instance)

    def _of_members(self, witness: Places | None, members: Sequence[Constraint]) -> Places | None:
        """Return a witness without the tasks of members that were deleted after it was found."""
        components = {(one.topology, one.subject) for one in members if not one.is_limit}
        return witness and {
            topology: {
                task: place
                for task, place in tasks.items()
                if (topology, task.rpartition("[")[0]) in components
            }
            for topology, tasks in witness.items()
        }

    def _dropped(self, constraints: Sequence[Constraint]) -> list[Constraint]:
        kept = set(constraints)
        return [constraint for constraint in self._all if constraint not in kept]

    def _conflicts(self, constraints: Sequence[Constraint]) -> bool:
        """Return whether these constraints are proven not to hold together."""
        queried = frozenset(constraints)
        if any(decided <= queried for decided in self._impossible):
            return True
        if any(queried <= decided for decided in self._possible):
            return False
        return self._decide(constraints).status is Feasibility.INFEASIBLE

    def _decide(self, constraints: Sequence[Constraint]) -> Decision:
        if self._decider.is_over:
            return Decision(Feasibility.UNDECIDED)
        decide = self._decider.quickly if self._quick else self._decider.decide
        decision = decide(relax(self._instance, self._dropped(constraints)))
        if decision.status is Feasibility.FEASIBLE:
            self._possible.append(frozenset(constraints))
        elif decision.status is Feasibility.INFEASIBLE:
            self._impossible.append(frozenset(constraints))
        return decision


def _groups(constraints: Sequence[Constraint]) -> list[Group]:
    """Return the constraints by group, in their order."""
    groups: dict[tuple[str, str, str], list[Constraint]] = {}
    for constraint in constraints:
        groups.setdefault(constraint.group, []).append(constraint)
    return [tuple(group) for group in groups.values()]


# Demand and capacity in the user's units, independent of any placement.
#
# Every demand here is a lower bound for any placement: each shared region counts once for a
# topology, each topology has as few workers as its rules allow.

ZERO = Decimal(0)


def quantity(resource: str, amount: Decimal) -> str:
    """Return an amount of a resource in words: ``512 MB of memory``, ``50 points of cpu``."""
    number = exact_text(amount)
    if resource == MEMORY:
        return f"{number} MB of memory"
    return f"{number} points of cpu" if resource == CPU else f"{number} {resource}"


def placed(topology: Topology) -> list[Component]:
    """Return the components that have tasks."""
    return [one for one in topology.placed_components if one.parallelism]


def demand(component: Component, resource: str) -> Decimal:
    """Return the demand of one task, without shared memory."""
    return sum((v for key, v in component.resources.items() if dimension(key) == resource), ZERO)


def shared_mb(
    topology: Topology, component: Component | None, *, heap_only: bool = False
) -> Decimal:
    """Return the shared memory used by one task of `component`, or of any with tasks."""
    users = {one.id for one in ([component] if component else placed(topology))}
    return sum(
        (
            region.mb
            for region in topology.shared_memory
            if users & set(region.components) and (region.kind == "onheap" or not heap_only)
        ),
        ZERO,
    )


def one_task(
    instance: Instance, topology: Topology, component: Component, resource: str
) -> Decimal:
    """Return the least that a node must have of a resource to hold one task of `component`."""
    need = demand(component, resource)
    if resource == MEMORY:
        need += shared_mb(topology, component)
    return max(need, instance.scheduler.worker_min_cpu) if resource == CPU else need


def all_tasks(instance: Instance, resource: str) -> Decimal:
    """Return the least that all nodes together must have of a resource."""
    total = ZERO
    for topology in instance.topologies:
        components = placed(topology)
        if not components:
            continue
        need = sum((demand(one, resource) * one.parallelism for one in components), ZERO)
        if resource == MEMORY:
            need += shared_mb(topology, None)
        if resource == CPU:
            need = max(need, instance.scheduler.worker_min_cpu * least_workers(topology))
        total += need
    return total


def heap_of_one(topology: Topology, component: Component) -> Decimal:
    """Return the least heap of a worker that holds one task of `component`."""
    onheap = component.resources.get("onheap_mb", ZERO)
    return onheap + shared_mb(topology, component, heap_only=True)


def least_workers(topology: Topology) -> int:
    """Return a lower bound of the number of workers of the topology."""
    components = placed(topology)
    if not components:
        return 0
    if topology.one_task_per_worker:
        return sum(one.parallelism for one in components)
    alone = {one.id: _workers_of(topology, one) for one in components}
    if topology.one_component_per_worker:
        return sum(alone.values())
    apart = any(a != b and a in alone and b in alone for a, b in topology.constraints.incompatible)
    return max(1 + apart, *alone.values(), _by_heap(topology))


def _workers_of(topology: Topology, component: Component) -> int:
    """Return the least number of workers with tasks of `component`."""
    if (component.id, component.id) in topology.constraints.incompatible:
        return component.parallelism
    onheap = component.resources.get("onheap_mb", ZERO)
    limit = topology.worker_max_heap_mb
    if limit is None or not onheap:
        return 1
    fitting = int((limit - shared_mb(topology, component, heap_only=True)) // onheap)
    return math.ceil(component.parallelism / fitting) if fitting > 0 else component.parallelism


def _by_heap(topology: Topology) -> int:
    limit = topology.worker_max_heap_mb
    if not limit:
        return 1
    total = sum(
        (one.resources.get("onheap_mb", ZERO) * one.parallelism for one in placed(topology)), ZERO
    )
    return max(1, math.ceil(total / limit))


def total_capacity(instance: Instance, resource: str) -> Decimal | None:
    """Return the total capacity of all nodes with slots; ``None`` = one has no limit."""
    nodes = instance.cluster.nodes
    return _sum(
        instance, lambda n: ZERO if nodes[n].slots == 0 else nodes[n].resources.get(resource, ZERO)
    )


def total_slots(instance: Instance) -> Decimal | None:
    """Return the slots of all nodes together; ``None`` = one has no limit."""
    slots = [node.slots for node in instance.cluster.nodes]
    return _sum(instance, lambda n: None if slots[n] is None else Decimal(slots[n] or 0))


def _sum(instance: Instance, amount_of: Callable[[int], Decimal | None]) -> Decimal | None:
    total = ZERO
    for n in range(len(instance.cluster.nodes)):
        amount = amount_of(n)
        if amount is None:
            return None
        total += amount
    return total
