"""Checks of single values that many nouns share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from slotwise.models.errors import InputError


def one_of(value: str, allowed: tuple[str, ...], where: str) -> None:
    """Refuse a value that is not in the closed list `allowed`."""
    if value not in allowed:
        raise InputError(f"must be one of {', '.join(allowed)}", field=where, value=value)


def distinct(ids: Iterable[str], where: str) -> None:
    """Refuse a repeated id."""
    for key, count in Counter(ids).items():
        if count > 1:
            raise InputError(f"must be unique, stands {count} times", field=where, value=key)
