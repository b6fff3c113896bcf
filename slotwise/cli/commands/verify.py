"""The command ``verify``, and the certificate of ``solve``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.models.problem.problem import Problem
    from slotwise.solver.core.result import Result
    from slotwise.solver.verification.crosscheck import CrossCheck


def save_certificate(
    path: Path, problem: Problem, result: Result, check: CrossCheck | None
) -> None:
    """Write the certificate of `result`, unless there is no answer to certify."""
    from slotwise.api.verifying import certify
    from slotwise.models.certificates.file import write_certificate
    from slotwise.solver.core.result import Status

    if result.status is not Status.UNKNOWN:
        write_certificate(path, certify(problem, result, check))


@options.decoded_cluster
def verify(
    instance: options.Instance,
    certificate: Annotated[
        str,
        typer.Argument(metavar="CERTIFICATE", help="Certificate written by `solve --certificate`."),
    ],
    resolve: Annotated[
        bool, typer.Option("--resolve", help="Let another engine search for anything better.")
    ] = False,
    engine: options.OtherEngine = None,
    time_limit: options.TimeLimit = 60.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    memory_limit: options.MemoryLimit = None,
    max_moved: options.MaxMoved = None,
    without_node: options.WithoutNode = None,
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Check a certificate: hash, placement and values without a solver; bounds with --resolve."""
    from slotwise.api import verifying
    from slotwise.api.inputs import with_move_limit
    from slotwise.models.certificates.file import read_certificate

    if engine is not None and not resolve:
        raise typer.BadParameter("--engine needs --resolve")
    if instance == certificate == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and CERTIFICATE can come from stdin")
    given = inputs.load_instance(instance, without_node, **decoded)
    problem = inputs.compiled(with_move_limit(given, max_moved, "--max-moved"), instance)
    claim = read_certificate(certificate)
    if resolve:
        with exits.held():
            from slotwise.solver.verification import certify  # noqa: F401 (loads native modules)
    verified = verifying.verify(
        problem,
        claim,
        resolve=resolve,
        engine=engine,
        time_limit_s=time_limit,
        workers=workers,
        seed=seed,
        memory_limit_mb=memory_limit,
    )
    if as_json:
        print_json(verified.to_document())
    else:
        exits.emit("\n".join(verified.lines()) + "\n")
    check = verified.check
    if check is not None and check.result is not None and check.result.interrupted:
        return Exit.INTERRUPTED
    return {"failed": Exit.FAILED, "not settled": Exit.NO_ANSWER}.get(verified.status, Exit.DONE)
