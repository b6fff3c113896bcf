"""The command ``follow``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.commands.logs import measured_options
from slotwise.cli.exits import Exit, print_json


@options.whole_decoded_cluster
def follow(
    logs: Annotated[
        str,
        typer.Argument(
            metavar="LOGS",
            help="Folder that logs appear in, as of measure; or kafka://HOST:PORT/TOPIC.",
        ),
    ],
    topology: measured_options.Topology,
    checkpoint: Annotated[
        Path,
        typer.Option(metavar="DIR", help="What was read so far; a later run goes on from there."),
    ],
    advice: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Append each advice as a line of JSON; default: DIR/advice.jsonl.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="INSTANCE", help="Write the measured instance to this file."),
    ] = None,
    trigger: Annotated[
        str, typer.Option(metavar="LENGTH", help="Time from one look for lines to the next.")
    ] = "30s",
    once: Annotated[
        bool, typer.Option("--once", help="End when what is there now has been read.")
    ] = False,
    max_moves: Annotated[
        int,
        typer.Option(
            callback=options.whole_number("--max-moves", 0, options.MAX_SEED),
            metavar="K",
            help="Most tasks that a rebalance may move.",
        ),
    ] = 3,
    min_gain: Annotated[
        str, typer.Option(metavar="SHARE", help="Least saving for which a rebalance pays.")
    ] = "5%",
    cooldown: Annotated[
        str,
        typer.Option(metavar="LENGTH", help="Time of the logs from one advice to the next."),
    ] = "10m",
    engine: options.Engine = "auto",
    time_limit: options.TimeLimit = 10.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    window: measured_options.Window = "60s",
    statistic: measured_options.Statistic = "mean",
    ghz: measured_options.ClockRates = None,
    tuple_bytes: measured_options.TupleBytes = None,
    interval: measured_options.Interval = None,
    zone: measured_options.Zone = "UTC",
    master: measured_options.Master = "local[*]",
    jars: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A jar of Spark's connector to Kafka; repeatable."),
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Measure while a cluster runs and say, batch by batch, whether a rebalance pays.

    Ctrl-C ends it; the same command resumes.
    """
    inputs.check_target(out, "--out")
    with exits.held():
        from slotwise.api.logs import following
        from slotwise.benchmarks.grading.progress.display import waiting_for
        from slotwise.cli.render.logs.advice import show_advice
        from slotwise.solver.engines import ENGINES
    options.known(engine, ["auto", *ENGINES], "--engine")
    with options.as_options(**_FIELDS):
        followed = following.follow(
            logs,
            topology,
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
            starting=nullcontext() if quiet else waiting_for("starting Spark", True),
            **decoded,
            on_advice=None if as_json else show_advice,
        )
    for path, fault in followed.unreadable.items():
        exits.note(f"{path}: {fault}; the file is left out")
    if as_json:
        print_json(followed.to_document())
    elif not followed.advices and not followed.interrupted:
        exits.emit("No new samples.\n")
    return Exit.INTERRUPTED if followed.interrupted else Exit.DONE


_FIELDS = {
    **measured_options.FIELDS,
    "time_limit_s": "--time-limit",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            *("checkpoint", "advice", "out", "trigger", "max_moves", "min_gain", "cooldown"),
            *("engine", "workers", "seed", "jars"),
        )
    },
}
