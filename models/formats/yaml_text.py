"""YAML with exact numbers, built from the parser's events alone: nothing in a file can run.

Plain scalars are read as in YAML 1.2's core schema (``1e3`` is a number; ``on``, ``1:30`` and
dates are text), numbers as `int` or `Decimal`. Tags and merge keys are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import yaml

from slotwise.models.errors import InputError
from slotwise.models.formats.json_text import MAX_DEPTH
from slotwise.models.values import Outsized, exact_text, read_number

MAX_VALUES = 5_000_000
"""Most values after aliases are expanded: stops texts that expand without end."""

_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)")

# The C parser is ten times as fast and reads the same; a wheel without it has the other.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str) -> Any:
    """Return the data of a YAML text with one document; ``.nan``, ``.inf`` become decimals.

    Raises
    ------
    InputError
        With the line where the text is not YAML, has tags, keys that are duplicate or not text, is
        nested too deeply or has aliases that expand to millions of values.
    """
    try:
        return _Reader(yaml.parse(text, Loader=_Loader)).document()
    except yaml.MarkedYAMLError as error:
        rule = f"is not valid YAML: {error.problem or error.context}"
        mark = error.problem_mark or error.context_mark
        raise _at(mark, rule, _line(text, mark)) from error
    except yaml.YAMLError as error:
        raise InputError(f"is not valid YAML: {error}", has_value=False) from error


def yaml_text(value: object) -> str:
    """Return `value` as YAML, keys in the given order."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


class _Reader:
    """Builds data from events, counting the values that aliases expand to."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.count = 0

    def document(self) -> Any:
        next(self.events)  # start of stream
        if isinstance(next(self.events), yaml.StreamEndEvent):
            return None
        data = self.value(next(self.events), 0)
        next(self.events)  # end of document
        more = next(self.events)
        if not isinstance(more, yaml.StreamEndEvent):
            raise _at(more.start_mark, "must hold only one document")
        return data

    def value(self, event: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _at(event.start_mark, f"must be nested at most {MAX_DEPTH} deep")
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        if event.tag not in (None, "!"):
            raise _at(event.start_mark, "must have no tag; plain YAML only", event.tag)
        before = self.count
        self.add(event, 1)
        if isinstance(event, yaml.ScalarEvent):
            data: Any = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            data = self.sequence(depth)
        else:
            data = self.mapping(depth)
        if event.anchor:
            self.anchors[event.anchor] = (data, self.count - before)
        return data

    def alias(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            raise _at(event.start_mark, "must follow its anchor's value", f"*{event.anchor}")
        data, count = self.anchors[event.anchor]
        self.add(event, count)
        return data

    def add(self, event: Any, count: int) -> None:
        self.count += count
        if self.count > MAX_VALUES:
            raise _at(event.start_mark, f"must hold at most {MAX_VALUES} values, aliases unfolded")

    def sequence(self, depth: int) -> list[Any]:
        items = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.value(event, depth + 1))
        return items

    def mapping(self, depth: int) -> dict[str, Any]:
        items: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.value(event, depth + 1)
            if not isinstance(key, str):
                raise _at(event.start_mark, "must be text, because it is a key; quote it", key)
            if key in items:
                raise _at(event.start_mark, "is a duplicate key", key)
            items[key] = self.value(next(self.events), depth + 1)
        return items


def _scalar(event: Any) -> str | bool | int | Decimal | Outsized | None:
    text: str = event.value
    if not event.implicit[0] or event.tag == "!":
        return text
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if _INT.fullmatch(text) or _FLOAT.fullmatch(text):
        return read_number(text)
    if match := _NO_NUMBER.fullmatch(text):
        return Decimal(match[1] + match[2])
    return text


def _line(text: str, mark: Any) -> str | None:
    lines = text.split("\n")
    return lines[mark.line].strip() or "end of text" if mark and mark.line < len(lines) else None


def _at(mark: Any, rule: str, value: object = None) -> InputError:
    where = "" if mark is None else f"line {mark.line + 1} column {mark.column + 1}"
    return InputError(rule, field=where, value=value, has_value=value is not None)


class _Dumper(yaml.SafeDumper):
    """Writes decimals exactly; quotes text that readers of YAML 1.1 or 1.2 might misread."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value out."""
        return True


def _decimal(dumper: _Dumper, number: Decimal) -> yaml.ScalarNode:
    text = exact_text(number)
    tag = "float" if "." in text else "int"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{tag}", text)


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Escape what a plain scalar would lose, U+0085 for one."""
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(Decimal, _decimal)
_Dumper.add_representer(str, _text)
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(f"(?:{_FLOAT.pattern})$"), list("-+.0123456789")
)
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(f"(?:{_INT.pattern})$"), list("-+0123456789")
)
