"""The command ``place``."""

from __future__ import annotations

from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json


@command(
    "slotwise.place",
    Purpose.PLACE,
    method=Annotated[
        str,
        typer.Option(
            "--with", metavar="METHOD", help="Name of a method; slotwise methods lists them."
        ),
    ],
)
def place(
    call: Call, *, method: str, seed: int, out: options.Out = None, as_json: options.Json = False
) -> int:
    """Run a published method.

    A placement that breaks a hard rule is a failure.
    """
    with exits.defer_interrupts():
        from slotwise.api.placing import as_method, place_and_judge
        from slotwise.models.formats.placement_file import write_placement

    chosen = as_method(method)
    placed = place_and_judge(call.problem(), chosen, seed)
    if out is not None and placed.placement is not None and placed.exit_code == Exit.DONE:
        write_placement(out, placed.instance, placed.placement)
    if as_json:
        print_json(placed.to_document())
    else:
        from slotwise.cli.render.results import show_placed

        show_placed(placed)
    return placed.exit_code
