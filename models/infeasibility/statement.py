"""A contradiction in words and in the user's units."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from slotwise.models.display import counted
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
    amounts,
    workers_needed,
)
from slotwise.models.infeasibility.room import (
    ComponentId,
    Facts,
    Limits,
    Part,
    facts_of,
    least_workers,
    most_in_worker,
)
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT, plain, short_text

MOST_NAMES = 4
"""Most names of components in a sentence; the others are counted."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A contradiction in words.

    Parameters
    ----------
    contradiction
        The claim itself.
    rules
        Names of the rules at fault, as the judge has them: ``max_per_node``, ``slots``, ...
    text
        One sentence.
    required, available
        The amounts required and available at most, in `unit`.
    unit
        A resource (in its own unit), ``tasks``, ``workers`` or ``weight``.
    """

    contradiction: Contradiction
    rules: tuple[str, ...]
    text: str
    required: Fraction
    available: Fraction
    unit: str

    def to_document(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "kind": self.contradiction.kind,
            "rules": list(self.rules),
            "text": self.text,
            "required": plain(self.required),
            "available": plain(self.available),
            "unit": self.unit,
        }


def stated(problem: Problem, contradiction: Contradiction) -> Statement:
    """Return a contradiction of `problem` in words, with its numbers recomputed."""
    facts = facts_of(problem)
    required, available = amounts(facts, contradiction)
    unit, scale = "tasks", Fraction(1)
    match contradiction:
        case TaskTooLarge():
            rules, text = _too_large(facts, contradiction)
        case TooManyTasks():
            rules, text = _too_many(facts, contradiction, available)
        case TooFewPlaces():
            components = contradiction.components
            rules = _named(facts, contradiction.limits, [facts.parts[key] for key in components])
            text = (
                f"{counted(required, 'task')} of {_listed(components)} may only go where there "
                f"is room for {available}: {required - available} too many"
                f"{_by(rules, contradiction.limits)}."
            )
        case TooFewSlots():
            unit = "workers"
            rules, text = _slots(facts, contradiction, required, available)
        case ResourceShort():
            d = problem.dims.index(contradiction.resource)
            unit, scale, rules = contradiction.resource, problem.units[d], ("capacity",)
            need, have = required * scale, available * scale
            text = (
                f"All tasks need {short_text(need)} {contradiction.resource}, but all nodes"
                f"{_with_slots(problem)} have {short_text(have)}: "
                f"{short_text(need - have)} short."
            )
        case TooFewBins():
            unit = "weight"
            parts = [facts.parts[key] for key, _ in contradiction.weights]
            rules = tuple(dict.fromkeys(("capacity", *_named(facts, contradiction.limits, parts))))
            text = _bins(facts, contradiction, required, available)
        case MustMove():
            rules = ("max_moved", *_named(facts, contradiction.limits, list(facts.parts.values())))
            may = "none may" if not available else f"at most {available} may"
            text = (
                f"At least {counted(required, 'task')} must leave where they run, but {may} move."
            )
    return Statement(contradiction, rules, text, required * scale, available * scale, unit)


def _listed(keys: tuple[ComponentId, ...]) -> str:
    topologies = {topology for topology, _ in keys}
    names = [name if len(topologies) == 1 else f"{topology}/{name}" for topology, name in keys]
    where = f" ({keys[0][0]})" if len(topologies) == 1 else ""
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[: MOST_NAMES - 1])} and {len(names) - MOST_NAMES + 1} more{where}"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names) + where


def _with_slots(problem: Problem) -> str:
    return "" if (problem.slots > 0).all() else " with slots"


def _named(facts: Facts, limits: Limits, parts: list[Part]) -> tuple[str, ...]:
    """Return the rules of `limits` that concern these components."""
    names = []
    for rule in limits.rules:
        if rule == "max_per_node":
            bound = any(c == part.index for part in parts for c, _ in part.rules.max_per_node)
        elif rule == "slots":
            bound = any(most_in_worker(part, limits.rules) < part.count for part in parts)
        else:
            bound = any(most_in_worker(part, (rule,)) < part.count for part in parts)
        if bound:
            names.append(rule)
    return (*names, *(("capacity",) if limits.resources else ()))


def _by(rules: tuple[str, ...], limits: Limits) -> str:
    """Return the limits that count in brackets."""
    names = [rule for rule in rules if rule != "capacity"] + list(limits.resources)
    return f" ({', '.join(names)})" if names else ""


def _needs(facts: Facts, part: Part, limits: Limits) -> str:
    """Return what one task needs of the resources that count: ``30 cpu``."""
    problem = facts.problem
    needs = []
    for name in limits.resources:
        d = problem.dims.index(name)
        need = part.demand[d]
        if d == problem.memory:
            need += part.node_shared + part.worker_shared
        if d == problem.cpu:
            need = max(need, problem.min_worker_cpu)
        if need:
            needs.append(f"{short_text(need * problem.units[d])} {name}")
    return " and ".join(needs)


def _too_large(facts: Facts, one: TaskTooLarge) -> tuple[tuple[str, ...], str]:
    problem, part = facts.problem, facts.parts[one.component]
    name = _listed((one.component,))
    if "heap" in one.limits.rules:
        assert problem.memory is not None, "a heap limit gives the problem a memory dimension"
        unit = problem.units[problem.memory]
        return ("heap",), (
            f"A single task of {name} needs {short_text((part.heap + part.heap_shared) * unit)} MB "
            f"of heap, but a worker may have at most {short_text(part.rules.heap_limit * unit)} MB."
        )
    if not one.limits.resources:
        return ("slots",), f"A task of {name} fits nowhere: no node has slots."
    most = []
    for resource in one.limits.resources:
        d = problem.dims.index(resource)
        largest = max((node.capacity[d] for node in facts.kinds), default=0)
        if largest != NO_LIMIT:
            most.append(f"{short_text(largest * problem.units[d])} {resource}")
    return ("capacity",), (
        f"A single task of {name} needs {_needs(facts, part, one.limits)} and fits on no node: "
        f"a node has at most {' or '.join(most)}."
    )


def _too_many(facts: Facts, one: TooManyTasks, available: int) -> tuple[tuple[str, ...], str]:
    part = facts.parts[one.component]
    rules = _named(facts, one.limits, [part])
    how = []
    if "max_per_node" in rules:
        most = min(m for c, m in part.rules.max_per_node if c == part.index)
        how.append(f"at most {most} on a node")
    if {"incompatible", "one_task_per_worker"} & set(rules):
        how.append("each in a worker of its own")
    if "heap" in rules:
        how.append(f"at most {most_in_worker(part, ('heap',))} in a worker by its heap")
    if one.limits.resources:
        how.append(f"of {_needs(facts, part, one.limits)} each")
    nodes = sum(node.count for node in facts.kinds)
    return rules, (
        f"{counted(part.count, 'task')} of {_listed((one.component,))}, {', '.join(how)}: "
        f"{counted(nodes, 'node')}{_with_slots(facts.problem)} "
        f"{'has' if nodes == 1 else 'have'} room for {available}, {part.count - available} too few."
    )


def _slots(
    facts: Facts, one: TooFewSlots, required: int, available: int
) -> tuple[tuple[str, ...], str]:
    rules: dict[str, None] = {"slots": None}
    parts = []
    for need in one.needs:
        why = _why_workers(facts, need)
        rules |= dict.fromkeys(why)
        if workers_needed(facts, need) > 1:
            how = f" ({', '.join(why)})" if why else ""
            parts.append(f"{need.topology} {workers_needed(facts, need)}{how}")
    if one.by_cpu:
        rules["worker_min_cpu"] = None
    each = f": {', '.join(parts)}" if parts else ""
    room = "room for" if one.by_cpu else "slots for"
    return tuple(rules), (
        f"At least {counted(required, 'worker')} are needed{each}; all nodes have {room} "
        f"{available}: {required - available} short."
    )


def _why_workers(facts: Facts, need: TopologyWorkers) -> list[str]:
    """Return the rules for which a topology needs more than one worker."""
    members = [facts.parts[need.topology, name] for name in need.clique]
    reasons: dict[str, None] = {}
    by_heap = workers_needed(facts, TopologyWorkers(need.topology, (), need.heap_weights))
    if need.heap_weights and by_heap == workers_needed(facts, need) > 1:
        return ["heap"]
    for part in members:
        if least_workers(part) > 1:
            for rule in ("one_task_per_worker", "incompatible", "heap"):
                if -(-part.count // max(1, most_in_worker(part, (rule,)))) == least_workers(part):
                    reasons[rule] = None
                    break
    if len(members) > 1:
        rules = members[0].rules
        whole = ("one_task_per_worker", "one_component_per_worker")
        reasons[next((name for name in whole if getattr(rules, name)), "incompatible")] = None
    return list(reasons)


def _bins(facts: Facts, one: TooFewBins, required: int, available: int) -> str:
    problem = facts.problem
    unit = problem.units[problem.dims.index(one.resource)]
    d = problem.dims.index(one.resource)
    sizes = {facts.parts[key].demand[d] for key, _ in one.weights}
    keys = tuple(key for key, _ in one.weights)
    count = sum(facts.parts[key].count for key in keys)
    if {weight for _, weight in one.weights} == {1}:
        return (
            f"{counted(count, 'task')} of {_listed(keys)} need {short_text(min(sizes) * unit)} "
            f"{one.resource} or more each: all nodes have room for {available} of these, "
            f"{required - available} too few."
        )
    return (
        f"The totals of {one.resource} suffice, but {counted(count, 'task')} of {_listed(keys)} do "
        f"not fit into the pieces that nodes are: weighed by size they count {required}, all nodes "
        f"hold at most {available}."
    )
