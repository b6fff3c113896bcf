"""What the fields of files are made of: strict values whose errors name the rule.

Pydantic checks the shape; values are checked by the same functions as in `numbers`.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from slotwise.models.errors import InputError
from slotwise.models.values import MAX_VALUE, TOO_LONG, Outsized, exact, whole


class FileObject(BaseModel):
    """An object of a file: unknown and missing keys are refused by name."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def check_keys(cls, data: Any) -> Any:
        """Refuse what is no object, unknown keys and missing keys, in this order."""
        if not isinstance(data, dict):
            raise InputError("must be an object", value=data)
        known = {field.alias or name: field for name, field in cls.model_fields.items()}
        if cls.model_config.get("extra") == "forbid":
            for key, value in data.items():
                if key not in known:
                    rule = f"is an unknown key; known are {', '.join(known)}"
                    raise InputError(rule, field=key_path(key), value=value)
        for key, field in known.items():
            if field.is_required() and key not in data:
                raise InputError("is missing", field=key, has_value=False)
        return data


def key_path(*parts: str | int) -> str:
    """Return keys and indices as a path: ``topologies[0].components[1].parallelism``."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            short = part if len(part) <= 60 else part[:57] + "..."
            path += f".{short}" if path else short
    return path


def _number(value: Any) -> Decimal:
    if isinstance(value, str):
        raise InputError("must be a number, not text", value=value)
    if not isinstance(value, int | float | Decimal | Outsized):
        raise InputError("must be a number", value=value)
    return exact(value, "")


def _whole(value: Any, least: int = 0) -> int:
    if isinstance(value, Decimal) and value.is_finite() and value > MAX_VALUE:
        raise InputError(f"must be at most {MAX_VALUE}", value=value)
    return whole(value, "", least=least)


def _amount(value: Any) -> Decimal:
    if isinstance(value, Outsized):
        raise InputError(TOO_LONG, value=value)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise InputError("must be a number", value=value)
    amount = Decimal(value)
    if not amount.is_finite() or amount < 0:
        raise InputError("must be finite and 0 or more", value=value)
    return amount


Number = Annotated[
    Decimal, PlainValidator(_number), WithJsonSchema({"type": "number", "minimum": 0})
]
Amount = Annotated[
    Decimal, PlainValidator(_amount), WithJsonSchema({"type": "number", "minimum": 0})
]
"""A value that was computed: exact, and finer than the numbers of an instance may be."""
Whole = Annotated[int, PlainValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 0})]
Positive = Annotated[
    int, PlainValidator(partial(_whole, least=1)), WithJsonSchema({"type": "integer", "minimum": 1})
]
Name = Annotated[str, Field(json_schema_extra={"minLength": 1})]


def choice(allowed: tuple[str, ...]) -> WithJsonSchema:
    """Return the schema of a closed list; the nouns refuse what is not in it."""
    return WithJsonSchema({"type": "string", "enum": list(allowed)})
