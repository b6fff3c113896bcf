"""Which checks hold and which fail, for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from rich.console import RenderableType

from slotwise.api.scheduler_tests import Tested
from slotwise.cli.exits import emit
from slotwise.cli.render.tables import show, table
from slotwise.models.display import counted
from slotwise.testing.checks.report import Report, State


def show_tested(tested: Tested) -> None:
    """Show a row per check, what was not judged, and how to see each failure again."""
    rows = [row for report, _ in tested.rows for row in _rows(report)]
    holding = sum(report.state is State.HOLDS for report, _ in tested.rows)
    show(
        f"{tested.scheduler}: {holding} of {len(tested.rows)} checks hold.",
        table(rows, ("check", "", "judged", "refused", "finding"), ("judged", "refused")),
        *_not_judged(tested),
    )
    emit("".join(f"{line}\n" for line in _again(tested)))  # a command is not to be wrapped


def _rows(report: Report) -> Iterator[tuple[str, ...]]:
    """Yield the row of a check, and one for each further rule that is broken."""
    share = "" if report.share is None else f"holds on {100 * report.share:.4g} %"
    first, *others = [one.finding.message for one in report.failures] or [""]
    findings = "; ".join(part for part in (share, first) if part)
    counts = (str(report.judged), str(report.refused))
    yield str(report.demand), report.state.value, *counts, findings
    for message in others:
        yield "", "", "", "", message


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
        for failure, saved in zip(report.failures, files, strict=True):
            rules = ", ".join(filter(None, failure.finding.kinds))
            kinds = f" ({rules})" if len(report.failures) > 1 else ""
            size = failure.size()
            lines.append(f"{report.demand} fails{kinds}; smallest failing instance: {size}.")
            lines += filter(None, [failure.why_not_smaller()])
            lines.append("Reproduce with:")
            lines.append(f"  {saved.again}")
            if saved.placement is not None:
                words = ["slotwise", "judge", str(saved.instance), str(saved.placement)]
                lines.append(f"  {shlex.join(words)}")
    return lines
