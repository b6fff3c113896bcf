"""All families of generated instances, by name."""

from __future__ import annotations

from slotwise.models.family import Family
from slotwise.models.random_family import RANDOM
from slotwise.models.rstorm_3d_family import RSTORM_3D
from slotwise.models.rstorm_family import RSTORM
from slotwise.models.rstorm_scaled_family import RSTORM_SCALED
from slotwise.models.stick_breaking_family import STICK_BREAKING

__all__ = ["FAMILIES", "Family"]

FAMILIES: dict[str, Family] = {
    "rstorm": RSTORM,
    "rstorm-3d": RSTORM_3D,
    "rstorm-scaled": RSTORM_SCALED,
    "random": RANDOM,
    "stick-breaking": STICK_BREAKING,
}
