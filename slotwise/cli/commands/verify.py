"""The command ``verify``, and the certificate of ``solve``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.models.problem.problem import Problem
    from slotwise.solver.core.result import Result
    from slotwise.solver.verification.crosscheck import CrossCheck
    from slotwise.solver.verification.verify import Verified


def save_certificate(
    path: Path, problem: Problem, result: Result, check: CrossCheck | None
) -> None:
    """Write the certificate of `result`; without an answer nothing, which a note says."""
    from slotwise.api.verifying import certify
    from slotwise.models.certificates import write_certificate
    from slotwise.solver.core.result import Status

    if result.status is Status.UNKNOWN:
        exits.note(f"--certificate = {str(path)!r}: not written: there is no answer")
    else:
        write_certificate(path, certify(problem, result, check))


@command(
    "slotwise.verify",
    Purpose.PLACE,
    certificate=Annotated[
        str,
        typer.Argument(
            callback=options.file,
            metavar="CERTIFICATE",
            help="Certificate written by `solve --certificate`; - for stdin.",
        ),
    ],
    resolve=Annotated[
        bool, typer.Option("--resolve", help="Let another engine search for anything better.")
    ],
    engine=Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The other engine; default: any that takes the instance."
        ),
    ],
)
def verify(call: Call, *, resolve: bool, as_json: options.Json = False) -> int:
    """Check a certificate: hash, placement and values without a solver; bounds with --resolve."""
    if not resolve:
        limits = ("time_limit_s", "workers", "seed", "memory_limit_mb")
        call.refuse("needs --resolve", "engine", *limits)
    else:
        with exits.defer_interrupts():
            from slotwise.solver.verification import certify  # noqa: F401 (loads native modules)
    verified: Verified = call()
    if as_json:
        print_json(verified.to_document())
    else:
        exits.emit("\n".join(verified.lines()) + "\n")
    check = verified.check
    if check is not None and check.result is not None and check.result.interrupted:
        return Exit.INTERRUPTED
    return {"failed": Exit.FAILED, "not settled": Exit.NO_ANSWER}.get(verified.status, Exit.DONE)
