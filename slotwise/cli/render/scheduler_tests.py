"""Which checks hold and which fail, for people."""

from __future__ import annotations

import shlex

from rich.console import RenderableType

from slotwise.cli.exits import emit
from slotwise.cli.render.tables import show, table
from slotwise.cli.scheduler_tests import Tested
from slotwise.models.display import counted
from slotwise.testing.checks.report import Report, State


def show_tested(tested: Tested) -> None:
    """Show a row per check, what was not judged, and how to see each failure again."""
    rows = [(str(r.demand), r.state.value, str(r.judged), _said(r)) for r, _ in tested.rows]
    holding = sum(report.state is State.HOLDS for report, _ in tested.rows)
    show(
        f"{tested.scheduler}: {holding} of {len(tested.rows)} checks hold.",
        table(rows, ("check", "", "judged", "finding"), ("judged",)),
        *_not_judged(tested),
    )
    emit("".join(f"{line}\n" for line in _again(tested)))  # a command is not to be wrapped


def _said(report: Report) -> str:
    share = "" if report.share is None else f"holds on {100 * report.share:.4g} %"
    found = "" if report.failure is None else report.failure.finding.message
    return "; ".join(part for part in (share, found) if part)


def _not_judged(tested: Tested) -> list[RenderableType]:
    lines = [
        f"  {report.demand}: {counted(count, 'instance')}: {why}"
        for report, _ in tested.rows
        for why, count in report.not_judged.items()
    ]
    return ["Not judged:", *lines, ""] if lines else []


def _again(tested: Tested) -> list[str]:
    lines: list[str] = []
    for report, files in tested.rows:
        if report.failure is not None and files is not None:
            size = report.failure.size()
            lines.append(f"{report.demand} fails; smallest failing instance: {size}.")
            lines += filter(None, [report.failure.why_not_smaller()])
            lines.append("Reproduce with:")
            lines.append(f"  {files.again}")
            if files.placement is not None:
                words = ["slotwise", "judge", str(files.instance), str(files.placement)]
                lines.append(f"  {shlex.join(words)}")
    return lines
