"""The command ``measure``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.commands.logs import measured_options
from slotwise.cli.exits import Exit, print_json


@options.whole_decoded_cluster
def measure(
    logs: Annotated[
        str,
        typer.Argument(
            metavar="LOGS",
            help="Folder with logs: Storm's metric lines (*.metrics*) and JSON lines (*.jsonl*).",
        ),
    ],
    topology: measured_options.Topology,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="INSTANCE", help="Write the measured instance to this file."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="HTML", help="Also write what was measured as a page."),
    ] = None,
    window: measured_options.Window = "60s",
    statistic: measured_options.Statistic = "mean",
    ghz: measured_options.ClockRates = None,
    tuple_bytes: measured_options.TupleBytes = None,
    interval: measured_options.Interval = None,
    zone: measured_options.Zone = "UTC",
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep the tables here, so that the next run reads new files only."
        ),
    ] = None,
    master: measured_options.Master = "local[*]",
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Measure demands, rates and places of topologies by a cluster's logs, on Spark."""
    for path, option in ((out, "--out"), (page, "--page")):
        inputs.check_target(path, option)
    with exits.held():
        from slotwise.api.logs import measuring
        from slotwise.benchmarks.grading.progress.display import waiting_for
    with options.as_options(**measured_options.FIELDS, store="--store"):
        measured = measuring.measure(
            logs,
            topology,
            window=window,
            statistic=statistic,
            ghz=ghz,
            tuple_bytes=tuple_bytes,
            interval=interval,
            zone=zone,
            store=store,
            master=master,
            starting=nullcontext() if quiet else waiting_for("starting Spark", True),
            **decoded,
        )
    if out is not None:
        from slotwise.models.instance_file import write_instance

        write_instance(out, measured.instance)
    if page is not None:
        measured.write_page(page)
    if as_json:
        print_json(measured.to_document())
    else:
        from slotwise.cli.render.logs.measured import show_measured

        show_measured(measured)
    return Exit.DONE
