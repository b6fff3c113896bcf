"""Nouns of files: frozen dataclasses whose annotations say once what may stand in their fields.

From that one definition follow the checks of a noun made in Python (`check_fields`), the reading of
files and their JSON Schemas (Pydantic takes the same annotations: `formats.validation`, `schemas`;
what a key means is the docstring's, under Parameters), and what is written (`document`).

Start with `Noun`. Pydantic is not imported before a file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial, reduce
from itertools import repeat
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from slotwise.models.errors import InputError
from slotwise.models.values import (
    TOO_LONG,
    Outsized,
    as_decimal,
    exact,
    name,
    one_of,
    plain,
    whole,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic import GetCoreSchemaHandler as Handler
    from pydantic_core import CoreSchema

Check = Callable[[Any], Any]
"""Returns a value as it is kept, or raises `InputError`."""


@dataclass(frozen=True, eq=False)
class Allowed:
    """What a value may be, as metadata of its type.

    Parameters
    ----------
    check
        Of every value that a noun is made of (`check_fields`).
    schema
        The same as JSON Schema.
    read
        Of a value in a file, before: what a file may not hold, though Python may.
    """

    check: Check
    schema: Mapping[str, Any]
    read: Check | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> CoreSchema:
        """Return what Pydantic checks."""
        from pydantic_core import core_schema

        if self.read is not None:
            return core_schema.no_info_plain_validator_function(self.read)
        return handler(source) if source is str else core_schema.any_schema()

    def __get_pydantic_json_schema__(self, core: object, handler: object) -> dict[str, Any]:
        """Return the JSON Schema."""
        return dict(self.schema)


@dataclass(frozen=True, eq=False)
class FromFile:
    """What stands in a file where it is not the field's own type: `shape`, and how it is read."""

    shape: Any
    read: Check

    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> CoreSchema:
        """Return what Pydantic checks."""
        from pydantic_core import core_schema

        shape = handler.generate_schema(self.shape)
        return core_schema.no_info_after_validator_function(self.read, shape)


def _not_text(value: Any) -> Any:
    if isinstance(value, str):
        raise InputError("must be a number, not text", value=value)
    return value


def _amount(value: Any) -> Decimal:
    if isinstance(value, Outsized):
        raise InputError(TOO_LONG, value=value)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise InputError("must be a number", value=value)
    amount = Decimal(value)
    if not amount.is_finite() or amount < 0:
        raise InputError("must be finite and 0 or more", value=value)
    return amount


def _above_zero(value: Any) -> Decimal:
    number = exact(value, "")
    if number == 0:
        raise InputError("must be above 0", value=value)
    return number


def _fraction(value: Fraction) -> Fraction:
    if value < 0:
        raise InputError("must be 0 or more", value=plain(value))
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError("must be true or false", value=value)
    return value


def choice(allowed: tuple[str, ...]) -> Allowed:
    """Return the rule of a closed list of texts."""

    def check(value: str) -> str:
        one_of(value, allowed, "")
        return value

    return Allowed(check, {"type": "string", "enum": list(allowed)})


def _least(least: int) -> Allowed:
    return Allowed(partial(whole, field="", least=least), {"type": "integer", "minimum": least})


_NUMBER = {"type": "number", "minimum": 0}

Name = Annotated[str, Allowed(lambda value: name(value, ""), {"type": "string", "minLength": 1})]
Number = Annotated[Decimal, Allowed(lambda value: exact(value, ""), _NUMBER, _not_text)]
AboveZero = Annotated[
    Decimal, Allowed(_above_zero, {"type": "number", "exclusiveMinimum": 0}, _not_text)
]
Amount = Annotated[Decimal, Allowed(_amount, _NUMBER, _amount)]
"""A value that was computed: exact, and finer than the numbers of an instance may be."""
Exact = Annotated[
    Fraction, Allowed(_fraction, _NUMBER, lambda value: Fraction(exact(_not_text(value), "")))
]
"""A fraction of 0 or more; in files as exact as `Number`."""
Whole = Annotated[int, _least(0)]
Positive = Annotated[int, _least(1)]
Flag = Annotated[bool, Allowed(_flag, {"type": "boolean"})]

SPARSE = {"sparse": True}
"""Metadata of a field that is written only where it is not its default."""
REQUIRED = {"required": True}
"""Metadata of a field that a file must have though it has a default."""


class Noun:
    """Base of nouns: adds what is the same for all of them.

    A field's metadata say what its annotation cannot: `SPARSE`, `REQUIRED`, or ``alias``, its key
    in files.
    """

    __slots__ = ()

    # What a class says of its files. Comments, for the API's pages show what has a docstring.
    FORMAT: ClassVar[str | None] = None  # value of the key ``format``; None = they have none
    OTHERS: ClassVar[bool] = False  # whether there may be keys that are not read
    ROW: ClassVar[bool] = False  # whether it is a list, of its fields in order
    LAST: ClassVar[tuple[str, ...]] = ()  # fields written after all others, in this order
    __pydantic_config__: ClassVar[Any] = {"strict": False}

    def __post_init__(self) -> None:
        """Check each field."""
        check_fields(self)  # type: ignore[arg-type]

    def to_document(self) -> dict[str, Any]:
        """Return the data of the noun's part of a file; see `document`."""
        head: dict[str, Any] = {} if self.FORMAT is None else {"format": self.FORMAT}
        for field, key, default in _written(type(self)):  # type: ignore[arg-type]
            value = getattr(self, field)
            if default is MISSING or value != default:
                head[key] = value if type(value) in _PLAIN else document(value)
        return head

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Handler) -> CoreSchema:
        """Return what Pydantic checks: the keys, then their values."""
        from pydantic_core import core_schema

        keys = keys_of(cls)  # type: ignore[arg-type]

        def check(data: Any) -> Any:
            if cls.FORMAT is None:
                return check_keys(data, keys, others=cls.OTHERS)
            if isinstance(data, dict) and data.get("format", cls.FORMAT) != cls.FORMAT:
                raise InputError(f"must be {cls.FORMAT}", field="format", value=data["format"])
            checked = check_keys(data, keys, others=cls.OTHERS)
            return {key: value for key, value in checked.items() if key != "format"}

        schema = handler(source)
        shape: Any = handler.resolve_ref_schema(schema)  # may stand elsewhere, to be referred to
        shape["schema"] = core_schema.no_info_before_validator_function(check, shape["schema"])
        return schema


