"""Finding contradictions: the plainest first, each confirmed by its check on the judge's side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from slotwise.models.cancellation import CancellationToken
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
    Limits,
    Part,
    facts_of,
    most_of_all,
)
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.contradictions.cliques import heaviest_clique
from slotwise.solver.contradictions.flow import left_over
from slotwise.solver.contradictions.weights import candidates

_Limited = TaskTooLarge | TooManyTasks | TooFewPlaces | TooFewBins | MustMove


def find_contradiction(
    problem: Problem, token: CancellationToken | None = None
) -> Contradiction | None:
    """Return the first contradiction that is found; ``None`` says nothing of the problem."""
    return next(contradictions(problem, token), None)


def contradictions(
    problem: Problem, token: CancellationToken | None = None
) -> Iterator[Contradiction]:
    """Yield the contradictions that are found, the plainest kinds first; each holds.

    At most one for each component, each resource and each way to find it. None where topologies
    may be left out. `token` ends the search with `CancelledError`.
    """
    facts = facts_of(problem)
    for one in _found(facts, token):
        yield _with_few_limits(facts, one) if isinstance(one, _Limited) else one


def is_contradicted(problem: Problem) -> bool:
    """Return whether there is a contradiction; sooner than `find_contradiction` names one."""
    return next(_found(facts_of(problem), None), None) is not None


def _found(facts: Facts, token: CancellationToken | None) -> Iterator[Contradiction]:
    """Yield contradictions that hold, with more limits than they need."""
    problem = facts.problem
    if problem.may_reject or not problem.task_count:
        return
    every = Limits(
        COUNTING_RULES, tuple(d for d, hard in zip(problem.dims, problem.hard, strict=True) if hard)
    )
    for find in (_too_large, _short, _too_many, _slots, _moves, _places, _bins):
        for one in find(facts, every):
            if token is not None:
                token.check()
            if _holds(facts, one):
                yield one


def _holds(facts: Facts, one: Contradiction) -> bool:
    required, available = amounts(facts, one)
    return required > available


def _with_few_limits(facts: Facts, one: _Limited) -> _Limited:
    """Return the same contradiction with no limit that it can do without."""
    for name in reversed(one.limits.resources):
        kept = tuple(other for other in one.limits.resources if other != name)
        fewer = replace(one, limits=replace(one.limits, resources=kept))
        one = fewer if _holds(facts, fewer) else one
    for rule in reversed(one.limits.rules):
        kept = tuple(other for other in one.limits.rules if other != rule)
        fewer = replace(one, limits=replace(one.limits, rules=kept))
        one = fewer if _holds(facts, fewer) else one
    return one


def _too_large(facts: Facts, every: Limits) -> Iterator[TaskTooLarge]:
    for key in facts.parts:
        yield TaskTooLarge(key, every)


def _short(facts: Facts, every: Limits) -> Iterator[ResourceShort]:
    for name in every.resources:
        yield ResourceShort(name)


def _too_many(facts: Facts, every: Limits) -> Iterator[TooManyTasks]:
    for key, part in facts.parts.items():
        if part.count > 1:
            yield TooManyTasks(key, every)


def _slots(facts: Facts, every: Limits) -> Iterator[TooFewSlots | ResourceShort]:
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
    sizes = [part.heap for part in parts]
    for weights in candidates(sizes, [limit]):
        need = replace(best, heap_weights=_weights(parts, weights))
        if _most(parts, sizes, weights, limit) and workers_needed(facts, need) > workers_needed(
            facts, best
        ):
            best = need
    return best


def _weights(parts: Sequence[Part], weights: Sequence[int]) -> Weights:
    return tuple((p.id, weight) for p, weight in zip(parts, weights, strict=True) if weight)


def _most(parts: Sequence[Part], sizes: Sequence[int], weights: Sequence[int], room: int) -> int:
    """Return a weight that surely fits: all tasks of one component that do."""
    fitting = (
        weight * (p.count if size == 0 else min(p.count, room // size))
        for p, size, weight in zip(parts, sizes, weights, strict=True)
    )
    return max(fitting, default=0)


def _moves(facts: Facts, every: Limits) -> Iterator[MustMove]:
    if facts.problem.move_limit != NO_LIMIT:
        yield MustMove(every)


def _places(facts: Facts, every: Limits) -> Iterator[TooFewPlaces]:
    """Yield what a flow of tasks to nodes leaves over."""
    parts = list(facts.parts.values())
    if len(parts) < 2:
        return
    room = [node.count * most_of_all(facts, parts, node, every) for node in facts.kinds]
    width = [
        [node.count * facts.most_on_node(part, node, every) for node in facts.kinds]
        for part in parts
    ]
    near = left_over([part.count for part in parts], room, width)
    if near:
        yield TooFewPlaces(tuple(parts[i].id for i in near), every)


def _bins(facts: Facts, every: Limits) -> Iterator[TooFewBins]:
    """Yield at most one for each resource."""
    groups = _with_same_nodes(facts, every)
    for name in every.resources:
        candidates_ = (one for parts in groups for one in _bins_of(facts, every, name, parts))
        found = next((one for one in candidates_ if _holds(facts, one)), None)
        if found is not None:
            yield found


def _bins_of(
    facts: Facts, every: Limits, resource: str, parts: Sequence[Part]
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


def _with_same_nodes(facts: Facts, every: Limits) -> list[list[Part]]:
    """Return all components, and those that only nodes of some kinds hold, set by set."""
    parts = list(facts.parts.values())
    able = {
        part.id: frozenset(
            k for k, node in enumerate(facts.kinds) if facts.most_on_node(part, node, every)
        )
        for part in parts
    }
    found = [parts]
    for nodes in dict.fromkeys(able.values()):
        inside = [part for part in parts if able[part.id] <= nodes]
        if inside not in found:
            found.append(inside)
    return found


def _may_prove(
    facts: Facts,
    parts: Sequence[Part],
    sizes: Sequence[int],
    weights: Sequence[int],
    d: int,
    every: Limits,
) -> bool:
    """Return whether weight is left over where nodes take what weighs most for its size.

    So much surely fits: where nothing is left over the weights prove nothing.
    """
    items = [one for one in zip(parts, sizes, weights, strict=True) if one[2]]
    items.sort(key=lambda one: one[1] / one[2])
    total = sum(part.count * weight for part, _, weight in items)
    for node in facts.kinds:
        room, held = node.capacity[d], 0
        for part, size, weight in items:
            most = min(facts.most_on_node(part, node, every), room // size)
            room, held = room - most * size, held + most * weight
            if not room:
                break
        total -= node.count * held
        if total <= 0:
            return False
    return True
