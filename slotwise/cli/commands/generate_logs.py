"""The command ``generate logs``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json


@command(
    "slotwise.generate_logs",
    Purpose.CLUSTER,
    out=options.OutDir,
    lines=Annotated[int, typer.Option(metavar="N", help="Least number of lines in all.")],
    placement=Annotated[
        str | None, typer.Option(metavar="PLAN", help="Placement file, as in judge.")
    ],
    method=Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Method that places; default: what the instance says is running, else r-storm.",
        ),
    ],
    kind=Annotated[str, typer.Option(metavar="KIND", help="storm, json or both.")],
    metrics=Annotated[
        str,
        typer.Option(metavar="V", help="Storm's counts: v1 per bucket, v2 since the start."),
    ],
    files=Annotated[int, typer.Option(metavar="N", help="Files per topology and kind.")],
    gzip=Annotated[bool, typer.Option("--gzip", help="Compress the files.")],
    bucket_seconds=Annotated[int, typer.Option(help="Seconds between reports.")],
    start=Annotated[int, typer.Option(help="Start of the log, seconds since 1970.")],
    rate=Annotated[
        float,
        typer.Option(help="Tuples/s of each component without input, where no rate is stated."),
    ],
    tuple_bytes=Annotated[
        float, typer.Option(help="Size of a tuple where the stream states none.")
    ],
    ghz=Annotated[
        str, typer.Option(metavar="LIST", help="Clock rates of the nodes, repeated as needed.")
    ],
    noise=Annotated[float, typer.Option(help="Noise of latencies, sizes and counts; 0 = exact.")],
    faults=Annotated[float, typer.Option(metavar="SHARE", help="Share of faulty lines.")],
    late_by=Annotated[int, typer.Option(metavar="SECONDS", help="Least delay of a late line.")],
    skew=Annotated[int, typer.Option(metavar="SECONDS", help="Most that a node's clock is wrong.")],
    restarts=Annotated[int, typer.Option(metavar="N", help="Restarts of workers.")],
    scale=Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMPONENT=FACTOR", help="Scale a component's cost per tuple; repeatable."
        ),
    ],
    scale_from=Annotated[
        int, typer.Option(metavar="SECOND", help="Second after the start from which --scale holds.")
    ],
)
def generate_logs(call: Call, *, out: Path, as_json: options.Json = False) -> int:
    """Simulate a placed instance and write its metric logs, the truth beside them.

    The folder must be new or empty; after an error or Ctrl-C nothing is left of it.
    """
    truth = call()
    if as_json:
        print_json(truth)
    else:
        counts = ", ".join(f"{count:,} {kind} lines" for kind, count in truth["lines"].items())
        exits.emit(f"{out}: {counts}; {truth['seconds']:,} s\n")
    return Exit.DONE
