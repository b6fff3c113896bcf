"""Engine ``counting``: finds contradictions that a person sees at once, before any search.

The plainest come first. Each kind of `models.infeasibility` is looked for, and only what its check,
which is of the judge's side, confirms is returned: all in whole numbers, in well below a second
unless nodes and sizes are of very many kinds.
Sources: see `models.infeasibility`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import pairwise

from slotwise.models.cancellation import UNLIMITED, CancellationToken
from slotwise.models.infeasibility.contradictions import (
    Contradiction,
    MustMove,
    ResourceShort,
    TaskTooLarge,
    TooFewBins,
    TooFewPlaces,
    TooFewSlots,
    TooManyTasks,
    TopologyWorkers,
    Weights,
    amounts,
    workers_needed,
)
from slotwise.models.infeasibility.room import (
    COUNTING_RULES,
    Facts,
    Part,
    facts_of,
    least_workers,
    most_of_all,
)
from slotwise.models.infeasibility.room import Limits as RoomLimits
from slotwise.models.infeasibility.statement import stated
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome, Status

NAME = "counting"

_Limited = TaskTooLarge | TooManyTasks | TooFewPlaces | TooFewBins | MustMove


def find_contradiction(
    problem: Problem, token: CancellationToken = UNLIMITED
) -> Contradiction | None:
    """Return the first contradiction that is found; ``None`` proves nothing about the problem.

    `token` ends the search with `CancelledError`.
    """
    return next(contradictions(problem, token), None)


def contradictions(
    problem: Problem, token: CancellationToken = UNLIMITED
) -> Iterator[Contradiction]:
    """Yield the contradictions that are found, the plainest kinds first; each holds.

    At most one for each component, each resource and each way to find it. None where topologies
    may be left out. `token` ends the search with `CancelledError`.
    """
    facts = facts_of(problem, token)
    for one in _contradictions(facts):
        yield _with_few_limits(facts, one) if isinstance(one, _Limited) else one


def is_contradicted(problem: Problem) -> bool:
    """Return whether there is a contradiction; sooner than `find_contradiction` names one."""
    return next(_contradictions(facts_of(problem)), None) is not None


def _contradictions(facts: Facts) -> Iterator[Contradiction]:
    """Yield contradictions that hold, with more limits than they need."""
    problem = facts.problem
    if problem.may_reject or not problem.task_count:
        return
    every = RoomLimits(
        COUNTING_RULES, tuple(d for d, hard in zip(problem.dims, problem.hard, strict=True) if hard)
    )
    for find in (_too_large, _short, _too_many, _slots, _moves, _places, _bins):
        for one in find(facts, every):
            facts.token.check()
            if _holds(facts, one):
                yield one


def _holds(facts: Facts, contradiction: Contradiction) -> bool:
    required, available = amounts(facts, contradiction)
    return required > available


def _with_few_limits(facts: Facts, limited: _Limited) -> _Limited:
    """Return the same contradiction with no limit that it can do without."""
    for name in reversed(limited.limits.resources):
        resources = tuple(other for other in limited.limits.resources if other != name)
        fewer = replace(limited, limits=replace(limited.limits, resources=resources))
        limited = fewer if _holds(facts, fewer) else limited
    for rule in reversed(limited.limits.rules):
        rules = tuple(other for other in limited.limits.rules if other != rule)
        fewer = replace(limited, limits=replace(limited.limits, rules=rules))
        limited = fewer if _holds(facts, fewer) else limited
    return limited


def _too_large(facts: Facts, every: RoomLimits) -> Iterator[TaskTooLarge]:
    for key in facts.parts:
        yield TaskTooLarge(key, every)


def _short(facts: Facts, every: RoomLimits) -> Iterator[ResourceShort]:
    for name in every.resources:
        yield ResourceShort(name)


def _too_many(facts: Facts, every: RoomLimits) -> Iterator[TooManyTasks]:
    for key, part in facts.parts.items():
        if part.count > 1:
            yield TooManyTasks(key, every)


def _slots(facts: Facts, every: RoomLimits) -> Iterator[TooFewSlots | ResourceShort]:
    """Yield the shortages of slots, and of cpu for the least that each worker counts."""
    needs = tuple(
        need
        for topology in dict.fromkeys(part.rules.id for part in facts.parts.values())
        if workers_needed(facts, need := _need(facts, topology)) > 1
    )
    problem = facts.problem
    yield TooFewSlots(needs)
    if problem.min_worker_cpu and problem.cpu is not None and problem.hard[problem.cpu]:
        yield TooFewSlots(needs, by_cpu=True)
        yield ResourceShort(problem.dims[problem.cpu], needs)


def _need(facts: Facts, topology: str) -> TopologyWorkers:
    """Return what shows that a topology needs the most workers."""
    parts = [part for part in facts.parts.values() if part.rules.id == topology]
    best = TopologyWorkers(topology, tuple(part.id[1] for part in heaviest_clique(parts)))
    limit = parts[0].rules.heap_limit
    if limit == NO_LIMIT:
        return best
    sizes, most = [part.heap for part in parts], workers_needed(facts, best)
    for weights in candidates(sizes, [limit]):
        fitting = _fitting_weight(parts, sizes, weights, limit)
        total = sum(part.count * weight for part, weight in zip(parts, weights, strict=True))
        if not fitting or -(-total // fitting) <= most:  # one worker takes too much of it
            continue
        need = replace(best, heap_weights=_weights(parts, weights))
        if (count := workers_needed(facts, need)) > most:
            best, most = need, count
    return best


def _weights(parts: Sequence[Part], weights: Sequence[int]) -> Weights:
    return tuple((p.id, weight) for p, weight in zip(parts, weights, strict=True) if weight)


def _fitting_weight(
    parts: Sequence[Part], sizes: Sequence[int], weights: Sequence[int], room: int
) -> int:
    """Return a weight that surely fits: of one component, or the most for its size first."""
    rows = [(p.count, *one) for p, *one in zip(parts, sizes, weights, strict=True) if one[1]]
    alone = max((w * (n if not size else min(n, room // size)) for n, size, w in rows), default=0)
    total, left = 0, room
    for count, size, weight in sorted(rows, key=lambda row: row[1] / row[2]):
        fits = count if size == 0 else min(count, left // size)
        total, left = total + fits * weight, left - fits * size
    return max(alone, total)


def _moves(facts: Facts, every: RoomLimits) -> Iterator[MustMove]:
    if facts.problem.move_limit != NO_LIMIT:
        yield MustMove(every)


def _places(facts: Facts, every: RoomLimits) -> Iterator[TooFewPlaces]:
    """Yield what a flow of tasks to nodes leaves over."""
    parts = list(facts.parts.values())
    if len(parts) < 2:
        return
    room = [node.count * most_of_all(facts, parts, node, every) for node in facts.kinds]
    width = [
        [node.count * facts.most_on_node(part, node, every) for node in facts.kinds]
        for part in parts
    ]
    near = left_over([part.count for part in parts], room, width, facts.token)
    if near:
        yield TooFewPlaces(tuple(parts[i].id for i in near), every)


def _bins(facts: Facts, every: RoomLimits) -> Iterator[TooFewBins]:
    """Yield at most one for each resource."""
    groups = _with_same_nodes(facts, every)
    for name in every.resources:
        candidates_ = (one for parts in groups for one in _bins_of(facts, every, name, parts))
        contradiction = next((one for one in candidates_ if _holds(facts, one)), None)
        if contradiction is not None:
            yield contradiction


def _bins_of(
    facts: Facts, every: RoomLimits, resource: str, parts: Sequence[Part]
) -> Iterator[TooFewBins]:
    """Yield what may show that components do not fit into the pieces of a resource."""
    d = facts.problem.dims.index(resource)
    sized = [part for part in parts if part.demand[d]]
    sizes = [part.demand[d] for part in sized]
    capacities = {
        node.capacity[d]
        for node in facts.kinds
        if any(facts.most_on_node(part, node, every) for part in sized)
    }
    for weights in candidates(sizes, sorted(capacities - {NO_LIMIT}, reverse=True)):
        if _may_prove(facts, sized, sizes, weights, d, every):
            yield TooFewBins(resource, _weights(sized, weights), every)


def _with_same_nodes(facts: Facts, every: RoomLimits) -> list[list[Part]]:
    """Return all components, and those that only nodes of some kinds hold, set by set."""
    parts = list(facts.parts.values())
    able = {
        part.id: frozenset(
            k for k, node in enumerate(facts.kinds) if facts.most_on_node(part, node, every)
        )
        for part in parts
    }
    groups = [parts]
    for nodes in dict.fromkeys(able.values()):
        inside = [part for part in parts if able[part.id] <= nodes]
        if inside not in groups:
            groups.append(inside)
    return groups


def _may_prove(
    facts: Facts,
    parts: Sequence[Part],
    sizes: Sequence[int],
    weights: Sequence[int],
    d: int,
    every: RoomLimits,
) -> bool:
    """Return whether weight is left over where nodes take what weighs most for its size.

    So much surely fits: where nothing is left over the weights prove nothing.
    """
    items = [one for one in zip(parts, sizes, weights, strict=True) if one[2]]
    items.sort(key=lambda one: one[1] / one[2])
    total = sum(part.count * weight for part, _, weight in items)
    for node in facts.kinds:
        facts.token.check()
        room, counted = node.capacity[d], 0
        for part, size, weight in items:
            most = min(facts.most_on_node(part, node, every), room // size)
            room, counted = room - most * size, counted + most * weight
            if not room:
                break
        total -= node.count * counted
        if total <= 0:
            return False
    return True


# Components of a topology of which no two share a worker, with the most workers in all.

MOST_STEPS = 5_000
"""Sets that are looked at; the best of them is returned."""


def heaviest_clique(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return components that are pairwise apart, of the most workers together that was found.

    The heaviest there is where `MOST_STEPS` suffice: by branch and bound, the heaviest first.
    """
    ordered = sorted(parts, key=least_workers, reverse=True)
    apart = [
        {
            j
            for j, other in enumerate(ordered)
            if j != i and one.rules.keeps_apart(one.index, other.index)
        }
        for i, one in enumerate(ordered)
    ]
    weights = [least_workers(part) for part in ordered]
    best: tuple[int, ...] = ()
    most, steps = 0, 0
    stack: list[tuple[tuple[int, ...], list[int], int]] = [((), list(range(len(ordered))), 0)]
    while stack and steps < MOST_STEPS:
        chosen, open_, weight = stack.pop()
        steps += 1
        if weight > most:
            best, most = chosen, weight
        if not open_ or weight + sum(weights[j] for j in open_) <= most:
            continue
        first, rest = open_[0], open_[1:]
        stack.append((chosen, rest, weight))
        inside = [j for j in rest if j in apart[first]]
        stack.append(((*chosen, first), inside, weight + weights[first]))
    return tuple(ordered[i] for i in best)


