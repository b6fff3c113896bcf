"""The command ``schedule``: one round of Storm's Resource Aware Scheduler over all topologies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import print_json

if TYPE_CHECKING:
    from slotwise.api.scheduling import Scheduled


@command(
    "slotwise.schedule",
    Purpose.PLACE,
    priority=Annotated[
        str | None,
        typer.Option(metavar="NAME", help="default, fifo or generic; default: the instance's."),
    ],
    pools=Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="File of resource pools: {owner: {cpu: ..., memory_mb: ...}}."
        ),
    ],
    strategy=Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Strategy for all topologies; default: each topology's own."
        ),
    ],
    exact=Annotated[
        bool,
        typer.Option(
            "--exact", help="Also find the best set and the smallest evictions, with proofs."
        ),
    ],
)
def schedule(call: Call, *, out: options.Out = None, as_json: options.Json = False) -> int:
    """Schedule as Storm does: by priority, with evictions.

    The time limit applies to each question of --exact.
    """
    scheduled: Scheduled = call()
    if out is not None and scheduled.valid:
        from slotwise.models.formats.placement_file import write_placement

        write_placement(out, scheduled.given, scheduled.placement)
    if as_json:
        print_json(scheduled.to_document())
    else:
        from slotwise.cli.render.schedule import show_scheduled

        show_scheduled(scheduled)
    return scheduled.exit_code
