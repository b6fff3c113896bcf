"""The command ``convert``: an instance as a linear model in a file that other solvers read."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError
from slotwise.models.values import exact, plain

FORMATS = ("mps", "lp")


def convert(
    instance: options.Instance,
    to: Annotated[str, typer.Option("--to", metavar="mps|lp", help="Format.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write.")],
    term: Annotated[
        str | None,
        typer.Option("--term", metavar="TERM", help="What to minimise; default: the first term."),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            "--fix",
            metavar="TERM=VALUE",
            help="A term that may not exceed VALUE, say its optimum; repeatable.",
        ),
    ] = None,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    submitters: options.Submitters = False,
    as_json: options.Json = False,
) -> int:
    """Write the linear model of engine milp, for one term of the objective.

    The other terms are left out unless --fix names them.
    """
    options.known(to, list(FORMATS), "--to")
    inputs.check_target(out)
    fixed = dict(_fixed(word) for word in fix or [])
    problem = inputs.load_problem(instance, topology, worker_min_cpu, submitters)
    with exits.held():
        from slotwise.models.formats.atomic_file import write_atomically
        from slotwise.solver.compact.milp.export import linear_model

    written = linear_model(problem, to, term, fixed)
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


def _fixed(word: str) -> tuple[str, Decimal]:
    name, equals, value = word.rpartition("=")
    if not equals:
        raise InputError("must be TERM=VALUE", field="--fix", value=word)
    return name, exact(value, f"--fix {name}")
