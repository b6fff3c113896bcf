"""The commands ``models show`` and ``models convert``: performance models of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Purpose
from slotwise.cli.exits import Exit

PURPOSE = Purpose.FILES
app = typer.Typer(
    help="Show or convert performance models: the rate of a task's threads on one slot."
)


@app.command()
def show(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One model; default: all.")
    ] = None,
    models: options.Models = None,
    plot: options.Plot = None,
    as_json: options.Json = False,
) -> int:
    """Print performance models: peak rate, CPU and memory by threads on one slot."""
    from slotwise.api.allocation_inputs import as_models
    from slotwise.cli.render import curves
    from slotwise.models.formats.json_text import pretty_json
    from slotwise.models.performance.file import models_document

    if plot is not None:
        curves.check_svg(plot)
    known = as_models(models)
    chosen = known if name is None else {name: known[options.known(name, list(known), "NAME")]}
    if plot is not None:
        curves.plot_models(plot, chosen)
    if as_json:
        exits.emit(pretty_json(models_document(chosen)) + "\n")
    else:
        from slotwise.cli.render.allocations import show_models

        show_models(chosen)
    return Exit.DONE


@app.command()
def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="JSON, YAML, CSV or Parquet; - for stdin.")
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="The same, in the format of its ending.")
    ],
) -> int:
    """Check a file of performance models and write it in another format."""
    from slotwise.models.performance.file import read_models, write_models

    options.check_target(target, "OUT")
    write_models(target, read_models(source))
    return Exit.DONE
