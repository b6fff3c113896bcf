"""Which instances a grading takes: families by name, files and folders by path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from slotwise.benchmarks.grading.rows import Subject
from slotwise.models.allocation.case import (
    AllocationCase,
    case_from_data,
    case_hash,
    case_text,
    is_allocation_case,
)
from slotwise.models.errors import InputError, in_file
from slotwise.models.families.registry import ALLOCATION_FAMILIES, FAMILIES
from slotwise.models.families.storm import NAME, is_storm, storm_instances
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.formats.text import read_data
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_from_data, instance_text
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.suggestion import suggestion
from slotwise.models.values import NO_LIMIT

SUFFIXES = (".json", ".yaml", ".yml")
"""Files with these names are the instances and cases of a folder."""


@dataclass(frozen=True, slots=True)
class Case:
    """One instance of a grading, and what every row says about it.

    Parameters
    ----------
    family, index
        Where it comes from; both ``None`` for a file, the index alone where a family reads files.
    text
        The instance as JSON: files of this machine are not on the others.
    hash, name
        Of the instance.
    tasks, nodes, topologies
        Its size; an allocation has no nodes yet.
    tightness
        Largest ratio of demand to capacity over the hard resources; infinite where something is
        needed that no node has; 0 for an allocation, which buys what it needs.
    subject
        What it asks for.
    """

    family: str | None
    index: int | None
    text: str
    hash: str
    name: str
    tasks: int
    nodes: int
    topologies: int
    tightness: float
    subject: str = Subject.PLACEMENT


@dataclass(frozen=True, slots=True)
class CaseRange:
    """The first `count` instances of a family, which tasks make where they are needed."""

    family: str
    count: int

    @property
    def subject(self) -> Subject:
        """What they ask for."""
        allocations = self.family in ALLOCATION_FAMILIES
        return Subject.ALLOCATION if allocations else Subject.PLACEMENT


@dataclass(frozen=True, slots=True)
class Sources:
    """What a grading takes, in the order in which it is named: ranges, and what was read."""

    parts: tuple[CaseRange | Case, ...]

    @property
    def subjects(self) -> frozenset[str]:
        """What the cases ask for."""
        return frozenset(str(part.subject) for part in self.parts)

    @property
    def most(self) -> int:
        """How many cases there are at most; a case that is named twice counts twice."""
        return sum(part.count if isinstance(part, CaseRange) else 1 for part in self.parts)

    @property
    def files(self) -> bool:
        """Whether any were read."""
        return any(isinstance(part, Case) for part in self.parts)


def read_sources(sources: Sequence[str], count: int | None) -> Sources:
    """Return what is named; files are read, families only looked up.

    Parameters
    ----------
    sources
        Names of families, files of instances and allocation cases, folders of such files; none =
        all families that need no files and are not held out.
    count
        Of each family; ``None`` = its own.

    Raises
    ------
    InputError
        For a source that is none of these, and for a file that is no instance.
    """
    every = (*(name for name, one in FAMILIES.items() if not one.held_out), *ALLOCATION_FAMILIES)
    return Sources(tuple(part for source in sources or every for part in _parts(source, count)))


def read_cases(sources: Sequence[str], seed: int, count: int | None) -> tuple[Case, ...]:
    """Return the cases of `read_sources`, each instance once, all made here: for few of them."""
    found: dict[str, Case] = {}
    for part in read_sources(sources, count).parts:
        for case in _made(part, seed) if isinstance(part, CaseRange) else (part,):
            found.setdefault(case.hash, case)
    return tuple(found.values())


def _made(part: CaseRange, seed: int) -> Iterator[Case]:
    return (family_case(part.family, index, seed) for index in range(part.count))


def family_case(family: str, index: int, seed: int) -> Case:
    """Return one instance of a family, or one case of allocation."""
    if family in ALLOCATION_FAMILIES:
        return _allocation(ALLOCATION_FAMILIES[family].make(index, seed), family, index)
    return _case(FAMILIES[family].make(index, seed), family, index)


def _parts(source: str, count: int | None) -> Iterator[CaseRange | Case]:
    if is_storm(source):
        for instance in islice(storm_instances(source), count):
            yield _case(instance, NAME, None)
        return
    family = FAMILIES.get(source) or ALLOCATION_FAMILIES.get(source)
    if family is not None:
        yield CaseRange(source, family.number(count))
        return
    path = Path(source)
    if path.is_dir():
        yield from _folder(path)
    elif path.exists():
        yield _file(path)
    else:
        known = [*FAMILIES, *ALLOCATION_FAMILIES, NAME]
        rule = f"is neither a family nor a file; {suggestion(source, known)}"
        raise InputError(rule, value=source)


def _folder(path: Path) -> Iterator[Case]:
    files = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES and p.is_file())
    if not files:
        raise InputError(f"has no instance ({', '.join(SUFFIXES)})", value=str(path))
    for file in files:
        yield _file(file)


def _file(path: Path) -> Case:
    data, file = read_data(path)
    with in_file(file):
        if is_allocation_case(data):
            return _allocation(case_from_data(data), None, None)
        return _case(instance_from_data(data), None, None)


def _case(instance: Instance, family: str | None, index: int | None) -> Case:
    problem = compile_problem(instance)
    return Case(
        family=family,
        index=index,
        text=instance_text(instance),
        hash=instance_hash(instance),
        name=instance.name,
        tasks=problem.task_count,
        nodes=problem.node_count,
        topologies=len(problem.rules),
        tightness=tightness(problem),
    )


def _allocation(case: AllocationCase, family: str | None, index: int | None) -> Case:
    return Case(
        family=family,
        index=index,
        text=case_text(case),
        hash=case_hash(case),
        name=case.name,
        tasks=len(case.dataflow.allocated),
        nodes=0,
        topologies=1,
        tightness=0.0,
        subject=Subject.ALLOCATION,
    )


def tightness(problem: Problem) -> float:
    """Return the largest ratio of all demand to all capacity over the hard resources; 0 = none."""
    demand = np.asarray(problem.sizes, dtype=np.int64) @ problem.demand
    ratios = [0.0]
    for d in np.flatnonzero(problem.hard):
        capacity = problem.capacity[:, d]
        if demand[d] == 0 or (capacity == NO_LIMIT).any():
            continue
        offered = int(capacity.sum())
        ratios.append(int(demand[d]) / offered if offered else math.inf)
    return max(ratios)
