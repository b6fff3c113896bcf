"""Data of files as nouns, by Pydantic; its first finding as an `InputError`, in our words."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from slotwise.models.errors import InputError
from slotwise.models.nouns import key_path

Shape = TypeVar("Shape")

_RULES = {
    "string_type": "must be text",
    "string_unicode": "must be Unicode text, without surrogates",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "missing": "is missing",
}


def check_format(data: Any, *known: str) -> None:
    """Raise `InputError` unless data of a file are an object with a ``format`` of `known`."""
    if not isinstance(data, dict):
        raise InputError("must be an object with the key `format`", value=data)
    names = " or ".join(known)
    if "format" not in data:
        raise InputError(f"is missing; it must be {names}", field="format", has_value=False)
    if data["format"] not in known:
        raise InputError(f"must be {names}", field="format", value=data["format"])


def validated(shape: type[Shape], document: object) -> Shape:
    """Return `document` as a noun or another `shape`.

    Raises
    ------
    InputError
        The first thing that is wrong: path, value, rule.
    """
    try:
        noun: Shape = adapter(shape).validate_python(document)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _input_error(dict(first)) from error
    return noun


@cache
def adapter(shape: Any) -> TypeAdapter[Any]:
    """Return the adapter that validates and describes a shape."""
    return TypeAdapter(shape)


def _input_error(first: dict[str, Any]) -> InputError:
    keys = first["loc"]
    path = key_path(*(keys[:-2] if keys[-1:] == ("[key]",) else keys))
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InputError):
        return cause.within(path) if path else cause
    kind = first["type"]
    if kind == "missing":
        return InputError(_RULES[kind], field=path, has_value=False)
    if kind == "too_long":
        rule = f"must have at most {first['ctx']['max_length']} entries"
        return InputError(rule, field=path, value=first["input"])
    rule = _RULES.get(kind, first["msg"][:1].lower() + first["msg"][1:])
    return InputError(rule, field=path, value=first["input"])
