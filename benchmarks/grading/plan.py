"""One run of a grading, and what a grading does with every case: methods, and the optimum."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from slotwise.benchmarks.grading.environment import (
    engine_version,
    git_revision,
    method_version,
    versions,
)
from slotwise.benchmarks.grading.rows import (
    EXACT_KINDS,
    OPTIMUM,
    Kind,
    Planned,
    Subject,
    subject_of,
)
from slotwise.benchmarks.grading.sources import Case
from slotwise.heuristics.method_names import is_command, is_storm
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.sam.pairs import PAIRS
from slotwise.models.prediction.assumptions import Assumptions


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
        Of the run, with all that it starts; ``None`` = its share of the executor's memory.
    work
        Units of work that limit an exact engine, see `solve`; `time_limit_s` is then a safety
        limit that no answer depends on. ``None`` = seconds limit it.
    hint, hint_from
        The placement that an exact engine starts from, as in the column, and whose it is.
    against
        For a cross-check: the column ``proofs`` of the row that it checks.
    assumptions
        What a prediction of the placement takes for what the instance does not say; ``None`` = it
        is not predicted.
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
    work: float | None = None
    hint: str | None = None
    hint_from: str | None = None
    against: str | None = None
    assumptions: Assumptions | None = None

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
                if self.kind in EXACT_KINDS
                else self.method_parameters
            ),
            "seed": self.seed,
            "time_limit_s": self.time_limit_s,
            "workers": self.workers,
            "version": self.version,
            "versions": self.versions,
            "git_revision": self.git_revision,
            "hint_from": self.hint_from,
            "work_limit": self.work,
        }


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What all runs of a grading share: see `PlannedRun`.

    `crosscheck` = exact ones are checked; `seeds` = runs of each method that draws, on each case.
    """

    time_limit_s: float
    workers: int
    seed: int
    folder: str | None
    memory_limit_mb: int | None = None
    work: float | None = None
    crosscheck: bool = False
    seeds: int = 1
    assumptions: Assumptions | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """What a plan does with each case of a subject: all of a `PlannedRun` but its case.

    `repetition` counts the runs of a method that draws, from 0.
    """

    subject: str
    kind: Kind
    method: str
    limits: RunLimits
    method_parameters: str
    version: str
    versions: str
    git_revision: str | None
    repetition: int = 0

    @property
    def seed(self) -> int:
        """Of the engine or method: that of the family's instances, and the next ones."""
        return self.limits.seed + self.repetition

    @property
    def time_limit_s(self) -> float:
        """Wall-clock seconds."""
        return self.limits.time_limit_s

    def run(self, case: Case) -> PlannedRun:
        """Return the run on `case`."""
        exact = self.kind in EXACT_KINDS
        limits = self.limits
        return PlannedRun(
            case=case,
            kind=str(self.kind),
            method=self.method,
            case_seed=limits.seed,
            seed=self.seed,
            time_limit_s=limits.time_limit_s,
            workers=limits.workers if exact and self.subject == Subject.PLACEMENT else 1,
            folder=limits.folder,
            method_parameters=self.method_parameters,
            version=self.version,
            versions=self.versions,
            git_revision=self.git_revision,
            memory_limit_mb=limits.memory_limit_mb,
            work=limits.work,
            assumptions=limits.assumptions,
        )


def make_settings(
    subjects: Collection[str], methods: Iterable[str], engine: str, limits: RunLimits
) -> tuple[Setting, ...]:
    """Return what is done with cases of `subjects`: the exact runs, then each method's."""
    exact = [
        _setting(subject, Kind.EXACT, engine if subject == Subject.PLACEMENT else OPTIMUM, limits)
        for subject in sorted(subjects)
    ]
    others = [
        _setting(subject_of(method), _kind_of(method), method, limits, repetition)
        for method in methods
        if subject_of(method) in subjects
        for repetition in range(limits.seeds if _draws(method) else 1)
    ]
    checks = [
        _setting(subject, Kind.CROSSCHECK, engine, limits)
        for subject in sorted(subjects)
        if limits.crosscheck and subject == Subject.PLACEMENT
    ]
    return (*exact, *others, *checks)


def make_plan(
    cases: Sequence[Case], methods: Iterable[str], engine: str, limits: RunLimits
) -> tuple[PlannedRun, ...]:
    """Return the runs on few cases, without Spark: the exact ones first, largest case first."""
    hardest_first = sorted(cases, key=lambda case: (-case.tasks * case.nodes, -case.tasks))
    settings = make_settings({case.subject for case in cases}, methods, engine, limits)
    exact = [one for one in settings if one.kind is Kind.EXACT]
    others = [one for one in settings if one.kind is not Kind.EXACT]
    return tuple(
        one.run(case)
        for some in (exact, others)
        for case in hardest_first
        for one in some
        if one.subject == case.subject
    )


def _kind_of(method: str) -> Kind:
    return Kind.EXTERNAL if is_command(method) else Kind.HEURISTIC


def _parameters_of(kind: Kind, method: str) -> dict[str, str]:
    """Return the parameters of a method; commands, Storm's own code and pairs have none."""
    if kind is not Kind.HEURISTIC or is_storm(method) or method in PAIRS:
        return {}
    return dict(find_method(method).parameters)


def _version(kind: Kind, limits: RunLimits) -> str:
    """Return what identifies the software and what else makes another run.

    That is the limit of work, and that placements are predicted, with which assumptions.
    """
    parts = [engine_version() if kind in EXACT_KINDS else method_version()]
    if limits.work is not None:
        parts.append(f"{limits.work:g} units of work")
    if limits.assumptions is not None:
        text = json.dumps(limits.assumptions.to_document(), sort_keys=True, default=str)
        parts.append(f"predicted {sha256(text.encode()).hexdigest()[:8]}")
    return ", ".join(parts)


def _draws(method: str) -> bool:
    return method not in PAIRS and (is_command(method) or find_method(method).draws)


def _setting(
    subject: str, kind: Kind, method: str, limits: RunLimits, repetition: int = 0
) -> Setting:
    return Setting(
        subject=str(subject),
        kind=kind,
        method=method,
        limits=limits,
        method_parameters=json.dumps(_parameters_of(kind, method)),
        version=_version(kind, limits),
        versions=json.dumps(versions()),
        git_revision=git_revision(),
        repetition=repetition,
    )
