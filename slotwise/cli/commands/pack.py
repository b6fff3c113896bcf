"""The command ``pack``: an archive for the executors of a Spark cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.pipeline.spark.pack import Packed


@command(
    "slotwise.pack",
    Purpose.COMPARE,
    out=Annotated[Path, typer.Option(metavar="FILE", help="Archive to write: .tar.gz or .tgz.")],
    python_prefix=Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Where executors have the same version of Python, such as /usr; default: where "
            "this machine has it.",
        ),
    ],
)
def pack(
    call: Call, *, out: Path, quiet: options.Quiet = False, as_json: options.Json = False
) -> int:
    """Pack slotwise and what it needs into an archive for the executors of a Spark cluster.

    It holds the virtual environment that this command runs in.
    """
    from slotwise.benchmarks.grading.progress.display import waiting_for

    with waiting_for(f"packing {out}", not quiet):
        packed: Packed = call()
    if as_json:
        print_json(packed.to_document())
    else:
        exits.emit(_how_to_submit(packed))
    return Exit.DONE


def _how_to_submit(packed: Packed) -> str:
    """Say what was packed and how to use it."""
    file = packed.file
    variables = " ".join(f"{name}={value}" for name, value in packed.environment.items())
    settings = " ".join(f"--conf {name}={value}" for name, value in packed.conf.items())
    major_minor = ".".join(packed.python.split(".")[:2])
    return (
        f"{file}: {packed.megabytes:.0f} MB, {packed.files} files. "
        f"Executors need {packed.python_prefix}/bin/python{major_minor}.\n"
        "Grade with it, on any of these masters:\n"
        f"  slotwise grade --archive {file} --master spark://HOST:7077\n"
        f"  slotwise grade --archive {file} --master yarn\n"
        f"  slotwise grade --archive {file} --master k8s://https://HOST:PORT\n"
        f"  slotwise grade --archive {file} --master sc://HOST:15002\n"
        "Submit a program of your own:\n"
        f"  {variables} spark-submit {settings} PROGRAM.py\n"
    )
