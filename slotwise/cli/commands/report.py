"""The command ``report``: the page of a grading, or two gradings compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Purpose, own_command
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError


@own_command(Purpose.COMPARE)
def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder written by `slotwise grade --out DIR`.")
    ],
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR2]", help="A second one: compare the two, DIR before and DIR2 after."
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=METHOD",
            help="What the page calls a method, such as 'mine=cmd:./x'. Repeatable.",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write every chart as SVG and PDF and every table as CSV and LaTeX there.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Make an HTML page of a grading, or compare two gradings: better, worse, newly failing."""
    if other is not None:
        return _compare(folder, other, methods, figures, as_json)
    from slotwise.api.reporting import report as make_report

    with options.as_options(figures="--figures", folder="DIR"):
        page = make_report(folder, methods=methods, figures=figures)
    if as_json:
        print_json({"report": str(page)})
    else:
        exits.emit(f"{page}\n")
    return Exit.DONE


def _compare(
    before: Path, after: Path, methods: list[str] | None, figures: Path | None, as_json: bool
) -> int:
    from slotwise.api.reporting import compare
    from slotwise.cli.render.compared import show_comparison

    if figures is not None:
        raise InputError("is for one grading, not two", field="--figures", value=str(figures))
    with options.as_options(before="DIR", after="DIR2"):
        comparison = compare(before, after, methods=methods)
    page = comparison.write_page()
    if as_json:
        print_json({**comparison.to_document(), "report": str(page)})
    else:
        show_comparison(comparison, page)
    return Exit.DONE
