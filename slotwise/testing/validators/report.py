"""What `check_validator` found: a verdict for each rule, with the smallest case of each mistake."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from slotwise.models.display import counted
from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.instance_writer import instance_document
from slotwise.models.formats.json_text import pretty_json
from slotwise.models.formats.placement_file import placement_document, placement_text
from slotwise.models.instance_file import instance_text
from slotwise.models.judge.judge import judge
from slotwise.testing.validators.answers import Answer, question
from slotwise.testing.validators.case import Case

MOST_FINDINGS = 3
"""Mistakes of a rule that the text shows in full; `ValidatorReport.findings` has all."""


class Mistake(StrEnum):
    """How a validator is wrong about a case."""

    MISSES = "misses violations"
    REJECTS = "rejects what is valid"
    MISNAMES = "names another rule"
    FAILS = "fails"
    WAVERS = "is not deterministic"


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake of the validator, with the smallest case that was found.

    Parameters
    ----------
    mistake
        What is wrong.
    case
        The smallest case; `Case.keeps` says on which side of the limit it is.
    answer
        What the validator said of it.
    """

    mistake: Mistake
    case: Case
    answer: Answer

    def truth(self) -> str:
        """Return what the judge says of the case, on one line."""
        violations = judge(self.case.instance, self.case.placement).violations
        return "; ".join(map(str, violations)) or "valid: every hard rule holds"

    def __str__(self) -> str:
        """Return a paragraph for people."""
        case = self.case
        return (
            f"{case.rule}, {case.sub_case}: {self.mistake} ({case.size})\n"
            f"  judge:     {self.truth()}\n"
            f"  validator: {self.answer}"
        )

    def to_document(self) -> dict[str, Any]:
        """Return the finding as JSON-ready data, with instance and placement as in their files."""
        case = self.case
        files = {
            "instance": instance_document(case.instance),
            "placement": placement_document(case.instance, case.placement),
        }
        said = self.answer.rules
        return {
            "rule": case.rule,
            "sub_case": case.sub_case,
            "mistake": str(self.mistake),
            "judge": self.truth(),
            "validator": str(self.answer),
            "names": None if said is None else sorted(said),
            **json.loads(pretty_json(files)),
        }


@dataclass(frozen=True, slots=True)
class RuleReport:
    """What was found about one rule; `cases` were tried on both sides, 0 = it was not tried."""

    rule: str
    cases: int
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """``holds``, ``not tried``, or the mistakes that were found."""
        if not self.cases:
            return "not tried"
        return ", ".join(dict.fromkeys(str(one.mistake) for one in self.findings)) or "holds"


@dataclass(frozen=True, slots=True)
class ValidatorReport:
    """Rule by rule, whether a validator agrees with the judge; ``str`` is the table."""

    rules: tuple[RuleReport, ...]

    @property
    def holds(self) -> bool:
        """Whether no mistake was found."""
        return not self.findings

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All mistakes, in the order of the rules."""
        return tuple(finding for rule in self.rules for finding in rule.findings)

    def check(self) -> None:
        """Raise `AssertionError` with the table if a mistake was found."""
        if not self.holds:
            raise AssertionError(f"the validator and the judge disagree\n{self}")

    def __str__(self) -> str:
        """Return the table, and below it each mistake with its smallest case."""
        head = ("rule", "verdict", "cases", "smallest mistake")
        rows = [(one.rule, one.verdict, str(one.cases), _smallest(one)) for one in self.rules]
        lines = [line for one in self.rules for line in _finding_lines(one)]
        return "\n\n".join([_table([head, *rows]), *lines])

    def to_document(self) -> dict[str, Any]:
        """Return the report as JSON-ready data."""
        return {
            "holds": self.holds,
            "rules": [
                {
                    "rule": one.rule,
                    "verdict": one.verdict,
                    "cases": one.cases,
                    "findings": [finding.to_document() for finding in one.findings],
                }
                for one in self.rules
            ],
        }

    def to_json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(self.to_document(), ensure_ascii=False)


def _finding_lines(rule: RuleReport) -> list[str]:
    lines = [str(finding) for finding in rule.findings[:MOST_FINDINGS]]
    more = len(rule.findings) - len(lines)
    return [*lines, f"{rule.rule}: {counted(more, 'more mistake')}"] if more else lines


def _smallest(rule: RuleReport) -> str:
    cases = [finding.case for finding in rule.findings]
    if not cases:
        return ""
    case = min(cases, key=lambda one: (len(one.placement.nodes), len(one.instance.cluster.nodes)))
    return f"{case.sub_case}: {case.size}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


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
