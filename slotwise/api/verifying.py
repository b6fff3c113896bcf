"""Making certificates of results, and verifying them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Unpack

from slotwise.api.inputs import (
    CertificateLike,
    DecodedCluster,
    InstanceLike,
    as_certificate,
    as_problem,
)
from slotwise.models.certificates import Certificate
from slotwise.models.errors import InputError
from slotwise.solver.verification import verify as verification
from slotwise.solver.verification.verify import Verified

if TYPE_CHECKING:
    from slotwise.solver.core.result import Result
    from slotwise.solver.verification.crosscheck import CrossCheck


def certify(
    instance: InstanceLike,
    result: Result,
    check: CrossCheck | None = None,
    *,
    max_moved: int | None = None,
    without_nodes: Collection[str] = (),
) -> Certificate:
    """Return the certificate of a result of `solve`.

    Parameters
    ----------
    instance
        What was solved, as in `solve`.
    result
        Its answer.
    check
        Of `crosscheck`, whose proofs are added; ``None`` = there was none.
    max_moved, without_nodes
        As in the `solve` that gave `result`.

    Raises
    ------
    InputError
        For a result without an answer, or of another instance.

    Examples
    --------
    >>> import slotwise
    >>> result = slotwise.solve("docs/examples/word-count.json", time_limit_s=30)
    >>> certificate = slotwise.certify("docs/examples/word-count.json", result)
    >>> certificate.status
    'optimal'
    """
    from slotwise.solver.verification.certify import certificate_of

    problem = as_problem(instance, max_moved=max_moved, without_nodes=without_nodes)
    return certificate_of(problem, result, check)


def verify(
    instance: InstanceLike,
    certificate: CertificateLike,
    *,
    resolve: bool = False,
    engine: str | None = None,
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    memory_limit_mb: int | None = None,
    max_moved: int | None = None,
    without_nodes: Collection[str] = (),
    **decoded: Unpack[DecodedCluster],
) -> Verified:
    """Check a certificate: hash, digest, placement and values; the bounds with `resolve`.

    Infeasibility is proven again without a solver where a contradiction is at hand.

    Parameters
    ----------
    instance
        The instance of the certificate: an `Instance`, a compiled problem, a path, a dict or text;
        see `read_instance`.
    certificate
        A `Certificate`, a path, a dict or text.
    resolve
        Also have another engine search for anything below the certificate's bounds. Without it
        no solver is loaded, and the bounds stay asserted; so does infeasibility, unless
        a contradiction is at hand.
    engine
        That engine; ``None`` = any that takes the instance and is not behind the certificate.
    time_limit_s, workers, seed, memory_limit_mb
        For the other engine, as in `solve`.
    max_moved, without_nodes
        As in the `solve` that was certified.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, and an engine without `resolve`. A wrong certificate is not an error:
        `Verified.findings` say what is wrong.

    Examples
    --------
    >>> import slotwise
    >>> instance = slotwise.read_instance("docs/examples/word-count.json")
    >>> certificate = slotwise.certify(instance, slotwise.solve(instance, time_limit_s=30))
    >>> slotwise.verify(instance, certificate).status
    'placement verified'
    """
    if engine is not None and not resolve:
        raise InputError("needs `resolve`", field="engine", value=engine)
    problem = as_problem(instance, max_moved=max_moved, without_nodes=without_nodes, **decoded)
    return verification.verify(
        problem,
        as_certificate(certificate),
        resolve=resolve,
        engine=engine,
        time_limit_s=time_limit_s,
        workers=workers,
        seed=seed,
        memory_limit_mb=memory_limit_mb,
    )
