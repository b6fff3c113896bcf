"""Arguments and options that several commands share."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise.models.errors import InputError
from slotwise.models.values import exact, time_limit
from slotwise.models.values import known as known

Command = Callable[..., int]

MAX_WORKERS = 1024
MAX_SEED = 2**31 - 1
"""What every engine takes."""
MOST_MEMORY_MB = 2**40


def check_time_limit(value: float | None) -> float | None:
    """Refuse a value of ``--time-limit`` that is not a finite number of seconds above 0."""
    return None if value is None else time_limit(value, "--time-limit")


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


@contextmanager
def as_options(**options: str) -> Iterator[None]:
    """Put options in place of arguments in an `InputError` of the public functions.

    `options` are names of arguments and what users type for them: ``max_moved="--max-moved"``.
    They are replaced in its field, and where its rule has them in backquotes.
    """
    try:
        yield
    except InputError as error:
        if error.file or re.split(r"\W", error.field)[0] not in options:
            raise
        field = re.sub(r"^\w+|(?<=, )\w+", lambda word: options.get(word[0], word[0]), error.field)
        rule = re.sub(r"`(\w+)`", lambda found: options.get(found[1], found[0]), error.rule)
        raise InputError(rule, field=field, value=error.value, has_value=error.has_value) from error


Instance = Annotated[
    str,
    typer.Argument(metavar="INSTANCE", help="Instance file (JSON or YAML); - for stdin."),
]
PlanOrRunning = Annotated[
    str | None,
    typer.Argument(
        metavar="[PLAN]",
        help="Placement file, or the output of solve --json or place --json; - for stdin.",
    ),
]
Running = Annotated[
    bool, typer.Option("--running", help="Judge what the instance says is running.")
]


def _split(names: str | None) -> str | None:
    if names is not None and not all(name.strip() for name in names.split(",")):
        raise InputError("must be ids of nodes, joined by commas", field=WITHOUT_NODE, value=names)
    return names


WITHOUT_NODE = "--without-node"
WithoutNode = Annotated[
    str | None,
    typer.Option(
        WITHOUT_NODE,
        callback=_split,
        metavar="A,B",
        help="These nodes died: their tasks run nowhere and do not count as moved.",
    ),
]


def node_ids(names: str | None) -> tuple[str, ...]:
    """Return the ids in the value of ``--without-node``."""
    return () if names is None else tuple(name.strip() for name in names.split(","))


Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress on stderr.")]
Seed = Annotated[
    int,
    typer.Option(callback=whole_number("--seed", 0, MAX_SEED), help="Seed of every random choice."),
]
TimeLimit = Annotated[
    float, typer.Option(callback=check_time_limit, metavar="SECONDS", help="Wall-clock time limit.")
]
MemoryLimit = Annotated[
    int | None,
    typer.Option(
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
Workers = Annotated[
    int,
    typer.Option(callback=whole_number("--workers", 1, MAX_WORKERS), help="Threads of the engine."),
]
Engine = Annotated[str, typer.Option(metavar="NAME", help="Exact engine, or auto.")]
OtherEngine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The other engine; default: any that takes the instance.",
    ),
]
Hint = Annotated[
    str | None,
    typer.Option(
        metavar="PLAN", help="Placement of this instance to start from, as in judge; - for stdin."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="PLAN", help="Also write the placement to this file."),
]
CrossCheck = Annotated[
    bool,
    typer.Option(
        "--crosscheck",
        help="Let another engine search for anything better, with the same time limit.",
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic",
        help="--time-limit counts units of work, about a second each, instead of seconds: the "
        "same answer on any machine, busy or not.",
    ),
]
Confirm = Annotated[
    bool | None,
    typer.Option(
        "--confirm/--no-confirm",
        help="Require a second proof (another engine, or no presolve) for what CP-SAT or a MIP "
        "solver proves; default: only where a term can exceed 2^31 (milp: 10^6).",
    ),
]
Certificate = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write a certificate, for slotwise verify."),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="ENGINE.NAME=VALUE",
        help="Set a parameter of an engine or of auto; repeatable.",
    ),
]
MaxMoved = Annotated[
    int | None,
    typer.Option(
        callback=whole_number("--max-moved", 0, MAX_SEED),
        metavar="K",
        help="Move at most K of the tasks in the instance's `running`.",
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
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE.svg", help="Also draw the curves."),
]
OutDir = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write into.")]
DECODED = "For a decoded Storm cluster"
"""Section of the help with the options that say how such a file is read."""
_TOPOLOGY = {
    "topology": (
        Annotated[
            str | None,
            typer.Option(
                metavar="ID",
                rich_help_panel=DECODED,
                help="Take only this topology, on the empty cluster.",
            ),
        ],
        None,
    )
}
_WHOLE = {
    "worker_min_cpu": (
        Annotated[
            str | None,
            typer.Option(
                metavar="POINTS",
                callback=_min_cpu,
                rich_help_panel=DECODED,
                help="Least cpu that a worker counts.",
            ),
        ],
        None,
    ),
    "submitters": (
        Annotated[
            bool,
            typer.Option(
                "--submitters",
                rich_help_panel=DECODED,
                help="Submitters own their topologies; default: one user.",
            ),
        ],
        False,
    ),
}


def whole_decoded_cluster(command: Command) -> Command:
    """Give a command with ``**decoded`` the options of `api.inputs.WholeDecodedCluster`."""
    return _with_options(command, _WHOLE)


def decoded_cluster(command: Command) -> Command:
    """Give a command with ``**decoded`` the options of `api.inputs.DecodedCluster`."""
    return _with_options(command, _TOPOLOGY | _WHOLE)


def _with_options(command: Command, options: Mapping[str, tuple[Any, Any]]) -> Command:
    """Return the command with these options (annotation, default) in its signature."""

    @wraps(command)
    def run(**arguments: Any) -> int:
        return command(**arguments)

    signature = inspect.signature(command, eval_str=True)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=unset, annotation=kind)
        for name, (kind, unset) in options.items()
    ]
    run.__signature__ = signature.replace(parameters=own + added)  # type: ignore[attr-defined]
    return run
