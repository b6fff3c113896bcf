"""What the command ``test-scheduler`` does, and the document and exit code that it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.cli.exits import Exit
from slotwise.models.instance.instance import Instance
from slotwise.models.problem.compile import compile_problem
from slotwise.testing.checks.drawn import check_kind
from slotwise.testing.checks.failure_files import FailureFiles, save_failure
from slotwise.testing.checks.failure_text import command
from slotwise.testing.checks.one_instance import look_at
from slotwise.testing.checks.report import Report, State
from slotwise.testing.checks.scheduler import as_scheduler
from slotwise.testing.checks.search import Budget, search
from slotwise.testing.checks.table import DEFAULT, Demand, parse_demand
from slotwise.testing.checks.trial import Trial


@dataclass(frozen=True, slots=True)
class Asked:
    """A scheduler, the checks it is put to, and the seed of both sides."""

    trial: Trial
    demands: tuple[Demand, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Tested:
    """What the checks said, with the files of each that fails (``None`` = nothing was saved)."""

    scheduler: str
    seed: int
    rows: tuple[tuple[Report, FailureFiles | None], ...]

    @property
    def code(self) -> Exit:
        """The exit code."""
        states = {report.state for report, _ in self.rows}
        if State.FAILS in states:
            return Exit.FAILED
        return Exit.NO_ANSWER if State.NOT_JUDGED in states else Exit.DONE

    def to_document(self) -> dict[str, Any]:
        """Return what ``test-scheduler --json`` prints."""
        return {
            "scheduler": self.scheduler,
            "seed": self.seed,
            "checks": [report.to_document() | _saved(files) for report, files in self.rows],
        }


def _saved(files: FailureFiles | None) -> dict[str, str | None]:
    if files is None:
        return {"file": None, "placement": None, "again": None}
    placement = None if files.placement is None else str(files.placement)
    return {"file": str(files.instance), "placement": placement, "again": files.again}


def asked(scheduler: str, checks: Sequence[str], seed: int, time_limit_s: float) -> Asked:
    """Return what the arguments of the command ask for."""
    demands = tuple(parse_demand(text) for text in checks) or DEFAULT
    return Asked(Trial(as_scheduler(scheduler, seed=seed), time_limit_s), demands, seed)


def on_random_instances(asked: Asked, examples: int, kind: str | None, folder: Path) -> Tested:
    """Make each check on random instances, and save what fails."""
    check_kind(kind)
    rows: list[tuple[Report, FailureFiles | None]] = []
    for demand in asked.demands:
        report = search(demand, asked.trial, budget=Budget(examples, asked.seed), kind=kind)
        failure = report.failure
        files = None if failure is None else save_failure(folder, asked.trial, demand, failure)
        rows.append((report, files))
    return Tested(asked.trial.scheduler.name, asked.seed, tuple(rows))


def on_instance(asked: Asked, instance: Instance, file: str) -> Tested:
    """Make each check on one instance, which is in `file`."""
    compile_problem(instance)
    rows: list[tuple[Report, FailureFiles | None]] = []
    for demand in asked.demands:
        report = look_at(demand, asked.trial, instance)
        again = command(asked.trial.scheduler, demand, file, asked.trial.time_limit_s)
        files = None if report.failure is None else FailureFiles(Path(file), None, again)
        rows.append((report, files))
    return Tested(asked.trial.scheduler.name, asked.seed, tuple(rows))
