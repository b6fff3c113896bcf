"""Data passed in Python, checked and converted to the form of a file's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from slotwise.models.display import kind_of
from slotwise.models.errors import InputError
from slotwise.models.formats.json_text import MAX_DEPTH
from slotwise.models.nouns import key_path

_KINDS = "must be a dict, a list, text, a number, true, false or None"


def plain_data(value: Any, *path: str | int) -> Any:
    """Return data as a file's parser would: tuples as lists, numbers of NumPy as Python's.

    Raises
    ------
    InputError
        With the path of a key that is not text, of a value that no file can hold, or of data
        nested too deeply (such as data that contain themselves).
    """
    if len(path) > MAX_DEPTH:
        rule = f"is nested too deeply; at most {MAX_DEPTH} levels are read"
        raise InputError(rule, field=key_path(path[0]), has_value=False)
    if value is None or isinstance(value, str | bool | int | Decimal):
        return value
    if isinstance(value, Mapping):
        return {_key(key, path): plain_data(one, *path, key) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [plain_data(one, *path, index) for index, one in enumerate(value)]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise InputError(f"{_KINDS}, not {kind_of(value)}", field=key_path(*path), has_value=False)


def _key(key: object, path: tuple[str | int, ...]) -> str:
    if isinstance(key, str):
        return key
    raise InputError("must be text, because it is a key", field=key_path(*path), value=str(key))
