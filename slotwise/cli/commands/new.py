"""The command ``new``: packages to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Purpose
from slotwise.cli.exits import Exit, print_json

PURPOSE = Purpose.KIT
app = typer.Typer(help="Start a package of your own.")


@app.callback()
def _kinds() -> None:
    """Start a package of your own."""


@app.command()
def scheduler(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the method: my-scheduler.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The new folder; default: NAME.")
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Write a package with a placement method, its tests and a CI file.

    The method is a first fit that works; an existing folder is never touched.
    """
    from slotwise.cli import new_package

    files = new_package.rendered(name)
    folder = Path(name) if out is None else out
    new_package.write_package(files, folder)
    if as_json:
        print_json({"name": name, "folder": str(folder), "files": list(files)})
    else:
        paths = "".join(f"{folder / path}\n" for path in files)
        exits.emit(f"{paths}\n{folder / 'README.md'} says how to install, test and grade it.\n")
    return Exit.DONE
