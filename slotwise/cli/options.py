"""Declarations of arguments and options: each once, with its help and its checks.

`SHARED` has those of parameters with the same meaning in several public functions, by name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise.models.errors import InputError
from slotwise.models.values import exact, time_limit
from slotwise.models.values import known as known

MAX_WORKERS = 1024
MAX_SEED = 2**31 - 1
"""What every engine takes."""
MOST_MEMORY_MB = 2**40


def check_time_limit(param: typer.CallbackParam, value: float | None) -> float | None:
    """Refuse a value that is not a finite number of seconds above 0; a callback of options."""
    return None if value is None else time_limit(value, param.opts[-1])


def _min_cpu(value: str | None) -> str | None:
    if value is not None:
        exact(value, "--worker-min-cpu")
    return value


def whole_number(option: str, least: int, most: int) -> Callable[[int | None], int | None]:
    """Return a callback that refuses values of `option` outside `least` .. `most`."""

    def check(value: int | None) -> int | None:
        if value is not None and not least <= value <= most:
            raise InputError(f"must be from {least} to {most}", field=option, value=value)
        return value

    return check


def check_target(path: Path | None, option: str = "--out") -> None:
    """Refuse an output file that cannot be written, before the work instead of after it."""
    if path is None:
        return
    if path.is_dir():
        raise InputError("is a folder; name a file", field=option, value=str(path))
    if not path.parent.is_dir():
        rule = f"the folder {str(path.parent)!r} does not exist"
        raise InputError(rule, field=option, value=str(path))
    if not os.access(path.parent, os.W_OK):
        rule = f"the folder {str(path.parent)!r} cannot be written to"
        raise InputError(rule, field=option, value=str(path))


def target(param: typer.CallbackParam, path: Path | None) -> Path | None:
    """Refuse an output file that cannot be written; a callback of options."""
    check_target(path, param.opts[-1])
    return path


def check_not_read(out: Path | None, option: str, files: Iterable[str]) -> None:
    """Check that an output file is none of those that the command reads."""
    for file in files:  # or other texts, some too long for a name, for which Path.exists raises
        if out is not None and out.exists() and os.path.exists(file) and out.samefile(file):
            rule = "is a file that the command reads; name another one"
            raise InputError(rule, field=option, value=str(out))


def check_distinct(outputs: Mapping[str, Path | None]) -> None:
    """Check that no two options name the same output file."""
    first: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is not None and first.setdefault(path.resolve(), option) != option:
            rule = f"is also the file of {first[path.resolve()]}; name another one"
            raise InputError(rule, field=option, value=str(path))


def file(path: str | None) -> str | Path | None:
    """Return the path that was typed; ``-``, stdin, stays as it is.

    Public functions take a text as the content of a file in some cases, but never a path.
    """
    return path if not path or path == "-" else Path(path)


@contextmanager
def as_options(**options: str) -> Iterator[None]:
    """Name options instead of arguments in an `InputError` of the public functions.

    `options` maps names of arguments to options: ``max_moved="--max-moved"``.
    They are replaced in its field, and where its rule has them in backquotes.
    """
    try:
        yield
    except InputError as error:
        if error.file or re.split(r"\W", error.field)[0] not in options:
            raise
        field = re.sub(r"^\w+|(?<=, )\w+", lambda word: options.get(word[0], word[0]), error.field)
        rule = re.sub(r"`(\w+)`", lambda word: options.get(word[1], word[0]), error.rule)
        raise InputError(rule, field=field, value=error.value, has_value=error.has_value) from error


def _node_ids(names: str | None) -> tuple[str, ...]:
    """Return the ids in ``a1,a2``."""
    ids = () if names is None else tuple(name.strip() for name in names.split(","))
    if not all(ids):
        rule = "must be ids of nodes, joined by commas"
        raise InputError(rule, field="--without-node", value=names)
    return ids


Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress on stderr.")]
Seed = Annotated[
    int,
    typer.Option(callback=whole_number("--seed", 0, MAX_SEED), help="Seed of every random choice."),
]
TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit", callback=check_time_limit, metavar="SECONDS", help="Wall-clock time limit."
    ),
]
MemoryLimit = Annotated[
    int | None,
    typer.Option(
        "--memory-limit",
        callback=whole_number("--memory-limit", 1, MOST_MEMORY_MB),
        metavar="MB",
        help="Memory limit of the process; default: 80 % of the machine's or its control group's.",
    ),
]
Count = Annotated[
    int | None,
    typer.Option(
        callback=whole_number("--count", 1, 100_000),
        help="Instances per family; default: the family's size.",
    ),
]
Plan = Annotated[
    str | None,
    typer.Argument(
        callback=file,
        metavar="[PLAN]",
        help="Placement file, or the output of solve --json or place --json; - for stdin.",
    ),
]
Assume = Annotated[
    str | None,
    typer.Option(
        callback=file,
        metavar="FILE",
        help="Defaults for what the instance does not say of its workload; the output lists "
        "those that were used.",
    ),
]
Engine = Annotated[
    str, typer.Option(metavar="NAME", help="Exact engine, or auto; see slotwise methods.")
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="PLAN", callback=target, help="Also write the placement to this file."),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic",
        help="--time-limit counts units of work, about a second each, instead of seconds: the "
        "same answer on any machine, busy or not.",
    ),
]
Models = Annotated[
    str | None,
    typer.Option(
        "--models",
        metavar="FILE",
        help="Performance models (JSON, YAML, CSV, Parquet); default: the SAM article's five.",
    ),
]
Certificate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", callback=target, help="Also write a certificate, for slotwise verify."
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE.svg", callback=target, help="Also draw the curves."),
]
OutDir = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write into.")]

_IN_DECODED = "For a decoded Storm cluster"
"""Section of the help with the options for reading such a file."""
WHOLE_DECODED = {"worker_min_cpu": None, "submitters": False}
DECODED = {"topology": None, **WHOLE_DECODED}
"""Options of `read_instance` -> defaults: of decoded clusters, with all topologies or with one."""

SHARED: dict[str, Any] = {
    "instance": Annotated[
        str,
        typer.Argument(
            callback=file, metavar="INSTANCE", help="Instance file (JSON or YAML); - for stdin."
        ),
    ],
    "engine": Engine,
    "time_limit_s": TimeLimit,
    "workers": Annotated[
        int,
        typer.Option(
            callback=whole_number("--workers", 1, MAX_WORKERS), help="Threads of the engine."
        ),
    ],
    "seed": Seed,
    "memory_limit_mb": MemoryLimit,
    "deterministic": Deterministic,
    "max_moved": Annotated[
        int | None,
        typer.Option(
            callback=whole_number("--max-moved", 0, MAX_SEED),
            metavar="K",
            help="Move at most K of the tasks in the instance's `running`.",
        ),
    ],
    "without_nodes": Annotated[
        str | None,
        typer.Option(
            "--without-node",
            callback=_node_ids,
            metavar="A,B",
            help="These nodes died: their tasks run nowhere and do not count as moved.",
        ),
    ],
    "count": Count,
    "models": Models,
    "topology": Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            rich_help_panel=_IN_DECODED,
            help="Take only this topology, on the empty cluster.",
        ),
    ],
    "worker_min_cpu": Annotated[
        str | None,
        typer.Option(
            metavar="POINTS",
            callback=_min_cpu,
            rich_help_panel=_IN_DECODED,
            help="Least cpu that a worker counts.",
        ),
    ],
    "submitters": Annotated[
        bool,
        typer.Option(
            "--submitters",
            rich_help_panel=_IN_DECODED,
            help="Submitters own their topologies; default: one user.",
        ),
    ],
}
"""Parameter of public functions -> its declaration."""


# Options of `measure` and `follow`: how metric lines become weights.

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
            help="Size of a tuple if neither the logs nor the file give it; default: 1.",
        ),
    ],
    "interval": Annotated[
        str | None,
        typer.Option(
            metavar="LENGTH",
            help="Time between two samples of a task: 60s, 4m; default: as the logs show.",
        ),
    ],
    "zone": Annotated[
        str, typer.Option(metavar="NAME", help="Time zone of Storm's log, such as Europe/Berlin.")
    ],
    "last": Annotated[
        str | None,
        typer.Option(
            metavar="LENGTH",
            help="Count only the end of the logs, whole windows: 12h, 7d; default: all.",
        ),
    ],
    "master": Annotated[
        str, typer.Option(metavar="URL", help="Spark master, for example spark://host:7077.")
    ],
    "starting": None,
}
"""Parameter of both public functions -> its declaration."""
