"""The command ``convert``: an instance as a linear model in a file that other solvers read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.solver.compact.milp.export import Written


@command(
    "slotwise.convert",
    Purpose.FILES,
    to=Annotated[str, typer.Option(metavar="mps|lp", help="Format.")],
    term=Annotated[
        str | None, typer.Option(metavar="TERM", help="Term to minimise; default: the first.")
    ],
    fix=Annotated[
        list[str] | None,
        typer.Option(
            metavar="TERM=VALUE",
            help="Let TERM be at most VALUE, for example its optimum; repeatable.",
        ),
    ],
)
def convert(
    call: Call,
    *,
    to: str,
    out: Annotated[
        Path, typer.Option(metavar="FILE", callback=options.target, help="File to write.")
    ],
    as_json: options.Json = False,
) -> int:
    """Write the linear model of engine milp, for one term of the objective.

    The other terms are left out unless --fix names them.
    """
    with exits.defer_interrupts():
        from slotwise.models.formats.file_bytes import write_atomically
        from slotwise.models.instance_file import instance_hash
        from slotwise.models.values import plain

    instance = call.problem().instance
    written: Written = call()
    write_atomically(out, written.text)
    if as_json:
        document = {
            "instance": instance_hash(instance),
            "file": str(out),
            "format": to,
            "term": written.term,
            "unit": plain(written.unit),
            "columns": written.columns,
            "rows": written.rows,
        }
        print_json(document)
    else:
        exits.emit(
            f"{out}: minimises {written.term}; {written.columns} columns, {written.rows} rows\n"
        )
    return Exit.DONE
