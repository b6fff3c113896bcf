"""The command ``measure``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json
from slotwise.cli.options import MEASURED

if TYPE_CHECKING:
    from slotwise.api.measuring import Measurement


@command(
    "slotwise.measure",
    Purpose.CLUSTER,
    logs=Annotated[
        str,
        typer.Argument(
            metavar="LOGS",
            help="Folder with logs: Storm's metric lines (*.metrics*) and JSON lines (*.jsonl*).",
        ),
    ],
    store=Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep what was read and computed here: the next run reads only new files and "
            "recomputes only the days of their lines.",
        ),
    ],
    aside=Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            callback=options.target,
            help="Write the lines kept aside to this file, each with its own file and the reason.",
        ),
    ],
    accept_damaged=Annotated[
        bool,
        typer.Option(
            "--accept-damaged", help="Write weights even if more than 5 % of the lines are damaged."
        ),
    ],
    on_stage=None,
    **MEASURED,
)
def measure(
    call: Call,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="INSTANCE",
            callback=options.target,
            help="Write the measured instance to this file.",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="HTML",
            callback=options.target,
            help="Also write what was measured as a page.",
        ),
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> int:
    """Measure demands, rates and places of topologies from a cluster's logs, on Spark.

    Ctrl-C ends it; with a store, the same command goes on from the last complete step.
    """
    from slotwise.benchmarks.grading.progress.display import stages
    from slotwise.pipeline.spark.session import tasks_done
    from slotwise.pipeline.statistics.manifest import NAME as MANIFEST

    try:
        with stages(not quiet, tasks_done) as say:
            say("starting Spark")
            measured: Measurement = call(on_stage=say)
    except KeyboardInterrupt:
        store = call.arguments.get("store")
        if store is None or not (Path(store) / MANIFEST).is_file():
            raise
        return Exit.INTERRUPTED  # the store has what was complete
    if out is not None:
        from slotwise.models.instance_file import write_instance

        write_instance(out, measured.instance)
    if page is not None:
        measured.write_page(page)
    if as_json:
        print_json(measured.to_document())
    else:
        from slotwise.cli.render.measured import show_measured

        show_measured(measured)
    return Exit.DONE
