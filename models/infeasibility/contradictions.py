"""The kinds of contradictions: frozen claims, each recomputed from a problem without a solver.

`amounts` recomputes the amount required and an upper bound of the amount available, both whole
numbers; the problem has no placement where the first is larger. A claim with names that the problem
does not have, or with an invalid combination of them, does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

from slotwise.models.cancellation import UNLIMITED, CancellationToken
from slotwise.models.infeasibility.room import (
    ComponentId,
    Facts,
    Limits,
    Part,
    facts_of,
    kind_of,
    least_workers,
    most_of_all,
    smallest_first,
)
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT

Weights = tuple[tuple[ComponentId, int], ...]
"""Weight of one task of a component, above 0; others have none."""


class _DoesNotApplyError(Exception):
    """A claim has names that are not in the problem, or combines them in an invalid way."""


@dataclass(frozen=True, slots=True)
class TopologyWorkers:
    """The least number of workers of a topology: the larger of two counts, 1 or more.

    Parameters
    ----------
    topology
        Its id.
    clique
        Ids of components of which no two share a worker: their least numbers add up.
    heap_weights
        Weights of tasks for a bound by heaps: the weight of all tasks over the most that one
        worker's heap can hold; empty = not counted.
    """

    topology: str
    clique: tuple[str, ...] = ()
    heap_weights: Weights = ()


@dataclass(frozen=True, slots=True)
class TaskTooLarge:
    """No node, or no worker, holds even one task of a component (tasks: 1 > nodes that could)."""

    kind: ClassVar[str] = "task_too_large"
    component: ComponentId
    limits: Limits


@dataclass(frozen=True, slots=True)
class TooManyTasks:
    """All nodes together hold fewer tasks of one component than it has (pigeonhole)."""

    kind: ClassVar[str] = "too_many_tasks"
    component: ComponentId
    limits: Limits


@dataclass(frozen=True, slots=True)
class TooFewPlaces:
    """All nodes together hold fewer tasks of some components than these have.

    Shown by a maximum flow of tasks to nodes: the components are one side of its minimum cut.
    """

    kind: ClassVar[str] = "too_few_places"
    components: tuple[ComponentId, ...]
    limits: Limits


@dataclass(frozen=True, slots=True)
class TooFewSlots:
    """Topologies need more workers than there are slots.

    Parameters
    ----------
    needs
        One entry per topology; topologies without one count as 1 where they have tasks.
    by_cpu
        Whether a node also has room for only as many workers as its cpu pays the least cpu of.
    """

    kind: ClassVar[str] = "too_few_slots"
    needs: tuple[TopologyWorkers, ...] = ()
    by_cpu: bool = False


@dataclass(frozen=True, slots=True)
class ResourceShort:
    """All tasks need more of a resource than all nodes with slots have.

    Shared regions count once for each worker that its components need at least, the least cpu of a
    worker for each worker of `needs`.
    """

    kind: ClassVar[str] = "resource_short"
    resource: str
    needs: tuple[TopologyWorkers, ...] = ()


@dataclass(frozen=True, slots=True)
class TooFewBins:
    """Tasks weighed by their size of one resource: all nodes together hold less than they weigh.

    The weights are those of a dual feasible function or any others; what a node holds is the
    largest weight of tasks whose sizes, and whose numbers by `limits`, fit it.
    """

    kind: ClassVar[str] = "too_few_bins"
    resource: str
    weights: Weights
    limits: Limits


@dataclass(frozen=True, slots=True)
class MustMove:
    """More running tasks than may move do not fit where they run, whatever else is placed."""

    kind: ClassVar[str] = "must_move"
    limits: Limits


Contradiction = (
    TaskTooLarge | TooManyTasks | TooFewPlaces | TooFewSlots | ResourceShort | TooFewBins | MustMove
)


def holds(problem: Problem, contradiction: Contradiction) -> bool:
    """Return whether a contradiction really shows that `problem` has no placement.

    Never where topologies may be left out. Recomputed without a solver, in whole numbers.
    """
    if problem.may_reject:
        return False
    required, available = amounts(facts_of(problem), contradiction)
    return required > available


def amounts(facts: Facts, contradiction: Contradiction) -> tuple[int, int]:
    """Return the amounts required and available at most; (0, 0) where it does not apply."""
    try:
        return _amounts(facts, contradiction)
    except _DoesNotApplyError:
        return 0, 0


def _amounts(facts: Facts, one: Contradiction) -> tuple[int, int]:
    match one:
        case TaskTooLarge():
            return 1, _places(facts, [_part(facts, one.component)], one.limits, alone=True)
        case TooManyTasks():
            part = _part(facts, one.component)
            return part.count, _places(facts, [part], one.limits)
        case TooFewPlaces():
            members = [_part(facts, key) for key in dict.fromkeys(one.components)]
            return sum(part.count for part in members), _places(facts, members, one.limits)
        case TooFewSlots():
            return sum(_workers(facts, one.needs).values()), _slots(facts, by_cpu=one.by_cpu)
        case ResourceShort():
            return _total(facts, one)
        case TooFewBins():
            return _bins(facts, one)
        case MustMove():
            return _leaving(facts, one.limits), facts.problem.move_limit


def _part(facts: Facts, key: ComponentId) -> Part:
    if key not in facts.parts:
        raise _DoesNotApplyError
    return facts.parts[key]


def _dimension(facts: Facts, resource: str) -> int:
    problem = facts.problem
    if resource not in problem.dims or not problem.hard[problem.dims.index(resource)]:
        raise _DoesNotApplyError
    return problem.dims.index(resource)


def _places(facts: Facts, parts: list[Part], limits: Limits, *, alone: bool = False) -> int:
    """Return how many of these tasks all nodes hold; `alone`: how many nodes hold any."""
    for name in limits.resources:
        _dimension(facts, name)
    total = 0
    for node in facts.kinds:
        most = most_of_all(facts, parts, node, limits)
        total += node.count * (min(most, 1) if alone else most)
    return total


def _weighed(facts: Facts, weights: Weights) -> list[tuple[Part, int]]:
    keys = [key for key, _ in weights]
    if len(set(keys)) < len(keys) or any(weight <= 0 for _, weight in weights):
        raise _DoesNotApplyError
    return [(_part(facts, key), weight) for key, weight in weights]


def _workers(facts: Facts, needs: tuple[TopologyWorkers, ...]) -> dict[str, int]:
    """Return how many workers each topology with tasks needs at least."""
    workers = {part.rules.id: 1 for part in facts.parts.values()}
    for need in needs:
        if need.topology not in workers:
            raise _DoesNotApplyError
        workers[need.topology] = max(workers[need.topology], _needed(facts, need))
    return workers


def workers_needed(facts: Facts, need: TopologyWorkers) -> int:
    """Return how many workers a topology needs at least; 0 where `need` does not apply."""
    try:
        return _needed(facts, need)
    except _DoesNotApplyError:
        return 0


def _needed(facts: Facts, need: TopologyWorkers) -> int:
    members = [_part(facts, (need.topology, name)) for name in dict.fromkeys(need.clique)]
    if not all(a.rules.keeps_apart(a.index, b.index) for a, b in combinations(members, 2)):
        raise _DoesNotApplyError
    by_clique = max(1, sum(least_workers(part) for part in members))
    weighed = _weighed(facts, need.heap_weights)
    if not weighed:
        return by_clique
    limit = weighed[0][0].rules.heap_limit
    if limit == NO_LIMIT or any(part.id[0] != need.topology for part, _ in weighed):
        raise _DoesNotApplyError
    total = sum(part.count * weight for part, weight in weighed)
    items = [(part.heap, weight, part.count) for part, weight in weighed]
    most = most_weight(items, limit, facts.token)
    return max(by_clique, -(-total // most)) if most else by_clique


def _slots(facts: Facts, *, by_cpu: bool) -> int:
    """Return how many workers all nodes have room for; `NO_LIMIT` = any number."""
    problem, total = facts.problem, 0
    if by_cpu and (
        problem.cpu is None or not problem.min_worker_cpu or not problem.hard[problem.cpu]
    ):
        raise _DoesNotApplyError
    for node in facts.kinds:
        room = node.slots
        if by_cpu and problem.cpu is not None and node.capacity[problem.cpu] != NO_LIMIT:
            room = min(room, node.capacity[problem.cpu] // problem.min_worker_cpu)
        if room == NO_LIMIT:
            return NO_LIMIT
        total += node.count * room
    return total


def _total(facts: Facts, one: ResourceShort) -> tuple[int, int]:
    d, problem, available = _dimension(facts, one.resource), facts.problem, 0
    for node in facts.kinds:
        if node.capacity[d] == NO_LIMIT:
            return 0, NO_LIMIT
        available += node.count * node.capacity[d]
    required = 0
    for topology, count in _workers(facts, one.needs).items():
        members = [part for part in facts.parts.values() if part.rules.id == topology]
        need = sum(part.count * part.demand[d] for part in members)
        least = count * problem.min_worker_cpu if d == problem.cpu else 0
        required += max(need, least)
    return required + (_shared(facts) if d == problem.memory else 0), available


def _shared(facts: Facts) -> int:
    """Return the memory of all shared regions, each as often as its components need workers."""
    by_index, total = {part.index: part for part in facts.parts.values()}, 0
    for region in facts.problem.regions:
        components = {facts.problem.classes[c].component for c in region.classes}
        users = [by_index[c] for c in components if c in by_index]
        times = [1 if region.kind == "offheap_node" else least_workers(part) for part in users]
        total += region.size * max(times, default=0)
    return total


def _bins(facts: Facts, one: TooFewBins) -> tuple[int, int]:
    d, weighed = _dimension(facts, one.resource), _weighed(facts, one.weights)
    for name in one.limits.resources:
        _dimension(facts, name)
    required = sum(part.count * weight for part, weight in weighed)
    available = 0
    known: dict[object, int] = {}
    for node in facts.kinds:
        items = tuple(
            (part.demand[d], weight, facts.most_on_node(part, node, one.limits))
            for part, weight in weighed
        )
        key = items, node.capacity[d]
        if key not in known:
            known[key] = most_weight(items, node.capacity[d], facts.token)
        available += node.count * known[key]
    return required, available


def _leaving(facts: Facts, limits: Limits) -> int:
    """Return how many running tasks find no room where they run, at least."""
    homes: dict[int, dict[int, int]] = {}
    for one in facts.problem.classes:
        if one.home is not None and one.size:
            here = homes.setdefault(one.home[0], {})
            here[one.component] = here.get(one.component, 0) + one.size
    by_index = {part.index: part for part in facts.parts.values()}
    total = 0
    for n, counts in homes.items():
        node, held = kind_of(facts.problem, n), sum(counts.values())
        fitting = [
            (by_index[c], min(k, facts.most_on_node(by_index[c], node, limits)))
            for c, k in counts.items()
        ]
        kept = sum(k for _, k in fitting) if node.slots > 0 else 0
        for name in limits.resources:
            d = _dimension(facts, name)
            sizes = sorted((part.demand[d], k) for part, k in fitting)
            kept = min(kept, smallest_first(sizes, node.capacity[d]))
        total += held - kept
    return total


MOST_STATES = 1_000
"""Most sums kept; beyond that the answer is a bound by the best ratio, which is never too low."""

Item = tuple[int, int, int]
"""Size, weight and count, each 0 or more."""


def most_weight(items: Sequence[Item], capacity: int, token: CancellationToken = UNLIMITED) -> int:
    """Return a weight that no choice of items of a total size up to `capacity` exceeds.

    The largest there is, unless more than `MOST_STATES` sums are undominated. `token` ends the
    search with `CancelledError`.
    """
    free = sum(weight * count for size, weight, count in items if size == 0)
    sized = [one for one in items if 0 < one[0] <= capacity and one[1] > 0 and one[2] > 0]
    states = [(0, 0)]  # (size, weight), both ascending
    for size, weight, count in sized:
        token.check()
        most = min(count, capacity // size)
        wider = sorted(
            (
                (used + k * size, -(reached + k * weight))
                for used, reached in states
                for k in range(min(most, (capacity - used) // size) + 1)
            )
        )
        states, best = [], -1
        for used, negative in wider:
            if -negative > best:
                best = -negative
                states.append((used, best))
        if len(states) > MOST_STATES:
            return free + _by_ratio(sized, capacity)
    return free + states[-1][1]


def _by_ratio(items: Sequence[Item], capacity: int) -> int:
    """Return the weight of the knapsack whose items can be cut, rounded down."""
    total, left = 0, capacity
    for size, weight, count in sorted(items, key=lambda one: -Fraction(one[1], one[0])):
        whole = min(count, left // size)
        total, left = total + whole * weight, left - whole * size
        if whole < count:
            return total + left * weight // size
    return total
