"""How the name of a method is written: prefixes, parameters, lists of names.

``r-storm``, ``r-storm:weights=1,1,2`` (with parameters), ``storm:ras-default`` (Storm's own code)
and ``cmd:./place --fast`` (an external command).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from slotwise.models.errors import InputError

COMMAND_PREFIX = "cmd:"
"""Prefix of the name of an external command."""

STORM_PREFIX = "storm:"
"""Prefix of the name of Storm's own code of a strategy."""

SEPARATOR = ":"
"""Separates any other method's name from its parameters."""

_MORE = re.compile(r"\s*([\w-]+\s*=.*|[-+.\d].*)?")
"""The form of further parameters of a method in a list of methods: a pair, or a number."""


def is_command(name: str) -> bool:
    """Whether `name` is that of an external command."""
    return name.startswith(COMMAND_PREFIX)


def is_storm(name: str) -> bool:
    """Whether `name` is that of Storm's own code of a strategy."""
    return name.startswith(STORM_PREFIX)


def split_names(written: Iterable[str], method_names: Container[str]) -> list[str]:
    """Split each ``a,b`` of `written` into names of methods.

    A command (``cmd:...``) may have commas, but ends before another command or one of
    `method_names`, those of methods without parameters. Parameters (``a:key=1,2``) may have commas
    too, but end before what is neither a number nor ``key=value``.
    """
    names: list[str] = []
    for words in written:
        for index, part in enumerate(words.split(",")):
            name = part.strip()
            if index > 0 and _goes_on(names[-1], name, method_names):
                names[-1] += f",{part}"
            else:
                names.append(name)
    return names


def _goes_on(last: str, part: str, method_names: Container[str]) -> bool:
    """Whether `part` belongs to the name written before it."""
    if is_command(last):
        return part not in method_names and not is_command(part)
    return SEPARATOR in last and _MORE.fullmatch(part) is not None


def read_parameters(text: str, written: str) -> dict[str, tuple[str, ...]]:
    """Return the values of each key in ``key=value,key=value``; a value may contain commas.

    Parameters
    ----------
    text
        The part after the colon.
    written
        The whole name, for messages.

    Raises
    ------
    InputError
        For any other `text`, or where a key occurs twice.
    """
    parameters: dict[str, tuple[str, ...]] = {}
    key = ""
    for part in text.split(","):
        if "=" in part:
            key, _, value = (word.strip() for word in part.partition("="))
            if key in parameters:
                raise InputError(f"gives {key} twice", field="method", value=written)
            parameters[key] = (value,)
        elif key:
            parameters[key] = (*parameters[key], part.strip())
        else:
            rule = "must have key=value after the colon, as in r-storm:normalise=capacity"
            raise InputError(rule, field="method", value=written)
    return parameters
