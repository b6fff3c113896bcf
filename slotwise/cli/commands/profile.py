"""The command ``profile``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import Exit

if TYPE_CHECKING:
    from slotwise.pipeline.profiling.settings import Settings


def profile(
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="package.module:callable, called with each tuple's number; or a command that "
            "answers each line of its stdin with a line.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="MODEL",
            help="Write the model to this file (JSON, YAML, CSV, Parquet); the trials beside it.",
        ),
    ],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the model; default: the file's name.")
    ] = None,
    parallel: Annotated[
        str, typer.Option(metavar="KIND", help="threads, or processes (no shared Python lock).")
    ] = "threads",
    threads: Annotated[
        str, typer.Option(metavar="LIST", help="Numbers of threads to try.")
    ] = "1,2,4,8,16,32,64",
    seconds: Annotated[float, typer.Option(help="Duration of each trial.")] = 2.0,
    warm_up: Annotated[float, typer.Option(help="Warm-up before each trial, not counted.")] = 0.5,
    first_rate: Annotated[float, typer.Option(help="First rate to try, tuples/s.")] = 10.0,
    max_rate: Annotated[float, typer.Option(help="Highest rate to try, tuples/s.")] = 1_000_000.0,
    resolution: Annotated[float, typer.Option(help="Relative precision of peak rates.")] = 0.05,
    max_slope: Annotated[
        float, typer.Option(help="Highest latency increase of a stable trial, s per s.")
    ] = 0.02,
    core: Annotated[
        int | None, typer.Option(metavar="N", help="Core for the task; default: the last one.")
    ] = None,
    memory_mb: Annotated[int, typer.Option(help="Memory of a slot.")] = 3584,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> int:
    """Measure the performance model of a task on this machine.

    Runs trials with more and more threads at higher and higher rates, on one core, until more
    threads do not help. Ctrl-C keeps the trials; the same command resumes.
    """
    from slotwise.api.profiling import thread_counts
    from slotwise.models.values import one_of
    from slotwise.pipeline.profiling.settings import Parallel, Settings

    one_of(parallel, tuple(Parallel), "--parallel")
    settings = Settings(
        parallel=Parallel(parallel),
        threads=thread_counts(threads, "--threads"),
        seconds=seconds,
        warm_up=warm_up,
        first_rate=first_rate,
        max_rate=max_rate,
        resolution=resolution,
        max_slope=max_slope,
        memory_mb=memory_mb,
        core=core,
    )
    inputs.check_target(out)
    return _profile(task, out, name or out.stem, settings, quiet=quiet, as_json=as_json)


def _profile(
    task: str, out: Path, name: str, settings: Settings, *, quiet: bool, as_json: bool
) -> int:
    from slotwise.api.profiling import measure
    from slotwise.cli.profile_progress import progress
    from slotwise.models.formats.json_text import pretty_json
    from slotwise.models.performance.file import models_document

    try:
        with progress(settings, quiet) as shown:
            measured = measure(task, out, name, settings, shown.around)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED  # every trial that ended is in the file
    model, left_out = measured.model, measured.left_out
    if as_json:
        exits.emit(pretty_json(models_document({name: model})) + "\n")
    else:
        from slotwise.cli.render.allocations import show_models

        show_models({name: model})
        if left_out:
            counts = ", ".join(map(str, left_out))
            exits.emit(
                f"Left out as noise, because slower than with fewer threads: {counts} threads.\n"
            )
    return Exit.DONE
