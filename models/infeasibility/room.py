"""Upper bounds of the tasks that an empty node or worker can hold, recomputed from the problem.

A bound takes only the limits that its `Limits` name, so that a certificate can say which rule is
at fault. Nodes without slots hold nothing, whatever is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slotwise.models.cancellation import UNLIMITED, CancellationToken
from slotwise.models.problem.problem import Problem, Rules
from slotwise.models.values import NO_LIMIT

ComponentId = tuple[str, str]
"""Ids of a topology and of one of its components."""

COUNTING_RULES = ("max_per_node", "slots", "heap", "incompatible", "one_task_per_worker")
"""Rules that limit how many tasks of one component a node or worker holds, besides capacity."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that a bound uses.

    Parameters
    ----------
    rules
        Names of `COUNTING_RULES`.
    resources
        Names of hard resources whose capacities count.
    """

    rules: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes with the same capacities and slots: how many, and the first."""

    capacity: tuple[int, ...]
    slots: int
    count: int
    first: int


@dataclass(frozen=True, slots=True)
class Part:
    """The tasks of one component, which are equal except for current places, flows and costs.

    Parameters
    ----------
    id, rules, index
        Its ids, the rules of its topology, and its index in `Problem.components`.
    count
        Its tasks, 1 or more.
    demand, heap
        Of one task, in the problem's integers.
    heap_shared, worker_shared, node_shared
        Memory of the shared regions that any task of it brings along: on-heap in its worker, all
        that counts once per worker, and all that counts once per node.
    """

    id: ComponentId
    rules: Rules
    index: int
    count: int
    demand: tuple[int, ...]
    heap: int
    heap_shared: int
    worker_shared: int
    node_shared: int


def node_kinds(problem: Problem) -> tuple[NodeKind, ...]:
    """Return the nodes that have slots, by kind."""
    nodes_of: dict[tuple[tuple[int, ...], int], list[int]] = {}
    rows = zip(problem.capacity.tolist(), problem.slots.tolist(), strict=True)
    for node, (capacity, slots) in enumerate(rows):
        if slots > 0:
            nodes_of.setdefault((tuple(capacity), slots), []).append(node)
    return tuple(NodeKind(*key, len(nodes), nodes[0]) for key, nodes in nodes_of.items())


def kind_of(problem: Problem, node: int) -> NodeKind:
    """Return the kind that consists of one node."""
    capacity = tuple(problem.capacity[node].tolist())
    return NodeKind(capacity, int(problem.slots[node]), 1, node)


def parts_of(problem: Problem) -> dict[ComponentId, Part]:
    """Return every component that has tasks."""
    classes: dict[int, list[int]] = {}
    for c, one in enumerate(problem.classes):
        if one.size:
            classes.setdefault(one.component, []).append(c)
    parts = {}
    for component, members in classes.items():
        topology, name = problem.components[component]
        rules, first = problem.rules[topology], members[0]
        shared = {"onheap": 0, "offheap_worker": 0, "offheap_node": 0}
        for region in problem.regions:
            if region.topology == topology and first in region.classes:
                shared[region.kind] += region.size
        parts[rules.id, name] = Part(
            id=(rules.id, name),
            rules=rules,
            index=component,
            count=sum(problem.classes[c].size for c in members),
            demand=tuple(problem.demand[first].tolist()),
            heap=int(problem.heap[first]),
            heap_shared=shared["onheap"],
            worker_shared=shared["onheap"] + shared["offheap_worker"],
            node_shared=shared["offheap_node"],
        )
    return parts


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """A problem with its components that have tasks and its nodes by kind, made once.

    `token` ends what is computed from them with `CancelledError`.
    """

    problem: Problem
    parts: Mapping[ComponentId, Part]
    kinds: tuple[NodeKind, ...]
    token: CancellationToken = UNLIMITED
    _most: dict[tuple[ComponentId, int, Limits], int] = field(default_factory=dict, repr=False)

    def most_on_node(self, part: Part, node: NodeKind, limits: Limits) -> int:
        """Return what `most_on_node` does, computed once."""
        key = part.id, node.first, limits
        if key not in self._most:
            self._most[key] = most_on_node(self.problem, part, node, limits)
        return self._most[key]


