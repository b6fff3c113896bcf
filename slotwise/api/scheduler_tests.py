"""Checks of a scheduler, with files of the failures: ``test-scheduler``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.api.exit_code import Exit
from slotwise.models.instance.instance import Instance
from slotwise.models.problem.compile import compile_problem
from slotwise.testing.checks.drawn import check_kind
from slotwise.testing.checks.failures import FailureFiles, command, save_failure
from slotwise.testing.checks.report import Failure, Report, State
from slotwise.testing.checks.scheduler import as_scheduler
from slotwise.testing.checks.scope import parse_rules
from slotwise.testing.checks.search import Budget, look_at, search
from slotwise.testing.checks.table import DEFAULT, Demand, parse_demand
from slotwise.testing.checks.trial import Trial

FAILURE_KEYS = ("kinds", "finding", "instance", "file", "placement", "again")
"""Keys of a failure in the document."""


@dataclass(frozen=True, slots=True)
class SelectedChecks:
    """A scheduler, its checks, and the seeds of both."""

    trial: Trial
    demands: tuple[Demand, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Tested:
    """The reports of the checks, with the files of each failure."""

    scheduler: str
    seed: int
    rows: tuple[tuple[Report, tuple[FailureFiles, ...]], ...]

    @property
    def exit_code(self) -> Exit:
        """Of ``test-scheduler``: failed where a check fails."""
        states = {report.state for report, _ in self.rows}
        if State.FAILS in states:
            return Exit.FAILED
        return Exit.NO_ANSWER if State.NOT_JUDGED in states else Exit.DONE

    def to_document(self) -> dict[str, Any]:
        """Return what ``test-scheduler --json`` prints."""
        return {
            "scheduler": self.scheduler,
            "seed": self.seed,
            "checks": [_check(report, files) for report, files in self.rows],
        }


def _check(report: Report, files: tuple[FailureFiles, ...]) -> dict[str, Any]:
    """Return a check as JSON-ready data; the first of several failures has a key of its own."""
    failures = [_failure(*one) for one in zip(report.failures, files, strict=True)]
    first = failures[0] if failures else dict.fromkeys(FAILURE_KEYS)
    return report.to_document() | first | {"failures": failures}


def _failure(failure: Failure, files: FailureFiles) -> dict[str, Any]:
    placement = None if files.placement is None else str(files.placement)
    saved = {"file": str(files.instance), "placement": placement, "again": files.again}
    return failure.to_document() | saved


def select_checks(
    scheduler: str,
    checks: Sequence[str],
    seed: int,
    time_limit_s: float,
    rules: str | None = None,
) -> SelectedChecks:
    """Return the checks that the arguments of the command select."""
    demands = tuple(parse_demand(text) for text in checks) or DEFAULT
    named = parse_rules(rules)
    trial = Trial(as_scheduler(scheduler, seed=seed), time_limit_s, rules=named)
    return SelectedChecks(trial, demands, seed)


def on_random_instances(
    selected: SelectedChecks, examples: int, kind: str | None, folder: Path
) -> Tested:
    """Run each check on random instances, and save the failures."""
    check_kind(kind)
    rows: list[tuple[Report, tuple[FailureFiles, ...]]] = []
    for demand in selected.demands:
        report = search(demand, selected.trial, budget=Budget(examples, selected.seed), kind=kind)
        files = (save_failure(folder, selected.trial, demand, one) for one in report.failures)
        rows.append((report, tuple(files)))
    return Tested(selected.trial.scheduler.name, selected.seed, tuple(rows))


def on_instance(selected: SelectedChecks, instance: Instance, file: str) -> Tested:
    """Run each check on one instance, which is in `file`."""
    compile_problem(instance)
    rows: list[tuple[Report, tuple[FailureFiles, ...]]] = []
    for demand in selected.demands:
        report = look_at(demand, selected.trial, instance)
        again = command(selected.trial, demand, file)
        files = tuple(FailureFiles(Path(file), None, again) for _ in report.failures)
        rows.append((report, files))
    return Tested(selected.trial.scheduler.name, selected.seed, tuple(rows))
