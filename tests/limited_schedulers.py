"""Schedulers that are for a part of the problem, or do harm; modules of their own can load them."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from typing import Any

from numpy.random import Generator
from planted_faults import exact, first_fit

from slotwise.heuristics.method import Method
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem
from slotwise.testing.checks.scope import within

KNOWN = ("capacity", "slots", "heap")


def knows_three_rules(instance: Instance) -> Placement | Refusal:
    """Be exact as to capacity, slots and heap; the rest is ignored."""
    answer = exact(within(instance, KNOWN))
    return answer if len(instance.topologies) <= 1 else Refusal("several topologies")


def supports(problem: Problem) -> str | None:
    """Say honestly which instances `knows_three_rules` is for."""
    given = problem.instance
    return None if within(given, KNOWN) == given else "only capacity, slots and heap"


def place(problem: Problem, rng: Generator) -> Placement | Refusal:
    return knows_three_rules(problem.instance)


HONEST = Method("honest", "a test", place, supports)
BOASTS = Method("boasts", "a test", place)


def refuses_all(instance: Instance) -> Refusal:
    return Refusal("never")


def changes_its_input(instance: Instance) -> Placement | Refusal:
    answer = first_fit(instance)
    for node in instance.cluster.nodes:
        for key, offered in node.resources.items():
            if offered is not None:
                node.resources[key] -= 1  # type: ignore[index]
    return answer


def _spoils(problem: Problem, rng: Generator) -> Placement | Refusal:
    return changes_its_input(problem.instance)


SPOILS = Method("spoils", "a test", _spoils)


def keeps_an_order_of_hashes(instance: Instance) -> Placement:
    """Put each task on the node that comes first in a set of names."""
    names = [node.id for node in instance.cluster.nodes]
    first = names.index(next(iter(set(names))))
    count = len(instance.task_names())
    return Placement((first,) * count, tuple(range(count)))


def loops_in_native_code(instance: Instance) -> Any:
    """Loop where no exception can be raised, and the interpreter is not let go."""
    return sum(itertools.repeat(0))


def kills_its_process(instance: Instance) -> Any:
    os.abort()


def breaks_two_rules(instance: Instance) -> Placement | Refusal:
    """Ignore slots and the heap, each where it would bind."""
    nodes = tuple(replace(node, slots=None) for node in instance.cluster.nodes)
    roomy = replace(instance, cluster=replace(instance.cluster, nodes=nodes))
    topologies = tuple(replace(one, worker_max_heap_mb=None) for one in instance.topologies)
    return exact(replace(roomy, topologies=topologies))