# Weights by size under which bins are full sooner: candidates for a proof that bins are too few.
#
# Whether a candidate proves anything is decided by a knapsack (`most_weight`), so
# that none of them needs a proof of its own: bins of several capacities are not a special case.

MOST_SIZES, MOST_CAPACITIES, MOST_PARTS = 24, 6, 6
"""Sizes, capacities and parts of a capacity that are tried, the largest sizes."""


def candidates(sizes: Sequence[int], capacities: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the weights of each size under one function after the other, each once.

    The count of those that reach a threshold, the sizes, and the sizes in units of it, rounded
    down; L2 of
    Martello and Toth (a size that leaves less than p counts as a whole bin); and the rounding of
    Fekete and Schepers (in parts of a capacity, rounded down unless it is a whole number of them).
    """
    seen: set[tuple[int, ...]] = set()
    for weights in _weightings(sizes, capacities):
        if any(weights) and weights not in seen:
            seen.add(weights)
            yield weights


def _weightings(sizes: Sequence[int], capacities: Sequence[int]) -> Iterator[tuple[int, ...]]:
    distinct = sorted({size for size in sizes if size > 0}, reverse=True)[:MOST_SIZES]
    some = list(dict.fromkeys(capacities))[:MOST_CAPACITIES]
    parts = [c // k + 1 for c in some for k in range(1, MOST_PARTS + 1)]
    thresholds = dict.fromkeys((*distinct, *(p for p in parts if distinct and p <= distinct[0])))
    for least in thresholds:
        yield tuple(int(size >= least) for size in sizes)
    yield tuple(sizes)
    for least in thresholds:
        yield tuple(size // least for size in sizes)
    for capacity in some:
        for p in (p for p in distinct if 2 * p <= capacity):
            yield tuple(
                0 if size < p else capacity if size > capacity - p else size for size in sizes
            )
        for k in range(1, MOST_PARTS if capacity else 0):
            yield tuple(_rounded(size * (k + 1), capacity, k) for size in sizes)


def _rounded(scaled: int, capacity: int, k: int) -> int:
    whole, rest = divmod(scaled, capacity)
    return whole * (k + 1) if rest else whole * k


# A flow of tasks to nodes, each arc as wide as a node has room for a component alone.


def left_over(
    supply: Sequence[int],
    room: Sequence[int],
    width: Sequence[Sequence[int]],
    token: CancellationToken = UNLIMITED,
) -> tuple[int, ...]:
    """Return the sources on the near side of a least cut; empty where all supply flows.

    Source i sends up to `width[i][j]` to sink j, which takes `room[j]` in all. The sources are
    those that can still reach no sink with room once the flow is largest.
    """
    sent = [[0] * len(room) for _ in supply]
    left, free = list(supply), list(room)
    for i in sorted(range(len(supply)), key=lambda i: sum(map(bool, width[i]))):
        for j in sorted(range(len(room)), key=lambda j: -free[j]):
            amount = min(left[i], free[j], width[i][j])
            sent[i][j] += amount
            left[i], free[j] = left[i] - amount, free[j] - amount
    while True:
        token.check()
        before, sink = _reached(left, free, width, sent)
        if sink is None:
            return tuple(i for i in range(len(supply)) if ("source", i) in before)
        _augment(sink, before, left, free, width, sent)


_Vertex = tuple[str, int]


def _reached(
    left: list[int], free: list[int], width: Sequence[Sequence[int]], sent: list[list[int]]
) -> tuple[dict[_Vertex, _Vertex | None], int | None]:
    """Return from where each vertex was reached, and the first sink with room, if any."""
    before: dict[_Vertex, _Vertex | None] = {("source", i): None for i, k in enumerate(left) if k}
    queue = deque(before)
    while queue:
        side, number = here = queue.popleft()
        if side == "source":
            nexts = [
                ("sink", j)
                for j in range(len(free))
                if ("sink", j) not in before and sent[number][j] < width[number][j]
            ]
        else:
            if free[number]:
                return before, number
            nexts = [
                ("source", i)
                for i in range(len(left))
                if ("source", i) not in before and sent[i][number]
            ]
        for vertex in nexts:
            before[vertex] = here
            queue.append(vertex)
    return before, None


def _augment(
    sink: int,
    before: dict[_Vertex, _Vertex | None],
    left: list[int],
    free: list[int],
    width: Sequence[Sequence[int]],
    sent: list[list[int]],
) -> None:
    """Send as much as the path to `sink` takes."""
    path: list[_Vertex] = [("sink", sink)]
    while (previous := before[path[-1]]) is not None:
        path.append(previous)
    path.reverse()
    amount = min(left[path[0][1]], free[sink])
    for (side, a), (_, b) in pairwise(path):
        amount = min(amount, width[a][b] - sent[a][b] if side == "source" else sent[b][a])
    for (side, a), (_, b) in pairwise(path):
        if side == "source":
            sent[a][b] += amount
        else:
            sent[b][a] -= amount
    left[path[0][1]] -= amount
    free[sink] -= amount


def run(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    """Return that `problem` is infeasible, with its contradiction; else that nothing is known."""
    token = (reporter or null_reporter(problem, NAME)).token
    contradiction = find_contradiction(problem, token.child(token.now() + limits.time_s))
    bounds = (None,) * len(problem.terms)
    if contradiction is None:
        return Outcome(Status.UNKNOWN, None, None, bounds, "")
    return Outcome(
        Status.INFEASIBLE,
        None,
        None,
        bounds,
        stated(problem, contradiction).text,
        contradiction=contradiction,
    )


COUNTING = Engine(
    name=NAME,
    run=run,
    supports=lambda problem: "topologies may be left out" if problem.may_reject else None,
    version=lambda: f"slotwise {version('slotwise')}",
)
