"""All families of generated instances, by name."""

from __future__ import annotations

from slotwise.models.allocation.case import AllocationCase
from slotwise.models.families.family import Family
from slotwise.models.families.partition import PARTITION
from slotwise.models.families.random_planted import RANDOM
from slotwise.models.families.rstorm import RSTORM
from slotwise.models.families.rstorm_3d import RSTORM_3D
from slotwise.models.families.rstorm_scaled import RSTORM_SCALED
from slotwise.models.families.sam import SAM
from slotwise.models.families.stick_breaking import STICK_BREAKING
from slotwise.models.families.storm_like_family import STORM_LIKE, STORM_LIKE_HELD_OUT
from slotwise.models.families.stromax import STROMAX
from slotwise.models.instance.instance import Instance

__all__ = ["ALLOCATION_FAMILIES", "FAMILIES", "Family"]

FAMILIES: dict[str, Family[Instance]] = {
    "rstorm": RSTORM,
    "rstorm-3d": RSTORM_3D,
    "rstorm-scaled": RSTORM_SCALED,
    "random": RANDOM,
    "stick-breaking": STICK_BREAKING,
    "stromax": STROMAX,
    "partition": PARTITION,
    "storm-like": STORM_LIKE,
    "storm-like-held-out": STORM_LIKE_HELD_OUT,
}
"""Of instances of placement."""

ALLOCATION_FAMILIES: dict[str, Family[AllocationCase]] = {"sam": SAM}
"""Of cases of allocation: slots for a dataflow."""
