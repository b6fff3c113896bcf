"""The runs of a grading: every case with the methods that apply to it and with the optimum."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from slotwise.benchmarks.grading.environment import (
    engine_version,
    git_revision,
    method_version,
    versions,
)
from slotwise.benchmarks.grading.rows import (
    OPTIMUM,
    Kind,
    Planned,
    Row,
    Subject,
    key_of,
    subject_of,
)
from slotwise.benchmarks.grading.sources import Case
from slotwise.heuristics.method_names import is_command, is_storm
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.sam.pairs import PAIRS

CHEAP_RUNS = 40
"""At most so many runs of heuristics share one partition."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run, ready for any machine.

    Parameters
    ----------
    case
        The instance; its text is empty where family and index are enough to make it again.
    kind, method
        See `Kind`; the engine or method as the user writes it.
    case_seed, seed
        Of the family's instance; of the engine or method.
    time_limit_s
        Wall-clock seconds.
    workers
        Threads of the exact engine, 1 or more.
    folder
        Where relative paths of a command start; ``None`` = wherever the executor is.
    method_parameters
        The method's parameters, as JSON.
    version
        What identifies the software, for the decision whether to run again.
    versions, git_revision
        For the record; `versions` as JSON.
    memory_limit_mb
        Of the exact engine, as in `solve`; ``None`` = its share of the executor's memory.
    """

    case: Case
    kind: str
    method: str
    case_seed: int
    seed: int
    time_limit_s: float
    workers: int
    folder: str | None
    method_parameters: str
    version: str
    versions: str
    git_revision: str | None
    memory_limit_mb: int | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the run as JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> PlannedRun:
        """Return the run that `to_document` wrote."""
        return cls(**{**document, "case": Case(**document["case"])})

    def columns(self) -> Planned:
        """Return the columns of the run's row that are known beforehand."""
        case = self.case
        return {
            "instance_hash": case.hash,
            "instance": case.name,
            "family": case.family,
            "case_index": case.index,
            "tasks": case.tasks,
            "nodes": case.nodes,
            "topologies": case.topologies,
            "tightness": case.tightness,
            "kind": self.kind,
            "method": self.method,
            "parameters": (
                json.dumps({"workers": self.workers})
                if self.kind == Kind.EXACT
                else self.method_parameters
            ),
            "seed": self.seed,
            "time_limit_s": self.time_limit_s,
            "workers": self.workers,
            "version": self.version,
            "versions": self.versions,
            "git_revision": self.git_revision,
        }


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What all runs of a grading share: see `PlannedRun`."""

    time_limit_s: float
    workers: int
    seed: int
    folder: str | None
    memory_limit_mb: int | None = None


def make_plan(
    cases: Sequence[Case], methods: Iterable[str], engine: str, limits: RunLimits
) -> tuple[PlannedRun, ...]:
    """Return the exact runs, largest instance first, then those of the methods.

    A method runs on the cases that it applies to; see `subject_of`.
    """
    hardest_first = sorted(cases, key=lambda case: (-case.tasks * case.nodes, -case.tasks))
    exact = [
        _run(case, Kind.EXACT, engine if case.subject == Subject.PLACEMENT else OPTIMUM, limits)
        for case in hardest_first
    ]
    subjects = {method: subject_of(method) for method in methods}
    others = [
        _run(case, _kind_of(method), method, limits)
        for case in hardest_first
        for method, subject in subjects.items()
        if subject == case.subject
    ]
    return (*exact, *others)


def _kind_of(method: str) -> Kind:
    return Kind.EXTERNAL if is_command(method) else Kind.HEURISTIC


def _parameters_of(kind: Kind, method: str) -> dict[str, str]:
    """Return the parameters of a method; commands, Storm's own code and pairs have none."""
    if kind is not Kind.HEURISTIC or is_storm(method) or method in PAIRS:
        return {}
    return dict(find_method(method).parameters)


def _run(case: Case, kind: Kind, method: str, limits: RunLimits) -> PlannedRun:
    exact = kind is Kind.EXACT
    return PlannedRun(
        case=case,
        kind=str(kind),
        method=method,
        case_seed=limits.seed,
        seed=limits.seed,
        time_limit_s=limits.time_limit_s,
        workers=limits.workers if exact else 1,
        folder=limits.folder,
        method_parameters=json.dumps(_parameters_of(kind, method)),
        version=engine_version() if exact else method_version(),
        versions=json.dumps(versions()),
        git_revision=git_revision(),
        memory_limit_mb=limits.memory_limit_mb,
    )


def pending(plan: Iterable[PlannedRun], done: Iterable[Row]) -> tuple[PlannedRun, ...]:
    """Return the runs that no row stands for yet (an anti-join on `rows.KEY`)."""
    keys = {key_of(row) for row in done}
    return tuple(run for run in plan if key_of(run.columns()) not in keys)


def partitions(plan: Sequence[PlannedRun], slots: int) -> tuple[tuple[PlannedRun, ...], ...]:
    """Split `plan` into what one Spark task does.

    One exact solve or external command each; heuristics share, a few tasks for each of `slots`.
    """
    cheap = [run for run in plan if run.kind == Kind.HEURISTIC]
    size = min(CHEAP_RUNS, max(1, -(-len(cheap) // (4 * slots))))
    alone = [(run,) for run in plan if run.kind != Kind.HEURISTIC]
    shared = [tuple(cheap[i : i + size]) for i in range(0, len(cheap), size)]
    return (*alone, *shared)
