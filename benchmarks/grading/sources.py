"""Which instances a grading takes: families by name, files, folders and graph files by path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
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
from slotwise.models.errors import InputError, in_file, suggestion
from slotwise.models.families.registry import ALLOCATION_FAMILIES, FAMILIES
from slotwise.models.families.storm import NAME, is_storm, storm_instances
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.formats.text import read_data
from slotwise.models.graph_files.graph_file import is_graph_file, open_graph
from slotwise.models.graph_files.vertex_stream import in_memory
from slotwise.models.graph_partition import MOST_PARTS, instance_of, partition_problem
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_from_data, instance_text
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT, Number, exact, exact_text
from slotwise.solver.graph_partition import check_size

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


BALANCE = Decimal("1.03")
"""Of parts, where it is not said: that of `slotwise partition`."""


@dataclass(frozen=True, slots=True)
class GraphParts:
    """Into how many equal parts graph files are partitioned, an instance for each number.

    Parameters
    ----------
    counts
        Numbers of parts, from 1 to 2^20; empty = not said, and no file may be a graph.
    balance
        Largest weight of a part relative to its share, 1 or more; ``None`` = `BALANCE`.
    """

    counts: tuple[int, ...] = ()
    balance: Number | None = None

    def check_used(self, sources: Sequence[str]) -> None:
        """Refuse both where none of `sources` is a graph file."""
        if any(map(is_graph_source, sources)):
            return
        rule = "is for graph files, and none is graded; name one, such as g.graph, or leave it out"
        if self.counts:
            raise InputError(rule, field="parts", value=",".join(map(str, self.counts)))
        if self.balance is not None:
            raise InputError(rule, field="balance", value=str(self.balance))


def read_graph_parts(counts: int | str | Sequence[int | str], balance: Number | None) -> GraphParts:
    """Return the parts that are asked for, each number once; texts may be ``2,4,8``.

    Raises
    ------
    InputError
        For what is not a whole number from 1 to 2^20, and a balance below 1.
    """
    texts = (counts,) if isinstance(counts, int | str) else counts
    words = [word.strip() for one in texts for word in str(one).split(",")]
    rule = f"must be whole numbers from 1 to {MOST_PARTS}, such as 2,4,8"
    for word in words:
        if not (word.isascii() and word.isdigit() and 1 <= int(word[:9]) <= MOST_PARTS):
            raise InputError(rule, field="parts", value=word)
    if balance is not None and not 1 <= exact(balance, "balance") <= MOST_PARTS:
        raise InputError(f"must be from 1 to {MOST_PARTS}", field="balance", value=balance)
    return GraphParts(tuple(dict.fromkeys(map(int, words))), balance)


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


def read_sources(
    sources: Sequence[str], count: int | None, graph_parts: GraphParts = GraphParts()
) -> Sources:
    """Return what is named; files are read, families only looked up.

    Parameters
    ----------
    sources
        Names of families, files of instances and allocation cases, folders of such files; none =
        all families that need no files and are not held out.
    count
        Of each family; ``None`` = its own.
    graph_parts
        What becomes of graph files among the sources.

    Raises
    ------
    InputError
        For a source that is none of these, for a file that is not an instance, and for a graph file
        without numbers of parts or the other way round.
    """
    graph_parts.check_used(sources)
    every = (*(name for name, one in FAMILIES.items() if not one.held_out), *ALLOCATION_FAMILIES)
    named = sources or every
    return Sources(tuple(part for one in named for part in _parts(one, count, graph_parts)))


def read_cases(
    sources: Sequence[str], seed: int, count: int | None, graph_parts: GraphParts = GraphParts()
) -> tuple[Case, ...]:
    """Return the cases of `read_sources`, each instance once, all made here: for few of them."""
    cases: dict[str, Case] = {}
    for part in read_sources(sources, count, graph_parts).parts:
        for case in _made(part, seed) if isinstance(part, CaseRange) else (part,):
            cases.setdefault(case.hash, case)
    return tuple(cases.values())


def _made(part: CaseRange, seed: int) -> Iterator[Case]:
    return (family_case(part.family, index, seed) for index in range(part.count))


def family_case(family: str, index: int, seed: int) -> Case:
    """Return one instance of a family, or one case of allocation."""
    if family in ALLOCATION_FAMILIES:
        return _allocation(ALLOCATION_FAMILIES[family].make(index, seed), family, index)
    return _case(FAMILIES[family].make(index, seed), family, index)


def is_graph_source(source: str) -> bool:
    """Whether a source is a file with a graph, by its name."""
    return not _is_name(source) and is_graph_file(Path(source)) and Path(source).is_file()


def _is_name(source: str) -> bool:
    return is_storm(source) or source in FAMILIES or source in ALLOCATION_FAMILIES


def _parts(source: str, count: int | None, graph_parts: GraphParts) -> Iterator[CaseRange | Case]:
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
    elif is_graph_source(source):
        yield from _graph(path, graph_parts)
    elif path.exists():
        yield _file(path)
    else:
        names = [*FAMILIES, *ALLOCATION_FAMILIES, NAME]
        rule = f"is neither a family nor a file; {suggestion(source, names)}"
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


def _graph(path: Path, graph_parts: GraphParts) -> Iterator[Case]:
    if not graph_parts.counts:
        rule = f"must say into how many parts {path} is partitioned, such as 2 or 2,4,8"
        raise InputError(rule, field="parts", has_value=False)
    balance = exact(BALANCE if graph_parts.balance is None else graph_parts.balance, "balance")
    graph = in_memory(open_graph(path))
    with in_file(str(path)):
        check_size(graph.totals.vertices, graph.totals.edges)
        for parts in graph_parts.counts:
            problem = partition_problem(graph, balance, (Decimal(1),) * parts)
            name = f"{path.name}, {parts} parts, balance {exact_text(balance)}"
            yield _case(instance_of(problem, name), None, None)


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
