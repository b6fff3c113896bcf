"""The command ``place``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import Exit, print_json


@options.decoded_cluster
def place(
    instance: options.Instance,
    method: Annotated[
        str,
        typer.Option(
            "--with", metavar="METHOD", help="Name of a method; slotwise methods lists them."
        ),
    ],
    seed: options.Seed = 0,
    out: options.Out = None,
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Run a published method.

    A placement that breaks a hard rule is a failure.
    """
    with exits.held():
        from slotwise.cli import answers as running
        from slotwise.heuristics.registry import find_method

    chosen = find_method(method)
    inputs.check_target(out)
    problem = inputs.load_problem(instance, **decoded)
    placed = running.placed(problem, chosen, seed)
    if out is not None and placed.placement is not None and placed.code == Exit.DONE:
        inputs.save_placement(out, problem.instance, placed.placement)
    if as_json:
        print_json(placed.to_document())
    else:
        from slotwise.cli.render.results import show_placed

        show_placed(placed)
    return placed.code
