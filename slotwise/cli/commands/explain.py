"""The command ``explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import print_json

if TYPE_CHECKING:
    from slotwise.api.explanation_answers import Explained

NOTHING_FOUND = "no valid placement was looked for, or none was found"


@command(
    "slotwise.explain",
    Purpose.PLACE,
    placement=Annotated[
        str | None,
        typer.Argument(
            callback=options.file,
            metavar="[PLACEMENT]",
            help="Placement to explain; - for stdin.",
        ),
    ],
    other=Annotated[
        str | None,
        typer.Argument(
            callback=options.file, metavar="[OTHER]", help="Placement to compare it with."
        ),
    ],
    method=Annotated[
        str | None,
        typer.Option("--with", metavar="METHOD", help="Explain where this method goes wrong."),
    ],
    task=Annotated[
        str | None,
        typer.Option(metavar="TASK", help="Explain why this task of PLACEMENT is where it is."),
    ],
    optimal=Annotated[
        bool, typer.Option("--optimal", help="Also say how far PLACEMENT is from the optimum.")
    ],
    prices=Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            metavar="NAME=PRICE",
            help="Price of a repair, such as node=3 or resource.gpu=7; repeatable.",
        ),
    ],
)
def explain(
    call: Call,
    *,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", callback=options.target, help="Also write a page with the drawings."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PLAN",
            callback=options.target,
            help="Also write the valid placement that was found.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Explain an instance, a method's failure, a placement, or the difference of two.

    INSTANCE alone: whether it has a placement and, if not, why not and the cheapest repairs.
    """
    answer: Explained = call()
    _show(answer, html, out, as_json=as_json)
    return answer.exit_code


def _show(answer: Explained, html: Path | None, out: Path | None, *, as_json: bool) -> None:
    from slotwise.api.explanation_answers import in_given
    from slotwise.cli.render import explanation
    from slotwise.models.formats.placement_file import write_placement

    if out is not None:
        placement = explanation.found_placement(answer)
        if placement is None:
            exits.note(f"--out = {str(out)!r}: not written: {NOTHING_FOUND}")
        else:
            write_placement(out, *in_given(answer, placement))
    if html is not None:
        explanation.write_page(html, answer)
    if as_json:
        print_json(answer.to_document())
    else:
        explanation.show_explained(answer)
