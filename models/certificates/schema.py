"""The shape of certificate files (Pydantic)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from slotwise.models.certificates.certificate import STATUSES
from slotwise.models.formats.fields import Amount, FileObject, Name, Positive, Whole, choice
from slotwise.models.formats.instance_schema import Places


class TermFile(FileObject):
    """Value and bound of a term; ``null`` where there is none."""

    term: Name = Field(description="Name of the term, as in the instance.")
    value: Amount | None = Field(
        description="What the placement costs, in the user's unit; null = there is no placement."
    )
    bound: Amount | None = Field(
        description="Lower bound given that all terms before are at their values; null = nothing "
        "is proven."
    )


class ParametersFile(FileObject):
    """How an engine was called."""

    time_limit_s: Amount = Field(description="Wall-clock limit, seconds.")
    workers: Positive = Field(description="Threads, 1 or more.")
    seed: Whole = Field(description="Seed of its random choices, 0 or more.")


class ProofFile(FileObject):
    """What one engine claims: its own bound of each term."""

    engine: Name = Field(description="Name of the engine.")
    version: str = Field(description="Version of the solver behind it.")
    parameters: ParametersFile = Field(description="How it was called.")
    how: str = Field(description="How it proved its bounds, in words.")
    bounds: list[Amount | None] = Field(
        description="Its own bound of each term, in the user's unit; null = it proved nothing."
    )


class CertificateFile(FileObject):
    """A file ``slotwise.certificate/1``."""

    format: Literal["slotwise.certificate/1"] = Field(description="Names this format.")
    instance: Name = Field(description="Hash of the instance, `sha256:...`.")
    status: Annotated[str, choice(STATUSES)] = Field(
        description="`optimal`: values equal bounds; `feasible`: not proven best; `infeasible`: "
        "proven that there is no placement."
    )
    made_by: Name = Field(description="Program and version that wrote it.")
    objective: list[TermFile] = Field(description="One entry per term, in order.")
    proofs: list[ProofFile] = Field(description="One entry per engine.")
    placement: Places | None = Field(
        description="Topology -> `component[index]` -> place; null = infeasible."
    )
    digest: Name = Field(description="Hash of all the rest, `sha256:...`; no signature.")
