"""The command ``summary``: what a grading comes to, in a table."""

from __future__ import annotations

from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Purpose, own_command
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError


@own_command(Purpose.COMPARE)
def summary(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder written by `slotwise grade --out DIR`.")
    ],
    by: Annotated[
        str,
        typer.Option(
            metavar="A,B", help="Keep classes of instances apart: family, size, tightness."
        ),
    ] = "",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the methods as CSV.")] = False,
    as_json: options.Json = False,
    as_latex: Annotated[
        bool, typer.Option("--latex", help="Print the methods as a LaTeX table (booktabs).")
    ] = False,
    solver_gap: Annotated[
        bool,
        typer.Option(
            "--solver-gap", help="Gaps as MIP solvers print them: (value - bound) / value."
        ),
    ] = False,
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Spark master, for example spark://host:7077; default: without Spark, where the "
            "folder is on this machine.",
        ),
    ] = None,
    seed: options.Seed = 0,
) -> int:
    """Sum a grading up: placements, gaps to the optimum, wins and seconds of each method."""
    formats = {"--csv": as_csv, "--json": as_json, "--latex": as_latex}
    chosen = [name for name, is_on in formats.items() if is_on]
    if len(chosen) > 1:
        raise InputError(f"cannot be given together: {' and '.join(chosen)}", has_value=False)
    with exits.defer_interrupts():
        from slotwise.api.summing import summary as summarise
        from slotwise.benchmarks.judged.plain_table import csv_text
        from slotwise.cli.render.graded import latex_summary, show_summary

    with options.as_options(by="--by", master="--master", folder="DIR"):
        grading = summarise(
            folder, by=by, solver_gap=solver_gap, master=master, seed=seed, progress=True
        )
    if as_json:
        print_json(grading.to_document())
    elif as_csv:
        exits.emit(csv_text(grading.methods))
    elif as_latex:
        exits.emit(latex_summary(grading))
    else:
        show_summary(grading)
    return Exit.DONE
