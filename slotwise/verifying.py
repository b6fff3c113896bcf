"""The command ``verify``, and the cross-check and certificate of ``solve``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotwise import exits, inputs, options
from slotwise.exits import Exit, print_json
from slotwise.models.errors import InternalError

if TYPE_CHECKING:
    from slotwise.models.certificate import Certificate
    from slotwise.models.problem import Problem
    from slotwise.solver.crosscheck import CrossCheck
    from slotwise.solver.result import Result


def crosschecked(problem: Problem, result: Result) -> CrossCheck | None:
    """Have another engine check `result`; ``None`` where there is nothing to check.

    Raises
    ------
    InternalError
        When it finds what the first engine's proof says there is not; names both.
    """
    from slotwise.solver.claims import Agreement, claim_of
    from slotwise.solver.crosscheck import crosscheck
    from slotwise.solver.result import Status

    if result.status is Status.UNKNOWN or result.interrupted:
        return None
    check = crosscheck(problem, claim_of(result), result.limits)
    if check.agreement is Agreement.CONTRADICTED:
        raise InternalError(f"two engines contradict each other: {check.reason}")
    return check


def save_certificate(
    path: Path, problem: Problem, result: Result, check: CrossCheck | None
) -> None:
    """Write the certificate of `result`, unless there is no answer to certify."""
    from slotwise.models.certificate_file import write_certificate
    from slotwise.solver.certificate import certificate_of
    from slotwise.solver.result import Status

    if result.status is not Status.UNKNOWN:
        write_certificate(path, certificate_of(problem, result, check))


@dataclass(frozen=True, slots=True)
class Verified:
    """What ``verify`` found.

    Parameters
    ----------
    certificate
        What was verified.
    findings
        What is wrong with it; empty where nothing is.
    check
        The other engine's answer; ``None`` = none was asked.
    """

    certificate: Certificate
    findings: tuple[str, ...]
    check: CrossCheck | None

    @property
    def status(self) -> str:
        """``failed``, ``not settled``, ``verified`` or ``placement verified``."""
        if self.findings:
            return "failed"
        if self.check is None:
            return "placement verified"
        return "verified" if self.check.agreement == "agreed" else "not settled"

    @property
    def code(self) -> Exit:
        """The exit code."""
        return {"failed": Exit.FAILED, "not settled": Exit.NO_ANSWER}.get(self.status, Exit.DONE)

    def lines(self) -> list[str]:
        """Return what to tell people."""
        by = self.certificate.asserted_by()
        what = "placement verified" if self.certificate.places else "certificate read"
        if self.status == "failed":
            return ["verification failed:", *(f"  {line}" for line in self.findings)]
        if self.check is None:
            return [f"{what}, bound asserted by {by}; --resolve has another engine check it"]
        if self.status == "verified":
            return [f"verified: {self.check.reason}"]
        return [f"{what}, bound asserted by {by}; not settled: {self.check.reason}"]

    def to_document(self) -> dict[str, Any]:
        """Return what ``verify --json`` prints."""
        from slotwise.models.numbers import plain

        return {
            "status": self.status,
            "findings": list(self.findings),
            "instance": self.certificate.instance,
            "claimed": self.certificate.status,
            "objective": [
                {
                    "term": t.term,
                    "value": None if t.value is None else plain(t.value),
                    "bound": None if t.bound is None else plain(t.bound),
                }
                for t in self.certificate.objective
            ],
            "asserted_by": [
                {"engine": proof.engine, "version": proof.version}
                for proof in self.certificate.proofs
            ],
            "resolve": None if self.check is None else self.check.to_document(),
        }


def verify(
    instance: options.Instance,
    certificate: Annotated[
        str, typer.Argument(metavar="CERTIFICATE", help="What `solve --certificate` wrote.")
    ],
    resolve: Annotated[
        bool, typer.Option("--resolve", help="Have another engine search for anything better.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The other engine; default: any that takes it."),
    ] = None,
    time_limit: options.TimeLimit = 60.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    max_moved: options.MaxMoved = None,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    as_json: options.Json = False,
) -> int:
    """Check a certificate: hash, placement and values without a solver; bounds with --resolve."""
    from slotwise.models.certificate_check import findings
    from slotwise.models.certificate_file import read_certificate

    if engine is not None and not resolve:
        raise typer.BadParameter("--engine needs --resolve")
    if instance == certificate == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and CERTIFICATE can come from stdin")
    given = inputs.load_instance(instance, topology, worker_min_cpu)
    problem = inputs.with_move_limit(given, max_moved)
    claim = read_certificate(certificate)
    wrong, check = findings(problem, claim), None
    if resolve and not wrong:
        with exits.held():
            from slotwise.models.compile import compile_problem
            from slotwise.solver.certificate import resolve as resolve_certificate
            from slotwise.solver.result import Limits

        limits = Limits(time_limit, workers, seed)
        check = resolve_certificate(compile_problem(problem), claim, limits, engine=engine)
        if check.agreement == "contradicted":
            wrong = (f"bound: {check.reason}",)
    verified = Verified(claim, wrong, check)
    if as_json:
        print_json(verified.to_document())
    else:
        exits.emit("\n".join(verified.lines()) + "\n")
    if check is not None and check.result is not None and check.result.interrupted:
        return Exit.INTERRUPTED
    return verified.code
