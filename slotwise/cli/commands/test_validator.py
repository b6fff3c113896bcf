"""The command ``test-validator``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError
from slotwise.testing.hypothesis_extra import require_hypothesis

if TYPE_CHECKING:
    from slotwise.testing.validators.report import ValidatorReport


@command(
    "slotwise.testing.check_validator",
    Purpose.KIT,
    validator=Annotated[
        str,
        typer.Argument(
            metavar="VALIDATOR",
            help='"cmd:COMMAND": reads {"instance": ..., "placement": ...} on stdin, prints '
            '{"valid": true or false} or {"violations": ["rule", ...]}.',
        ),
    ],
    rules=Annotated[
        list[str] | None,
        typer.Option(
            "--rule", help="Check this rule only; may be given several times. Default: all ten."
        ),
    ],
    max_examples=Annotated[
        int,
        typer.Option(
            "--examples",
            callback=options.whole_number("--examples", 1, 100_000),
            metavar="N",
            help="Cases for each side of each rule.",
        ),
    ],
    reproducible=None,
    raise_on_failure=None,
)
def test_validator(
    call: Call,
    *,
    save: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the smallest case of each mistake there."),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Test a validator of placements against the judge, rule by rule.

    The cases are at the limit of a rule, or break it alone by one unit or task.
    """
    require_hypothesis("slotwise test-validator")
    from slotwise.testing.validators.report import save_findings

    if save is not None and save.exists() and not save.is_dir():
        raise InputError("is not a folder", field="--save", value=str(save))
    report: ValidatorReport = call(reproducible=True)
    judging = [] if save is None else save_findings(report.findings, save)
    if as_json:
        print_json(report.to_document() | {"judge": judging})
    else:
        exits.emit(f"{report}\n")
        if judging:
            exits.emit(
                "\nWhat the judge says of the saved cases:\n  " + "\n  ".join(judging) + "\n"
            )
    return Exit.DONE if report.holds else Exit.FAILED
