"""Options of `measure` and `follow`: how metric lines become weights."""

from __future__ import annotations

from typing import Annotated, Any

import typer

MEASURED: dict[str, Any] = {
    "instance": Annotated[
        str, typer.Option(metavar="FILE", help="Instance file of what runs (JSON or YAML).")
    ],
    "window": Annotated[
        str, typer.Option(metavar="LENGTH", help="Length of a window: 90s, 5m, 1h.")
    ],
    "statistic": Annotated[
        str, typer.Option(metavar="NAME", help="mean; or over windows p50, p95, max.")
    ],
    "ghz": Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='Clock rates of the nodes, {"n1": 2.4}; default: as the lines say, else 1.',
        ),
    ],
    "tuple_bytes": Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="Size of a tuple where neither logs nor file have it; default: 1.",
        ),
    ],
    "interval": Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Time between two samples of a task; default: recognised."
        ),
    ],
    "zone": Annotated[
        str, typer.Option(metavar="NAME", help="Time zone of Storm's log, such as Europe/Berlin.")
    ],
    "master": Annotated[
        str, typer.Option(metavar="URL", help="Spark master, for example spark://host:7077.")
    ],
    "starting": None,
}
"""Parameter of both public functions -> how it is typed."""
