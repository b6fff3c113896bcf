"""Hypothesis's database of failing examples, with an entry for each scheduler and check."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis.database import ExampleDatabase


class KeyedDatabase(ExampleDatabase):
    """Another database, with `key` put before each of its keys.

    Hypothesis keys examples by the test function; ours is one function for all checks.
    """

    def __init__(self, base: ExampleDatabase, key: str) -> None:
        super().__init__()
        self._base = base
        self._key = f"slotwise {key} ".encode()

    def save(self, key: bytes, value: bytes) -> None:
        """Save an example."""
        self._base.save(self._key + key, value)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return the examples of a key."""
        return self._base.fetch(self._key + key)

    def delete(self, key: bytes, value: bytes) -> None:
        """Delete an example."""
        self._base.delete(self._key + key, value)


def keyed(base: ExampleDatabase | None, key: str) -> ExampleDatabase | None:
    """Return `base` with `key` before its keys; ``None`` where there is none."""
    return None if base is None else KeyedDatabase(base, key)
