"""A failure for people: its message, its files, and the commands that open them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from slotwise.heuristics.method import MethodError
from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.placement_file import placement_text
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_hash, instance_text
from slotwise.testing.checks.report import Failure
from slotwise.testing.checks.scheduler import TIME_LIMIT_S, NamedScheduler
from slotwise.testing.checks.table import Demand
from slotwise.testing.checks.trial import Trial


def command(trial: Trial, demand: Demand, file: str | Path) -> str:
    """Return the command that makes one check on the instance in a file.

    For a scheduler that only this process knows, ``SCHEDULER`` stands in its place.
    """
    scheduler = trial.scheduler
    words = ["slotwise", "test-scheduler", scheduler.text or "SCHEDULER"]
    words += ["--instance", str(file), "--check", str(demand)]
    if trial.rules is not None:
        words += ["--rules", ",".join(sorted(trial.rules))]
    if scheduler.seed:
        words += ["--seed", str(scheduler.seed)]
    if trial.time_limit_s != TIME_LIMIT_S:
        words += ["--time-limit", f"{trial.time_limit_s:g}"]
    return shlex.join(words)


def headline(scheduler: NamedScheduler, demand: Demand, failure: Failure) -> str:
    """Return in one line which check fails, how, and on how small an instance."""
    return f"{scheduler.name} fails {demand} on {failure.size()}: {failure.finding.message}"


def failure_text(scheduler: NamedScheduler, demand: Demand, failure: Failure, again: str) -> str:
    """Return finding, instance and the command `again`."""
    return "\n".join(
        (
            headline(scheduler, demand, failure),
            "The smallest instance that was found:",
            instance_text(failure.instance).rstrip(),
            *filter(None, [failure.why_not_smaller()]),
            f"Reproduce with: {again}",
        )
    )


HASH_LETTERS = 8


@dataclass(frozen=True, slots=True)
class FailureFiles:
    """Where a failure was saved.

    Parameters
    ----------
    instance
        An instance file, for ``solve`` and ``judge``.
    placement
        What the scheduler made of it; ``None`` = nothing that could be written.
    again
        The command that makes the check on this instance again.
    """

    instance: Path
    placement: Path | None
    again: str


def save_failure(folder: Path, trial: Trial, demand: Demand, failure: Failure) -> FailureFiles:
    """Write the files of a failure, each whole or not at all; the instance's hash names them.

    Parameters
    ----------
    folder
        Made where it does not exist.
    trial, demand, failure
        Who fails which check, and on what.

    Raises
    ------
    InputError
        When a file cannot be written.
    """
    digest = instance_hash(failure.instance).rpartition(":")[2][:HASH_LETTERS]
    file = folder / f"{demand.check.name}-{digest}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"cannot be made: {error.strerror or error}"
        raise InputError(rule, has_value=False, file=str(folder)) from error
    write_atomically(file, instance_text(failure.instance))
    placement = _save_placement(file, trial, failure)
    again = command(trial, demand, file)
    lines = [headline(trial.scheduler, demand, failure), again]
    lines.append(shlex.join(["slotwise", "solve", str(file)]))
    if placement is not None:
        lines.append(shlex.join(["slotwise", "judge", str(file), str(placement)]))
    write_atomically(file.with_suffix(".txt"), "\n".join(lines) + "\n")
    return FailureFiles(file, placement, again)


def _save_placement(file: Path, trial: Trial, failure: Failure) -> Path | None:
    try:
        answer = trial.answer(failure.instance)
    except MethodError:
        return None
    if not isinstance(answer, Placement):
        return None
    path = file.with_suffix(".placement.json")
    write_atomically(path, placement_text(failure.instance, answer))
    return path
