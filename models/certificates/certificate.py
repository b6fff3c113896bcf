"""A certificate: what was found, what is claimed to be proven about it, and who claims it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from slotwise.models.display import block
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Place
from slotwise.models.number_text import short_text
from slotwise.models.values import one_of

STATUSES = ("optimal", "feasible", "infeasible")
"""What can be certified; a search that ended with nothing cannot."""


@dataclass(frozen=True, slots=True)
class CertifiedTerm:
    """Value and bound of a term in the user's unit; ``None`` where there is none.

    The bound holds given that all terms before it are at their values.
    """

    term: str
    value: Fraction | None
    bound: Fraction | None


@dataclass(frozen=True, slots=True)
class CertifiedProof:
    """What one engine claims to have proven.

    Parameters
    ----------
    engine, version
        Which engine, and which version of the solver behind it.
    time_limit_s, workers, seed
        Its parameters: wall-clock seconds, threads, seed of its random choices.
    how
        How it proved its bounds, in words.
    bounds
        Its own bound of each term in the user's unit; ``None`` where it proved nothing.
    """

    engine: str
    version: str
    time_limit_s: Fraction
    workers: int
    seed: int
    how: str
    bounds: tuple[Fraction | None, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A claim about one instance.

    Parameters
    ----------
    instance
        Hash of the instance, ``sha256:...``.
    status
        One of `STATUSES`.
    made_by
        Program and version that wrote it.
    objective
        One entry per term, in order.
    proofs
        One entry per engine.
    places
        The placement by topology and ``component[index]``; ``None`` where there is none.
    digest
        What its file says is the hash of all the rest; ``None`` for one made in Python.

    Examples
    --------
    >>> import slotwise
    >>> instance = slotwise.read_instance("docs/examples/word-count.json")
    >>> result = slotwise.solve(instance, engine="exhaustive")
    >>> slotwise.certify(instance, result).asserted_by().partition(" ")[0]
    'exhaustive'
    """

    instance: str
    status: str
    made_by: str
    objective: tuple[CertifiedTerm, ...]
    proofs: tuple[CertifiedProof, ...]
    places: Mapping[str, Mapping[str, Place]] | None
    digest: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Check that the parts belong together."""
        one_of(self.status, STATUSES, "status")
        if (self.places is None) != (self.status == "infeasible"):
            raise InputError(
                "has no placement when infeasible, and one otherwise",
                field="status",
                value=self.status,
            )
        for index, proof in enumerate(self.proofs):
            if len(proof.bounds) != len(self.objective):
                raise InputError(
                    f"must have one entry per term (there are {len(self.objective)})",
                    field=f"proofs[{index}].bounds",
                    value=f"{len(proof.bounds)} entries",
                )

    def __repr__(self) -> str:
        """Two lines: of which instance, what is claimed, by whom."""
        claims = ", ".join(
            f"{one.term} {short_text(one.value)} (bound {short_text(one.bound)})"
            for one in self.objective
        )
        head = f"Certificate of {self.instance[:19]}...: {self.status}; {claims}"
        return block(head, [f"asserted by {self.asserted_by()}"])

    def asserted_by(self) -> str:
        """Return the engines that assert the bounds, with their versions."""
        return " and ".join(f"{proof.engine} ({proof.version})" for proof in self.proofs)
