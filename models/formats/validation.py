"""Pydantic's findings as one `InputError`: the first finding, in our words."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from slotwise.models.errors import InputError
from slotwise.models.formats.fields import key_path

Model = TypeVar("Model", bound=BaseModel)

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
    """Refuse data of a file that is no object, or whose ``format`` is none of `known`."""
    if not isinstance(data, dict):
        raise InputError("must be an object with the key `format`", value=data)
    names = " or ".join(known)
    if "format" not in data:
        raise InputError(f"is missing; it must be {names}", field="format", has_value=False)
    if data["format"] not in known:
        raise InputError(f"must be {names}", field="format", value=data["format"])


def validated(model: type[Model], document: object) -> Model:
    """Return `document` as `model`.

    Raises
    ------
    InputError
        The first thing that is wrong: path, value, rule.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _input_error(dict(first)) from error


def _input_error(first: dict[str, Any]) -> InputError:
    path = key_path(*(part for part in first["loc"] if part != "[key]"))
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InputError):
        return cause.within(path) if path and cause.field else _with_path(cause, path)
    kind = first["type"]
    if kind == "missing":
        return InputError(_RULES[kind], field=path, has_value=False)
    if kind == "too_long":
        rule = f"must have at most {first['ctx']['max_length']} entries"
        return InputError(rule, field=path, value=first["input"])
    rule = _RULES.get(kind, first["msg"][:1].lower() + first["msg"][1:])
    return InputError(rule, field=path, value=first["input"])


def _with_path(cause: InputError, path: str) -> InputError:
    return InputError(
        cause.rule, field=path or cause.field, value=cause.value, has_value=cause.has_value
    )
