"""A certificate: what was found, what is claimed to be proven about it, and who claims it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any

from slotwise.models.display import block
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Running
from slotwise.models.nouns import (
    REQUIRED,
    Amount,
    FromFile,
    Name,
    Noun,
    Positive,
    Whole,
    check_fields,
    choice,
)
from slotwise.models.number_text import short_text

STATUSES = ("optimal", "feasible", "infeasible")
"""What can be certified; a search that ended with nothing cannot."""


Value = Annotated[Fraction, FromFile(Amount, Fraction)]


@dataclass(frozen=True, slots=True)
class CertifiedTerm(Noun):
    """Value and bound of a term; ``None`` where there is none.

    Parameters
    ----------
    term
        Name of the term, as in the instance.
    value
        What the placement costs, in the user's unit; ``None`` = there is no placement.
    bound
        Lower bound given that all terms before are at their values; ``None`` = nothing is proven.
    """

    term: Name
    value: Value | None
    bound: Value | None


@dataclass(frozen=True, slots=True)
class ParametersFile(Noun):
    """How an engine was called.

    Parameters
    ----------
    time_limit_s
        Wall-clock limit, seconds.
    workers
        Threads, 1 or more.
    seed
        Seed of its random choices, 0 or more.
    """

    time_limit_s: Value
    workers: Positive
    seed: Whole


@dataclass(frozen=True, slots=True)
class ProofFile(Noun):
    """What one engine claims, in a file.

    Parameters
    ----------
    engine
        Name of the engine.
    version
        Version of the solver behind it.
    parameters
        How it was called.
    how
        How it proved its bounds, in words.
    bounds
        Its own bound of each term, in the user's unit; ``None`` = it proved nothing.
    """

    engine: Name
    version: str
    parameters: ParametersFile
    how: str
    bounds: tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class CertifiedProof(Noun):
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

    @classmethod
    def of(cls, file: ProofFile) -> CertifiedProof:
        """Return the proof of a file."""
        called = file.parameters
        return cls(
            file.engine,
            file.version,
            called.time_limit_s,
            called.workers,
            called.seed,
            file.how,
            file.bounds,
        )

    def to_document(self) -> dict[str, Any]:
        """Return the data of a file."""
        called = ParametersFile(self.time_limit_s, self.workers, self.seed)
        return ProofFile(self.engine, self.version, called, self.how, self.bounds).to_document()


@dataclass(frozen=True, slots=True)
class Certificate(Noun):
    """A claim about one instance.

    Parameters
    ----------
    instance
        Hash of the instance, ``sha256:...``.
    status
        ``optimal``: values equal bounds; ``feasible``: not proven best; ``infeasible``: proven that
        there is no placement.
    made_by
        Program and version that wrote it.
    objective
        One entry per term, in order.
    proofs
        One entry per engine.
    places
        Topology -> ``component[index]`` -> place; ``None`` = infeasible.
    digest
        Hash of all the rest, ``sha256:...``, no signature; files must have it. ``None`` = it was
        made in Python.

    Examples
    --------
    >>> import slotwise
    >>> instance = slotwise.read_instance("docs/examples/word-count.json")
    >>> result = slotwise.solve(instance, engine="exhaustive")
    >>> slotwise.certify(instance, result).asserted_by().partition(" ")[0]
    'exhaustive'
    """

    FORMAT = "slotwise.certificate/1"

    instance: Name
    status: Annotated[str, choice(STATUSES)]
    made_by: Name
    objective: tuple[CertifiedTerm, ...]
    proofs: tuple[Annotated[CertifiedProof, FromFile(ProofFile, CertifiedProof.of)], ...]
    places: Running | None = field(metadata={"alias": "placement"})
    digest: Annotated[str | None, FromFile(Name, str)] = field(
        default=None, compare=False, metadata=REQUIRED
    )

    def __post_init__(self) -> None:
        """Check that the parts belong together."""
        check_fields(self)
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
