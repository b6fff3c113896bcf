"""The command ``measure``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.commands.logs import following
from slotwise.cli.exits import Exit, print_json


def measure(
    logs: Annotated[
        str,
        typer.Argument(
            metavar="LOGS",
            help="Folder with logs: Storm's metric lines (*.metrics*) and JSON lines (*.jsonl*); "
            "with --follow also kafka://HOST:PORT/TOPIC.",
        ),
    ],
    topology: Annotated[
        str,
        typer.Option(
            "--topology", metavar="FILE", help="Instance file of what runs (JSON or YAML)."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="INSTANCE", help="Write the measured instance to this file."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="HTML", help="Also write what was measured as a page."),
    ] = None,
    window: Annotated[
        str, typer.Option(metavar="LENGTH", help="Length of a window: 90s, 5m, 1h.")
    ] = "60s",
    statistic: Annotated[
        str, typer.Option(metavar="NAME", help="mean; or over windows p50, p95, max.")
    ] = "mean",
    ghz: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='Clock rates of the nodes, {"n1": 2.4}; default: as the lines say, else 1.',
        ),
    ] = None,
    tuple_bytes: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES", help="Size of a tuple where neither logs nor file tell it; default: 1."
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Time between two samples of a task; default: recognised."
        ),
    ] = None,
    zone: Annotated[
        str, typer.Option(metavar="NAME", help="Time zone of Storm's log, such as Europe/Berlin.")
    ] = "UTC",
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep the tables here, so that the next run reads new files only."
        ),
    ] = None,
    master: Annotated[
        str, typer.Option(metavar="URL", help="Spark master, for example spark://host:7077.")
    ] = "local[*]",
    follow: following.Follow = False,
    checkpoint: following.CheckpointDir = None,
    advice: following.AdviceFile = None,
    trigger: following.TriggerEvery = "30s",
    once: following.Once = False,
    max_moves: following.MaxMoves = 3,
    min_gain: following.MinGain = "5%",
    cooldown: following.Cooldown = "10m",
    engine: options.Engine = "auto",
    time_limit: options.TimeLimit = 10.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    jars: following.Jars = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    worker_min_cpu: options.WorkerMinCpu = None,
    submitters: options.Submitters = False,
) -> int:
    """Measure demands, rates and places of topologies by a cluster's logs, on Spark.

    With --follow it goes on while the cluster runs and says, batch by batch, whether a rebalance
    pays. Ctrl-C ends that; the same command resumes.
    """
    for path, option in ((out, "--out"), (page, "--page")):
        inputs.check_target(path, option)
    following.check_together(follow, checkpoint, once, page=page, store=store)
    if follow:
        return following.run(
            logs,
            topology,
            quiet,
            as_json,
            checkpoint=checkpoint,
            advice=advice,
            out=out,
            trigger=trigger,
            once=once,
            max_moves=max_moves,
            min_gain=min_gain,
            cooldown=cooldown,
            engine=engine,
            time_limit_s=time_limit,
            workers=workers,
            seed=seed,
            window=window,
            statistic=statistic,
            ghz=ghz,
            tuple_bytes=tuple_bytes,
            interval=interval,
            zone=zone,
            master=master,
            jars=jars or (),
            worker_min_cpu=worker_min_cpu,
            submitters=submitters,
        )
    with exits.held():
        from slotwise.api.logs import measuring
        from slotwise.benchmarks.grading.progress.display import waiting_for
    with options.as_options(**_OPTIONS):
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
            worker_min_cpu=worker_min_cpu,
            submitters=submitters,
            starting=nullcontext() if quiet else waiting_for("starting Spark", True),
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


_OPTIONS = {
    "logs": "LOGS",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            *("window", "statistic", "ghz", "tuple_bytes", "interval", "zone", "store", "master"),
            *("topology", "worker_min_cpu"),
        )
    },
}
