"""The command ``solve``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import print_json

if TYPE_CHECKING:
    from slotwise.api.solving import Solved
    from slotwise.models.instance.instance import Instance
    from slotwise.solver.verification.crosscheck import CrossCheck


@command(
    "slotwise.solve",
    Purpose.PLACE,
    hint=Annotated[
        str | None,
        typer.Option(
            "--hint",
            callback=options.file,
            metavar="PLAN",
            help="Placement of this instance to start from, as in judge; - for stdin.",
        ),
    ],
    confirm=Annotated[
        bool | None,
        typer.Option(
            "--confirm/--no-confirm",
            help="Require a second proof (another engine, or no presolve) for what CP-SAT or a MIP "
            "solver proves; default: only where a term can exceed 2^31 (milp: 10^6).",
        ),
    ],
    parameters=Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="ENGINE.NAME=VALUE",
            help="Set a parameter of an engine or of auto (a wrong NAME lists them); repeatable.",
        ),
    ],
    on_progress=None,
)
def solve(
    call: Call,
    *,
    engine: str,
    out: options.Out = None,
    crosscheck: Annotated[
        bool,
        typer.Option(
            "--crosscheck",
            help="Let another engine search for anything better, with the same time limit.",
        ),
    ] = False,
    certificate: options.Certificate = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> int:
    """Find the best placement and prove it, or bound it.

    Progress goes to stderr. Ctrl-C ends the search and keeps the best placement and bound.
    """
    with exits.defer_interrupts():
        from slotwise.api import solving
        from slotwise.cli.commands.verify import save_certificate
        from slotwise.cli.progress import progress
        from slotwise.models.errors import InputError
        from slotwise.models.formats.placement_file import write_placement
        from slotwise.solver.core.supervision import counted_presses
        from slotwise.solver.engines import ENGINES

    options.known(engine, ["auto", *ENGINES], "--engine")
    with counted_presses():  # from the first placement on, Ctrl-C takes nothing away
        task = solving.as_task(**call.take("instance", "hint", "max_moved", "without_nodes"))
        with progress([term.name for term in task.problem.terms], quiet) as on_progress:
            result = solving.solve_task(task, on_progress=on_progress, **call.arguments)
        solved = solving.Solved(task, result)
        check = None
        try:
            if out is not None and solved.placement is not None:
                write_placement(out, task.given, solved.placement)
            check = solving.crosscheck(task.problem, result) if crosscheck else None
            if certificate is not None:
                save_certificate(certificate, task.problem, result, check)
        except InputError:  # what took so long is shown where it cannot be written
            _show(solved, None, check, as_json=as_json)
            raise
        _show(solved, out, check, as_json=as_json)
    return solved.exit_code


def _show(solved: Solved, out: Path | None, check: CrossCheck | None, *, as_json: bool) -> None:
    from slotwise.cli.render.results import show_result

    if as_json:
        checked = {} if check is None else {"crosscheck": check.to_document()}
        print_json(solved.to_document() | checked)
        return
    show_result(solved.result, out)
    if solved.placement is not None and _has_workload(solved.task.given):
        exits.emit("slotwise predict says what it is worth: throughput and latency.\n")
    if check is not None:
        exits.emit(f"Cross-check: {check.agreement}: {check.reason}.\n")


def _has_workload(instance: Instance) -> bool:
    components = (one for topology in instance.topologies for one in topology.components)
    return any(one.service_ms is not None for one in components)
