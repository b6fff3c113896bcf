"""Colours by role, for light and dark pages and for paper."""

from __future__ import annotations

from dataclasses import dataclass

SERIES = 7
"""Methods that have a colour of their own; the rest is drawn in the colour `rest`."""


@dataclass(frozen=True, slots=True)
class Role:
    """What a colour is for, and the colour on white and on a dark page."""

    name: str
    light: str
    dark: str

    @property
    def variable(self) -> str:
        """Its CSS variable."""
        return f"var(--{self.name})"


# Okabe and Ito's palette (2008), distinguishable with any colour vision. Its yellow cannot be
# seen on white, its black not on a dark page; no two roles share a light colour, because a drawing
# names roles by them.
_SERIES = (
    ("#0072b2", "#4aa8e0"),
    ("#d55e00", "#f08a3c"),
    ("#009e73", "#2fc99b"),
    ("#cc79a7", "#e09bc2"),
    ("#e69f00", "#f2b430"),
    ("#56b4e9", "#8fd0f5"),
    ("#7a5230", "#c49a6c"),
)
# From near to far: inside a worker, a node, a rack, across racks.
_LEVELS = (
    ("#cfe3f2", "#23405a"),
    ("#86b9dd", "#3a75a5"),
    ("#2f7fb8", "#6db3e4"),
    ("#b84a00", "#f29a55"),
)

ROLES = {
    role.name: role
    for role in (
        *(Role(f"series-{i}", *pair) for i, pair in enumerate(_SERIES, 1)),
        *(Role(f"level-{i}", *pair) for i, pair in enumerate(_LEVELS, 1)),
        Role("text", "#1d2433", "#e6e9ef"),
        Role("muted", "#5b6577", "#9aa4b5"),
        Role("grid", "#dfe3ea", "#323a47"),
        Role("rest", "#a3abb8", "#6b7585"),
        Role("on-bright", "#1c2332", "#14171d"),
        Role("surface", "#ffffff", "#14171d"),
    )
}
"""Name -> role."""


def colour(name: str) -> str:
    """Return the colour of a role on white, which stands for the role in a drawing."""
    return ROLES[name].light


def level(index: int) -> str:
    """Return the colour of a level: 0 = inside a worker, 3 = across racks."""
    return colour(f"level-{index + 1}")
