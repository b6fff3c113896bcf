"""The command ``test-scheduler``: property tests of a scheduler, without pytest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Purpose, own_command
from slotwise.cli.exits import print_json

TIME_LIMIT_S = 10.0


@own_command(Purpose.KIT)
def test_scheduler(
    scheduler: Annotated[
        str,
        typer.Argument(
            metavar="SCHEDULER",
            help="cmd:COMMAND, a method (slotwise methods), or module:callable.",
        ),
    ],
    check: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHECK",
            help="valid, gap<=0.1, ...; may be given several times. Default: all without a number.",
        ),
    ] = None,
    examples: Annotated[
        int,
        typer.Option(
            callback=options.whole_number("--examples", 1, 1_000_000),
            metavar="N",
            help="Most instances per check.",
        ),
    ] = 200,
    seed: options.Seed = 0,
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="feasible, tight, ...; default: a mixture."),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            metavar="RULES",
            help="Rules that it is for, as capacity,slots,heap: instances have no others. "
            "Default: what it supports.",
        ),
    ] = None,
    instance: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Look at this instance alone, to see a failure again."),
    ] = None,
    time_limit: options.TimeLimit = TIME_LIMIT_S,
    save: Annotated[Path, typer.Option(metavar="DIR", help="Folder for failing instances.")] = Path(
        "slotwise-failures"
    ),
    as_json: options.Json = False,
) -> int:
    """Check a scheduler on random small instances, and save those on which it fails."""
    from slotwise.testing.hypothesis_extra import require_hypothesis

    require_hypothesis("test-scheduler")
    with exits.defer_interrupts():
        from slotwise.api import scheduler_tests
        from slotwise.api.inputs import read_instance

    selected = scheduler_tests.select_checks(scheduler, check or (), seed, time_limit, rules)
    if instance is not None:
        with exits.noted_warnings():
            given = read_instance(instance if instance == "-" else Path(instance))
        tested = scheduler_tests.on_instance(selected, given, instance)
    else:
        tested = scheduler_tests.on_random_instances(selected, examples, kind, save)
    if as_json:
        print_json(tested.to_document())
    else:
        from slotwise.cli.render.scheduler_tests import show_tested

        show_tested(tested)
    return tested.exit_code
