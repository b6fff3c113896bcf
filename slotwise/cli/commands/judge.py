"""The command ``judge``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.models.judge.verdict import Verdict


@command(
    "slotwise.judge",
    Purpose.PLACE,
    placement=options.Plan,
    running=Annotated[
        bool, typer.Option("--running", help="Judge what the instance says is running.")
    ],
)
def judge(call: Call, *, as_json: options.Json = False) -> int:
    """Check a placement, or what runs now, and compute its cost."""
    verdict: Verdict = call()
    if as_json:
        from slotwise.models.instance_file import instance_hash

        print_json({"instance": instance_hash(verdict.problem.instance)} | verdict.to_document())
    else:
        from slotwise.cli.render.results import show_verdict

        show_verdict(verdict)
    return Exit.DONE if verdict.valid else Exit.FAILED
