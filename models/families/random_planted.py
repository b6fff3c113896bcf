"""Seeded random instances with slots, heap limits and constraints, feasible and infeasible.

Feasible ones are built around a planted placement (`planted`); the others are such instances with
one rule broken so that nothing fits (`infeasible`). The label stands in the instance's name.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace

from numpy.random import Generator

from slotwise.models.errors import InputError
from slotwise.models.families.family import Family, check_index, child_rng, draw
from slotwise.models.families.infeasible import BREAKERS
from slotwise.models.families.planted import PlantedSizes, planted
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.values import whole

NAME = "random"


@dataclass(frozen=True, slots=True)
class RandomParameters:
    """Sizes as in `PlantedSizes`; `infeasible_percent` of the instances have no placement."""

    tasks: int = 16
    components: int = 5
    topologies: int = 1
    nodes: int = 5
    racks: int = 2
    tightness_percent: int = 75
    heterogeneity_percent: int = 50
    infeasible_percent: int = 20

    def __post_init__(self) -> None:
        """Check each field, then their order of size."""
        for field in fields(self):
            least = 0 if field.name in ("heterogeneity_percent", "infeasible_percent") else 1
            value = whole(getattr(self, field.name), field.name, least=least)
            if field.name.endswith("_percent") and value > 100:
                raise InputError("must be at most 100", field=field.name, value=value)
        for small, large in (("components", "tasks"), ("topologies", "components")):
            if getattr(self, small) > getattr(self, large):
                value = getattr(self, small)
                raise InputError(
                    f"must be at most {large} ({getattr(self, large)})", field=small, value=value
                )


def random_family(parameters: RandomParameters) -> Family[Instance]:
    """Return the family with these parameters."""

    def make(index: int, seed: int) -> Instance:
        check_index(NAME, index)
        return random_instance(parameters, index, seed)[0]

    def label(index: int, seed: int) -> str:
        broken = _broken(parameters, child_rng(NAME, seed, index))
        return "feasible" if broken is None else "infeasible"

    return Family(
        name=NAME,
        description="Random topologies and clusters, feasible or infeasible by construction",
        count=50,
        make=make,
        parameters=asdict(parameters),
        label=label,
    )


def random_instance(
    parameters: RandomParameters, index: int, seed: int
) -> tuple[Instance, Placement | None]:
    """Return an instance with a placement that keeps all its rules; ``None`` = there is none."""
    rng = child_rng(NAME, seed, index)
    broken = _broken(parameters, rng)
    shape = PlantedSizes(
        **{field.name: getattr(parameters, field.name) for field in fields(PlantedSizes)},
    )
    name = f"{NAME}-{seed}-{index:04d}"
    instance, placement = planted(f"{name}-feasible", shape, rng)
    if broken is None:
        return instance, placement
    return replace(BREAKERS[broken](instance), name=f"{name}-infeasible-{broken}"), None


def _broken(parameters: RandomParameters, rng: Generator) -> str | None:
    """Draw, first of all, which rule nothing can keep; ``None`` = all can be kept."""
    infeasible = draw(rng, 1, 100) <= parameters.infeasible_percent
    rule = tuple(BREAKERS)[draw(rng, 0, len(BREAKERS) - 1)]
    return rule if infeasible else None


RANDOM = random_family(RandomParameters())