def check_keys(data: Any, known: Mapping[str, bool], *, others: bool) -> dict[str, Any]:
    """Return data if it is an object without unknown keys, unless there may be `others`.

    `known` is key -> whether it must be there.
    """
    if not isinstance(data, dict):
        raise InputError("must be an object", value=data)
    for key, value in data.items():
        if key not in known and not others:
            rule = f"is an unknown key; known are {', '.join(known)}"
            raise InputError(rule, field=key_path(key), value=value)
    for key, required in known.items():
        if required and key not in data:
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


def keys_of(noun: type[DataclassInstance]) -> dict[str, bool]:
    """Return the keys of a noun in files -> whether they must be there."""
    keys = {"format": True} if getattr(noun, "FORMAT", None) is not None else {}
    for field in fields(noun):
        bare = field.default is MISSING and field.default_factory is MISSING
        keys[key_of(field)] = bare or bool(field.metadata.get("required"))
    return keys


def key_of(field: Any) -> str:
    """Return the key of a field in files."""
    return str(field.metadata.get("alias", field.name))


def document(value: Any) -> Any:
    """Return a noun, or what its fields hold, as the data of a file; numbers stay exact."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Noun):
        data = value.to_document()
        return list(data.values()) if value.ROW else data
    if isinstance(value, tuple | list):
        return [document(one) for one in value]
    if isinstance(value, Fraction):
        return as_decimal(value)
    return {key: document(one) for key, one in value.items()}


_PLAIN = frozenset((str, int, bool, Decimal, NoneType))
"""Types of values that are written as they are."""


@cache
def _written(noun: type[DataclassInstance]) -> tuple[tuple[str, str, Any], ...]:
    """Return field, key, and of sparse fields the default, in the order of files."""
    last = {name: index for index, name in enumerate(getattr(noun, "LAST", ()))}
    rows = []
    for field in sorted(fields(noun), key=lambda one: last.get(one.name, -1)):
        default: Any = MISSING
        if field.metadata.get("sparse"):
            made = field.default_factory
            default = field.default if made is MISSING else made()
        rows.append((field.name, key_of(field), default))
    return tuple(rows)


def check_fields(noun: DataclassInstance) -> None:
    """Check each field by its annotation, and keep what the check returns."""
    for field, key, check in _checks(type(noun)):
        try:
            object.__setattr__(noun, field, check(getattr(noun, field)))
        except InputError as error:
            raise error.within(key) from error


@cache
def _checks(noun: type[DataclassInstance]) -> tuple[tuple[str, str, Check], ...]:
    hints = get_type_hints(noun, include_extras=True)
    rows = ((field.name, key_of(field), _check_of(hints[field.name])) for field in fields(noun))
    return tuple((field, key, check) for field, key, check in rows if check is not None)


def _check_of(hint: Any) -> Check | None:
    """Return what checks a value of a type; ``None`` = nothing to check."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        rules = (one.check if isinstance(one, Allowed) else one for one in args[1:])
        return _chain([one for one in (_check_of(args[0]), *rules) if callable(one)])
    if origin in (Union, UnionType):
        return _optional(_check_of(args[0])) if args[1:] == (NoneType,) else None
    if origin is tuple:
        many = args[-1] is Ellipsis
        return _tuple([_check_of(one) for one in (args[:1] if many else args)], many)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(*map(_check_of, args))
    return None


def _chain(checks: list[Check]) -> Check | None:
    """Return what makes the checks one after the other."""
    if len(checks) < 2:
        return checks[0] if checks else None
    return lambda value: reduce(lambda one, check: check(one), checks, value)


def _optional(check: Check | None) -> Check | None:
    return check and (lambda value: None if value is None else check(value))


def _tuple(checks: list[Check | None], many: bool) -> Check:
    """Return what checks the items: each by the only one, if there may be many, or its own."""
    if not any(checks):
        return tuple

    def checked(values: Any) -> tuple[Any, ...]:
        done: list[Any] = []
        rules = repeat(checks[0]) if many else checks
        try:
            for value, check in zip(values, rules, strict=not many):
                done.append(value if check is None else check(value))
        except InputError as error:
            raise error.within(f"[{len(done)}]") from error
        return tuple(done)

    return checked


def _mapping(check_key: Check | None, check: Check | None) -> Check:
    if check_key is None and check is None:
        return dict

    def checked(values: Mapping[str, Any]) -> dict[str, Any]:
        done = {}
        for key, value in values.items():
            if check_key is not None:
                check_key(key)
            try:
                done[key] = value if check is None else check(value)
            except InputError as error:
                raise error.within(key) from error
        return done

    return checked