def facts_of(problem: Problem, token: CancellationToken = UNLIMITED) -> Facts:
    """Return the facts from which contradictions of `problem` are recomputed."""
    return Facts(problem, parts_of(problem), node_kinds(problem), token)


def most_in_worker(part: Part, rules: tuple[str, ...]) -> int:
    """Return how many tasks of a component a worker holds at most; `NO_LIMIT` = any number."""
    most = NO_LIMIT
    if "one_task_per_worker" in rules and part.rules.one_task_per_worker:
        most = 1
    if "incompatible" in rules and (part.index, part.index) in part.rules.conflicts:
        most = 1
    if "heap" in rules and part.rules.heap_limit != NO_LIMIT:
        left = part.rules.heap_limit - part.heap_shared
        if left < part.heap:
            return 0
        if part.heap:
            most = min(most, left // part.heap)
    return most


def least_workers(part: Part) -> int:
    """Return the fewest workers that hold all tasks of a component, as its own rules allow.

    One for each task where not even one fits: the rest is another contradiction.
    """
    most = most_in_worker(part, COUNTING_RULES)
    return -(-part.count // max(1, most))


def most_on_node(problem: Problem, part: Part, node: NodeKind, limits: Limits) -> int:
    """Return how many tasks of a component an empty node holds at most, at most all of them."""
    most = part.count
    if "max_per_node" in limits.rules:
        most = min([most, *(m for c, m in part.rules.max_per_node if c == part.index)])
    in_worker = most_in_worker(part, limits.rules)
    workers = node.slots if "slots" in limits.rules else NO_LIMIT
    if in_worker < most:
        most = min(most, in_worker * min(workers, part.count))
    dims = [problem.dims.index(name) for name in limits.resources]
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(problem, part, node, dims, middle, -(-middle // max(1, min(in_worker, middle)))):
            low = middle
        else:
            high = middle - 1
    return low


def _fits(
    problem: Problem, part: Part, node: NodeKind, dims: list[int], count: int, workers: int
) -> bool:
    """Return whether no named resource forbids that many tasks in that many workers, or more."""
    for d in dims:
        load = count * part.demand[d]
        if d == problem.memory:
            load += part.node_shared + workers * part.worker_shared
        if d == problem.cpu:
            load = max(load, workers * problem.min_worker_cpu)
        if problem.hard[d] and load > node.capacity[d]:
            return False
    return True


def most_of_all(facts: Facts, parts: Sequence[Part], node: NodeKind, limits: Limits) -> int:
    """Return how many tasks of several components together an empty node holds at most."""
    facts.token.check()
    problem = facts.problem
    counts = [facts.most_on_node(part, node, limits) for part in parts]
    most = sum(counts)
    for name in limits.resources:
        d = problem.dims.index(name)
        if problem.hard[d] and node.capacity[d] != NO_LIMIT:
            sizes = sorted((part.demand[d], k) for part, k in zip(parts, counts, strict=True))
            most = min(most, smallest_first(sizes, node.capacity[d]))
    if "slots" in limits.rules and all_apart(parts, limits.rules):
        most = min(most, node.slots)
    return most


def smallest_first(sizes: list[tuple[int, int]], capacity: int) -> int:
    """Return how many of (size, count) fit into a capacity, the smallest first."""
    held = 0
    for size, count in sizes:
        taken = count if size == 0 else min(count, capacity // size)
        held, capacity = held + taken, capacity - taken * size
        if taken < count:
            break
    return held


def all_apart(parts: Sequence[Part], rules: tuple[str, ...]) -> bool:
    """Return whether no two tasks of these components ever share a worker."""
    return all(most_in_worker(part, rules) <= 1 for part in parts) and all(
        one.rules.id != other.rules.id or one.rules.keeps_apart(one.index, other.index)
        for k, one in enumerate(parts)
        for other in parts[:k]
    )
