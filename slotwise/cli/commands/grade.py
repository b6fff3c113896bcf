"""The commands on many instances: ``grade`` and ``report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.exits import Exit, print_json


def grade(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FAMILY|PATH",
            help="Families, files of instances or allocation cases, folders of them; "
            "default: all families, save those held out.",
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Methods to grade, also 'cmd:COMMAND' and with parameters "
            "(r-storm:normalise=capacity), and pairs that allocate (mba+sam); default: all. "
            "Repeatable.",
        ),
    ] = None,
    engine: options.Engine = "auto",
    time_limit: options.TimeLimit = 60.0,
    memory_limit: options.MemoryLimit = None,
    count: options.Count = None,
    seed: options.Seed = 0,
    master: Annotated[
        str, typer.Option(metavar="URL", help="Spark master, for example spark://host:7077.")
    ] = "local[*]",
    out: options.OutDir = Path("out"),
    as_json: options.Json = False,
) -> int:
    """Grade methods against the exact engine, on Spark; sam and its cases: slots for dataflows.

    Runs whose rows are in the folder already are skipped, so the same command goes on where an
    earlier one stopped.
    """
    with exits.held():
        from slotwise.benchmarks.grade import grade as run_grading
        from slotwise.benchmarks.grade import split_methods

    try:
        summary = run_grading(
            sources or [],
            methods=split_methods(methods),
            engine=engine,
            time_limit_s=time_limit,
            memory_limit_mb=memory_limit,
            master=master,
            out=out,
            seed=seed,
            count=count,
            progress=True,
        )
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    if as_json:
        print_json(summary.to_document())
    else:
        from slotwise.cli.render.results import show_grading

        show_grading(summary)
    return Exit.DONE


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `slotwise grade --out DIR` wrote.")
    ],
    as_json: options.Json = False,
) -> int:
    """Make one HTML page of a grading."""
    from slotwise.api.grading import report as make_report

    page = make_report(folder)
    if as_json:
        print_json({"report": str(page)})
    else:
        exits.emit(f"{page}\n")
    return Exit.DONE
