"""The command ``profile``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit

if TYPE_CHECKING:
    from slotwise.api.profiling import Profiled


@command(
    "slotwise.profile",
    Purpose.CLUSTER,
    task=Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="package.module:callable, called with each tuple's number; or a command that "
            "answers each line of its stdin with a line.",
        ),
    ],
    out=Annotated[
        Path,
        typer.Option(
            metavar="MODEL",
            callback=options.target,
            help="Write the model to this file (JSON, YAML, CSV, Parquet); the trials beside it.",
        ),
    ],
    name=Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the model; default: the file's name.")
    ],
    parallel=Annotated[
        str, typer.Option(metavar="KIND", help="threads, or processes (no shared Python lock).")
    ],
    threads=Annotated[str, typer.Option(metavar="LIST", help="Numbers of threads to try.")],
    seconds=Annotated[float, typer.Option(help="Duration of each trial.")],
    warm_up=Annotated[float, typer.Option(help="Warm-up before each trial, not counted.")],
    first_rate=Annotated[float, typer.Option(help="First rate to try, tuples/s.")],
    max_rate=Annotated[float, typer.Option(help="Highest rate to try, tuples/s.")],
    resolution=Annotated[float, typer.Option(help="Relative precision of peak rates.")],
    max_slope=Annotated[
        float, typer.Option(help="Highest latency increase of a stable trial, s per s.")
    ],
    core=Annotated[
        int | None, typer.Option(metavar="N", help="Core for the task; default: the last one.")
    ],
    memory_mb=Annotated[int, typer.Option(help="Memory of a slot.")],
    around=None,
)
def profile(call: Call, *, quiet: options.Quiet = False, as_json: options.Json = False) -> int:
    """Measure the performance model of a task on this machine.

    Runs trials with more and more threads at higher and higher rates, on one core, until more
    threads do not help. Ctrl-C keeps the trials; the same command resumes.
    """
    from slotwise.cli.profile_progress import progress
    from slotwise.models.formats.json_text import pretty_json
    from slotwise.models.performance.file import models_document

    try:
        with progress(quiet) as shown:
            profiled: Profiled = call(around=shown.around)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED  # every trial that ended is in the file
    models = {profiled.model.name: profiled.model}
    if as_json:
        exits.emit(pretty_json(models_document(models)) + "\n")
    else:
        from slotwise.cli.render.allocations import show_models

        show_models(models)
        if profiled.left_out:
            counts = ", ".join(map(str, profiled.left_out))
            exits.emit(
                f"Left out as noise, because slower than with fewer threads: {counts} threads.\n"
            )
    return Exit.DONE
