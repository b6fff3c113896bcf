"""A placement as the viewer is given it."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.models.instance.placement import Placement


@dataclass(frozen=True, slots=True)
class Shown:
    """A placement to show.

    Parameters
    ----------
    name
        Of the method, for example ``r-storm``.
    placement
        Of the instance that is shown.
    caption
        What is said of it, one line; empty = its value of each term.
    failed
        Whether its run counts as failed. Broken rules are shown whatever this says.
    """

    name: str
    placement: Placement
    caption: str = ""
    failed: bool = False
