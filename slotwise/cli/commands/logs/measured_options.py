"""Options of `measure` and `follow`: how metric lines become weights."""

from __future__ import annotations

from typing import Annotated

import typer

Topology = Annotated[
    str,
    typer.Option("--topology", metavar="FILE", help="Instance file of what runs (JSON or YAML)."),
]
Window = Annotated[str, typer.Option(metavar="LENGTH", help="Length of a window: 90s, 5m, 1h.")]
Statistic = Annotated[
    str, typer.Option(metavar="NAME", help="mean; or over windows p50, p95, max.")
]
ClockRates = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help='Clock rates of the nodes, {"n1": 2.4}; default: as the lines say, else 1.',
    ),
]
TupleBytes = Annotated[
    str | None,
    typer.Option(
        metavar="BYTES",
        help="Size of a tuple where neither logs nor file have it; default: 1.",
    ),
]
Interval = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", help="Time between two samples of a task; default: recognised."
    ),
]
Zone = Annotated[
    str, typer.Option(metavar="NAME", help="Time zone of Storm's log, such as Europe/Berlin.")
]
Master = Annotated[
    str, typer.Option(metavar="URL", help="Spark master, for example spark://host:7077.")
]

FIELDS = {
    "logs": "LOGS",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            *("window", "statistic", "ghz", "tuple_bytes", "interval", "zone", "master"),
            *("topology", "worker_min_cpu"),
        )
    },
}
"""Argument of the Python functions -> what users type for it."""
