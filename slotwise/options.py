"""Arguments and options that several commands share."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

MAX_WORKERS = 1024


def _time_limit(value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise typer.BadParameter(f"{value} is not a finite number of seconds above 0")
    return value


def _min_cpu(value: str | None) -> str | None:
    if value is None:
        return None
    try:
        number = Decimal(value)
    except InvalidOperation as error:
        raise typer.BadParameter(f"{value!r} is not a number") from error
    if not number.is_finite() or number < 0:
        raise typer.BadParameter(f"{value} is not a finite number of 0 or more")
    return value


def known(name: str, names: list[str], option: str) -> str:
    """Return `name` if it is one of `names`, else refuse it and suggest the closest."""
    if name in names:
        return name
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise typer.BadParameter(f"{option} = {name!r} is not known: {hint}(one of {', '.join(names)})")


Instance = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE", help="Instance file (JSON or YAML); - reads it from stdin."
    ),
]
Plan = Annotated[str, typer.Argument(metavar="PLAN", help="Placement file; - for stdin.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of every random choice.")]
TimeLimit = Annotated[
    float, typer.Option(callback=_time_limit, metavar="SECONDS", help="Wall-clock limit.")
]
Workers = Annotated[int, typer.Option(min=1, max=MAX_WORKERS, help="Threads of the engine.")]
Engine = Annotated[str, typer.Option(metavar="NAME", help="Exact engine, or auto.")]
Hint = Annotated[
    str | None,
    typer.Option(metavar="PLAN", help="Placement of this instance to start from."),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="PLAN", help="Also write the placement to this file."),
]
OutDir = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write into.")]
Topology = Annotated[
    str | None,
    typer.Option(
        metavar="ID", help="Of a decoded Storm cluster: this topology alone, on the empty cluster."
    ),
]
WorkerMinCpu = Annotated[
    str | None,
    typer.Option(
        metavar="POINTS",
        callback=_min_cpu,
        help="Of a decoded Storm cluster: the least cpu a worker counts.",
    ),
]
