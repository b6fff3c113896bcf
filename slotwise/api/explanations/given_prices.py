"""Prices of repairs, as they are given in Python and on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from slotwise.models.display import kind_of
from slotwise.models.errors import InputError, at
from slotwise.models.values import Number, known
from slotwise.solver.explain.explain import DEFAULT_PRICES
from slotwise.solver.explain.prices import RepairPrices

PricesLike = RepairPrices | Mapping[str, Number] | Iterable[str] | None

RESOURCE = "resource."
"""Before the name of a resource, whose price is that of one unit on one node."""
NAMES = tuple(one.name for one in fields(RepairPrices) if one.name != "resources")


def as_prices(given: PricesLike) -> RepairPrices:
    """Return prices: themselves, or the defaults with those that a dict or texts change.

    Parameters
    ----------
    given
        Names are those of `RepairPrices`, or ``resource.`` and a resource; texts are
        ``NAME=PRICE``. ``None`` = the defaults.

    Raises
    ------
    InputError
        For an unknown name, and for a price that is no number of 0 or more.

    Examples
    --------
    >>> as_prices({"node": 3, "resource.gpu": 7}).node
    Decimal('3')
    """
    if given is None:
        return DEFAULT_PRICES
    if isinstance(given, RepairPrices):
        return given
    _check_kind(given)
    pairs = given if isinstance(given, Mapping) else dict(map(_pair, _texts(given)))
    resources = dict(DEFAULT_PRICES.resources)
    prices: dict[str, Number] = {}
    for name, price in pairs.items():
        if name.startswith(RESOURCE):
            resources[name.removeprefix(RESOURCE)] = price  # type: ignore[assignment]
        else:
            prices[known(name, NAMES, "prices")] = price
    with at("prices"):
        return RepairPrices(resources=resources, **prices)  # type: ignore[arg-type]


def _check_kind(given: object) -> None:
    if not isinstance(given, Iterable):
        rule = f"must be RepairPrices, a dict or texts, not {kind_of(given)}"
        raise InputError(rule, field="prices", has_value=False)


def _texts(given: Iterable[str]) -> Iterable[str]:
    return (given,) if isinstance(given, str) else given


def _pair(text: str) -> tuple[str, str]:
    name, separator, price = text.partition("=")
    if not separator:
        raise InputError("must be NAME=PRICE", field="prices", value=text)
    return name, price
