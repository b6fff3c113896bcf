"""The command ``verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, command
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.solver.verification.verify import Verified


@command(
    "slotwise.verify",
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
def verify(call: Call, *, resolve: bool, engine: str | None, as_json: options.Json = False) -> int:
    """Check a certificate: hash, placement and values without a solver; bounds with --resolve."""
    if engine is not None and not resolve:
        raise typer.BadParameter("--engine needs --resolve")
    if resolve:
        with exits.held():
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
