"""The command ``follow``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json
from slotwise.cli.options import MEASURED

if TYPE_CHECKING:
    from slotwise.pipeline.following.follow import Followed


@command(
    "slotwise.follow",
    Purpose.CLUSTER,
    logs=Annotated[
        str,
        typer.Argument(
            metavar="LOGS",
            help="Folder that logs appear in, as of measure; or kafka://HOST:PORT/TOPIC.",
        ),
    ],
    checkpoint=Annotated[
        Path,
        typer.Option(metavar="DIR", help="What was read so far; a later run goes on from there."),
    ],
    advice=Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Append each advice as a line of JSON; default: DIR/advice.jsonl.",
        ),
    ],
    out=Annotated[
        Path | None,
        typer.Option(
            metavar="INSTANCE",
            callback=options.target,
            help="Write the measured instance to this file.",
        ),
    ],
    trigger=Annotated[
        str, typer.Option(metavar="LENGTH", help="Time from one look for lines to the next.")
    ],
    once=Annotated[bool, typer.Option("--once", help="End when what is there now has been read.")],
    max_moves=Annotated[
        int,
        typer.Option(
            callback=options.whole_number("--max-moves", 0, options.MAX_SEED),
            metavar="K",
            help="Most tasks that a rebalance may move.",
        ),
    ],
    min_gain=Annotated[
        str, typer.Option(metavar="SHARE", help="Least saving for which a rebalance pays.")
    ],
    cooldown=Annotated[
        str,
        typer.Option(metavar="LENGTH", help="Time of the logs from one advice to the next."),
    ],
    jars=Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A jar of Spark's connector to Kafka; repeatable."),
    ],
    accept_damaged=Annotated[
        bool,
        typer.Option(
            "--accept-damaged", help="Advise where more than 5 % of the lines are damaged."
        ),
    ],
    on_advice=None,
    on_warning=None,
    **MEASURED,
)
def follow(
    call: Call, *, engine: str, quiet: options.Quiet = False, as_json: options.Json = False
) -> int:
    """Measure while a cluster runs and say, batch by batch, whether a rebalance pays.

    Ctrl-C ends it; the same command resumes.
    """
    with exits.defer_interrupts():
        from slotwise.benchmarks.grading.progress.display import waiting_for
        from slotwise.cli.render.advice import show_advice
        from slotwise.solver.engines import ENGINES
    options.known(engine, ["auto", *ENGINES], "--engine")
    followed: Followed = call(
        starting=nullcontext() if quiet else waiting_for("starting Spark", True),
        on_advice=None if as_json else show_advice,
        on_warning=exits.note,
    )
    for path, fault in followed.unreadable.items():
        exits.note(f"{path}: {fault}; the file is left out")
    if as_json:
        print_json(followed.to_document())
    elif not followed.advices and not followed.interrupted:
        exits.emit("No advice: see above.\n" if followed.refused else "No new samples.\n")
    return Exit.INTERRUPTED if followed.interrupted else Exit.DONE
