"""The command ``convert``: an instance as a linear model in a file that other solvers read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import Exit, print_json
from slotwise.models.values import plain

FORMATS = ("mps", "lp")


@options.decoded_cluster
def convert(
    instance: options.Instance,
    to: Annotated[str, typer.Option("--to", metavar="mps|lp", help="Format.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write.")],
    term: Annotated[
        str | None,
        typer.Option("--term", metavar="TERM", help="Term to minimise; default: the first."),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            "--fix",
            metavar="TERM=VALUE",
            help="Let TERM be at most VALUE, for example its optimum; repeatable.",
        ),
    ] = None,
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Write the linear model of engine milp, for one term of the objective.

    The other terms are left out unless --fix names them.
    """
    options.known(to, list(FORMATS), "--to")
    inputs.check_target(out)
    with exits.held():
        from slotwise.api import exporting
        from slotwise.models.formats.atomic_file import write_atomically

    with options.as_options(fix="--fix"):
        fixed = dict(exporting.as_fixed(fix))
    problem = inputs.load_problem(instance, **decoded)
    with options.as_options(fix="--fix", term="--term"):
        written = exporting.convert(problem, to, term=term, fix=fixed)
    write_atomically(out, written.text)
    document = {
        "file": str(out),
        "format": to,
        "term": written.term,
        "unit": plain(written.unit),
        "columns": written.columns,
        "rows": written.rows,
    }
    if as_json:
        print_json(inputs.hashed(problem.instance) | document)
    else:
        exits.emit(
            f"{out}: minimises {written.term}; {written.columns} columns, {written.rows} rows\n"
        )
    return Exit.DONE
