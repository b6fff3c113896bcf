"""``measure --follow``: its options, and what it shows."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise.cli import exits, options
from slotwise.cli.exits import Exit, print_json

Follow = Annotated[
    bool,
    typer.Option("--follow", help="Go on while logs come in: does a rebalance pay?"),
]
CheckpointDir = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="With --follow: what was read so far; a later run goes on."),
]
AdviceFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With --follow: append each advice as a line of JSON; default: DIR/advice.jsonl.",
    ),
]
TriggerEvery = Annotated[
    str,
    typer.Option(metavar="LENGTH", help="With --follow: from one look for lines to the next."),
]
Once = Annotated[
    bool,
    typer.Option("--once", help="With --follow: end when what is there now has been read."),
]
MaxMoves = Annotated[
    int,
    typer.Option(
        callback=options.whole_number("--max-moves", 0, options.MAX_SEED),
        metavar="K",
        help="With --follow: most tasks that a rebalance may move.",
    ),
]
MinGain = Annotated[
    str, typer.Option(metavar="SHARE", help="With --follow: least saving for which it pays.")
]
Cooldown = Annotated[
    str,
    typer.Option(
        metavar="LENGTH", help="With --follow: time of the logs from one advice to the next."
    ),
]
Jars = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="With --follow: a jar of Spark's connector to Kafka; repeatable."
    ),
]


def check_together(follow: bool, checkpoint: Path | None, once: bool, **files: Path | None) -> None:
    """Refuse options that do not go together."""
    if follow and checkpoint is None:
        raise typer.BadParameter("--follow needs --checkpoint DIR")
    if not follow and (once or checkpoint is not None):
        raise typer.BadParameter("--checkpoint and --once need --follow")
    for name, path in files.items():
        if follow and path is not None:
            raise typer.BadParameter(f"--{name} does not go with --follow")


def run(logs: str, topology: str, quiet: bool, as_json: bool, **given: Any) -> int:
    """Follow the logs until Ctrl-C, or with ``once`` their end; `given` is as of `follow`."""
    with exits.held():
        from slotwise.api.logs.following import follow
        from slotwise.benchmarks.grading.progress.display import waiting_for
        from slotwise.cli.render.logs.advice import show_advice
        from slotwise.solver.engines import ENGINES
    options.known(given["engine"], ["auto", *ENGINES], "--engine")
    with options.as_options(**_OPTIONS):
        followed = follow(
            logs,
            topology,
            starting=nullcontext() if quiet else waiting_for("starting Spark", True),
            on_advice=None if as_json else show_advice,
            **given,
        )
    for path, fault in followed.unreadable.items():
        exits.note(f"{path}: {fault}; the file is left out")
    if as_json:
        print_json(followed.to_document())
    elif not followed.advices and not followed.interrupted:
        exits.emit("No new samples.\n")
    return Exit.INTERRUPTED if followed.interrupted else Exit.DONE


_OPTIONS = {
    "logs": "LOGS",
    "time_limit_s": "--time-limit",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            *("window", "statistic", "ghz", "tuple_bytes", "interval", "zone", "master"),
            *("topology", "worker_min_cpu", "checkpoint", "advice", "out", "trigger"),
            *("max_moves", "min_gain", "cooldown", "engine", "workers", "seed", "jars"),
        )
    },
}
