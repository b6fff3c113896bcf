"""What a component's task needs, and which of its numbers were estimated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from slotwise.models.errors import InputError
from slotwise.models.values import Number, distinct, exact, name, one_of


def demands(resources: Mapping[str, Number], where: str) -> dict[str, Decimal]:
    """Check the demand of one task and return it exactly; absent dimensions need nothing."""
    if "memory_mb" in resources:
        raise InputError(
            "a task's memory is written as onheap_mb and offheap_mb",
            field=f"{where}.memory_mb",
            value=resources["memory_mb"],
        )
    return {name(key, where): exact(value, f"{where}.{key}") for key, value in resources.items()}


def estimated_names(names: Iterable[str], known: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Check the names of estimated numbers and return them sorted.

    Each stands once and is one of `known`; ``None`` = any resource, whether or not it is needed.
    """
    given = tuple(name(one, f"estimated[{index}]") for index, one in enumerate(names))
    distinct(given, "estimated")
    for index, one in enumerate(given if known is not None else ()):
        one_of(one, known or (), f"estimated[{index}]")
    return tuple(sorted(given))
