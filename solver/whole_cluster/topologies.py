"""The topologies of a problem as problems of their own, and which of them are equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.problem.rules import Rules
from slotwise.models.values import NO_LIMIT
from slotwise.solver.presolve.subproblem import SubProblem, on_classes
from slotwise.solver.structure.separability import only_network_counts
from slotwise.solver.whole_cluster.remainder import all_nodes, left_instance


@dataclass(frozen=True, slots=True, eq=False)
class TopologyPart:
    """One topology, placed whole.

    Parameters
    ----------
    topology
        Its index in the whole problem.
    part
        Its tasks on all nodes, in the units of the whole problem, by the terms that are not
        ``rejected``: what judges its placements.
    alone
        The same compiled from an instance of its own: what engines solve.
    weight
        What leaving it out costs in the term ``rejected``; ``None`` = it may not be left out.
    like
        Position of the first part that is equal to this one (its own, if none is earlier): a
        placement of either is one of the other, at the same cost.
    """

    topology: int
    part: SubProblem
    alone: Problem
    weight: int | None
    like: int

    @property
    def problem(self) -> Problem:
        """The topology's problem, in the units of the whole."""
        return self.part.problem

    @property
    def id(self) -> str:
        """The topology's id."""
        return self.problem.rules[self.topology].id


def topology_parts(problem: Problem) -> tuple[TopologyPart, ...]:
    """Return a part for each topology with tasks, in their order.

    None at all where their costs do not add up, or where there are fewer than two of them. They
    add up where all capacities are hard, distances come by level, no move is counted, and every
    term is made of network and overload, save that the first may be ``rejected`` alone.
    """
    used = [t for t, rules in enumerate(problem.rules) if rules.classes]
    whole = without_rejected(problem)
    if (
        len(used) < 2
        or whole is None
        or problem.instance.cluster.matrix is not None
        or problem.move_limit != NO_LIMIT
        or not problem.hard.all()
        or not only_network_counts(whole)
    ):
        return ()
    parts: list[TopologyPart] = []
    first: dict[object, int] = {}
    for t in used:
        part = on_classes(whole, problem.rules[t].classes)
        alone = compile_problem(left_instance(part.problem, t, all_nodes(problem)))
        like = first.setdefault(_signature(alone), len(parts))
        weight = problem.rules[t].reject_weight if problem.may_reject else None
        parts.append(TopologyPart(t, part, alone, weight, like))
    return tuple(parts)


def _signature(problem: Problem) -> object:
    """Return all that makes a problem of one topology, apart from names and the nodes."""
    components = sorted({one.component for one in problem.classes})
    number = {component: i for i, component in enumerate(components)}
    return (
        tuple(replace(one, component=number[one.component]) for one in problem.classes),
        problem.dims,
        problem.units,
        problem.demand.tobytes(),
        problem.heap.tobytes(),
        problem.flows,
        problem.flow_unit,
        _without_names(problem.rules[0], number),
        tuple(replace(region, id="") for region in problem.regions),
    )


def _without_names(rules: Rules, number: dict[int, int]) -> Rules:
    """Return the rules of components with tasks, renumbered; fields added later count, too."""
    pairs = {
        (min(number[a], number[b]), max(number[a], number[b]))
        for a, b in rules.incompatible
        if a in number and b in number
    }
    most = sorted((number[c], most) for c, most in rules.max_per_node if c in number)
    return replace(
        rules,
        id="",
        reject_weight=0,
        incompatible=tuple(sorted(pairs)),
        max_per_node=tuple(most),
    )


def shares_of(problem: Problem, parts: Sequence[TopologyPart]) -> tuple[float, ...]:
    """Return the largest share of the cluster that each topology needs of any resource."""
    bounded = (problem.capacity != NO_LIMIT).all(axis=0)
    total = np.maximum(problem.capacity[:, bounded].sum(axis=0), 1)
    demands = [np.array(p.problem.sizes, dtype=np.int64) @ p.problem.demand for p in parts]
    return tuple(float((demand[bounded] / total).max(initial=0.0)) for demand in demands)


REJECTED = "rejected"


def without_rejected(problem: Problem) -> Problem | None:
    """Return the problem by its terms after ``rejected``, no topology left out.

    The problem itself where none may be left out; ``None`` where ``rejected`` is not the first
    term, not alone in it, or the only term.
    """
    if not problem.may_reject:
        return problem
    first, *others = problem.terms
    if [part for part, _ in first.parts] != [REJECTED] or not others:
        return None
    if any(part == REJECTED for term in others for part, _ in term.parts):
        return None
    instance = problem.instance
    objective = replace(instance.objective, terms=tuple(term.name for term in others))
    return replace(problem, terms=tuple(others), instance=replace(instance, objective=objective))
