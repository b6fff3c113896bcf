"""Files of the cases that a validator is wrong about, for ``slotwise judge``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from slotwise.models.errors import InputError
from slotwise.models.formats.atomic_file import write_atomically
from slotwise.models.formats.placement_file import placement_text
from slotwise.models.instance_file import instance_text
from slotwise.testing.validators.answers import question
from slotwise.testing.validators.report import Finding


def save_findings(findings: tuple[Finding, ...], folder: Path) -> list[str]:
    """Write instance, placement and question of each finding, over files of an earlier run.

    Returns
    -------
    list of str
        For each finding the command that shows what the judge says.

    Raises
    ------
    InputError
        When `folder` is a file, or cannot be made or written to.
    """
    if not findings:
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"cannot be made: {error.strerror}"
        raise InputError(rule, field="--save", value=str(folder)) from error
    return [_save(finding, folder, name) for name, finding in _named(findings)]


def _named(findings: tuple[Finding, ...]) -> Iterator[tuple[str, Finding]]:
    for finding in findings:
        case = finding.case
        side = "keeps" if case.keeps else "breaks"
        yield re.sub(r"[^a-z0-9_]+", "-", f"{case.rule}-{case.sub_case}-{side}".lower()), finding


def _save(finding: Finding, folder: Path, name: str) -> str:
    case = finding.case
    instance, placement = folder / f"{name}.instance.json", folder / f"{name}.placement.json"
    write_atomically(instance, instance_text(case.instance))
    write_atomically(placement, placement_text(case.instance, case.placement))
    write_atomically(folder / f"{name}.stdin.json", question(case.instance, case.placement))
    return shlex.join(["slotwise", "judge", str(instance), str(placement)])
