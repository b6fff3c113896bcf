"""Names of engines that users once wrote and still may."""

from __future__ import annotations

RENAMED = {"pieces": "connected"}
"""Earlier name of an engine -> its name. Old rows and certificates hold the earlier ones."""


def current_name(name: str) -> str:
    """Return the name of an engine today."""
    return RENAMED.get(name, name)


def renaming(name: str) -> str | None:
    """Return what to tell who writes an earlier name; ``None`` for any other."""
    return f"engine {name!r} is now called {RENAMED[name]!r}" if name in RENAMED else None
