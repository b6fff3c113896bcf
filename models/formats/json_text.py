"""JSON with exact numbers: every number is an `int` or a `Decimal`, read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from slotwise.models.errors import InputError
from slotwise.models.values import exact_text, read_number

MAX_DEPTH = 100
"""Deepest nesting that is read; our files need 8."""

LINE = 100
"""Longest line for an object or list; longer ones are broken."""


def parse_json(text: str) -> Any:
    """Return the data of a JSON text; ``NaN`` and ``Infinity`` become decimals of that name.

    Numbers are read by `read_number`.

    Raises
    ------
    InputError
        With line and column where the text is not JSON, with the key where one is duplicate; and
        where it is nested more than `MAX_DEPTH` deep.
    """
    try:
        data = json.loads(
            text,
            parse_float=read_number,
            parse_int=read_number,
            parse_constant=Decimal,
            object_pairs_hook=_without_repeats,
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"is not valid JSON: {error.msg}",
            field=f"line {error.lineno} column {error.colno}",
            value=text[error.pos : error.pos + 40] or "end of text",
        ) from error
    except RecursionError as error:
        raise _too_deep() from error
    _check_depth(data)
    return data


def canonical_json(value: object) -> str:
    """Return `value` as JSON with sorted keys, no spaces, ASCII and normal numbers.

    Numbers that are equal are written the same: 1, 1.0 and 1e0 are ``1``.
    """
    if isinstance(value, Mapping):
        items = (f"{json.dumps(key)}:{canonical_json(value[key])}" for key in sorted(value))
        return "{" + ",".join(items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    return exact_text(value) if isinstance(value, Decimal) else json.dumps(value)


def pretty_json(value: object, indent: int = 0) -> str:
    """Return `value` as JSON for people: keys in the given order, short parts on one line."""
    if isinstance(value, Mapping):
        opening, closing = "{", "}"
        parts = [
            f"{_text(str(key))}: {pretty_json(item, indent + 1)}" for key, item in value.items()
        ]
    elif isinstance(value, list | tuple):
        opening, closing = "[", "]"
        parts = [pretty_json(item, indent + 1) for item in value]
    elif isinstance(value, Decimal):
        return exact_text(value)
    else:
        return _text(value)
    line = f"{opening}{', '.join(parts)}{closing}"
    if len(line) + indent <= LINE and "\n" not in line:
        return line
    margin = " " * (indent + 1)
    return f"{opening}\n{margin}" + f",\n{margin}".join(parts) + f"\n{' ' * indent}{closing}"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _check_depth(data: Any) -> None:
    """Raise `InputError` for data nested more than `MAX_DEPTH` deep, without recursion."""
    level = [data] if isinstance(data, dict | list) else []
    for _ in range(MAX_DEPTH):
        level = [
            item
            for holder in level
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> InputError:
    rule = f"is nested too deeply; at most {MAX_DEPTH} levels are read"
    return InputError(rule, field="JSON", has_value=False)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        for key, value in pairs:
            if key in seen:
                raise InputError("is a duplicate key", field=key, value=value)
            seen.add(key)
    return data
