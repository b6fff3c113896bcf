"""The command ``test-validator``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError
from slotwise.testing.hypothesis_extra import require_hypothesis


def test_validator(
    validator: Annotated[
        str,
        typer.Argument(
            metavar="VALIDATOR",
            help='"cmd:COMMAND": reads {"instance": ..., "placement": ...} on stdin, prints '
            '{"valid": true or false} or {"violations": ["rule", ...]}.',
        ),
    ],
    rule: Annotated[
        list[str] | None,
        typer.Option(help="Check this rule only; may be given several times. Default: all ten."),
    ] = None,
    examples: Annotated[
        int,
        typer.Option(
            callback=options.whole_number("--examples", 1, 100_000),
            metavar="N",
            help="Cases for each side of each rule.",
        ),
    ] = 100,
    time_limit: options.TimeLimit = 10.0,
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
    from slotwise.testing.validators.case import RULES
    from slotwise.testing.validators.check import check_validator
    from slotwise.testing.validators.report import save_findings

    if save is not None and save.exists() and not save.is_dir():
        raise InputError("is not a folder", field="--save", value=str(save))
    report = check_validator(
        validator,
        rules=rule or RULES,
        max_examples=examples,
        time_limit_s=time_limit,
        reproducible=True,
    )
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
