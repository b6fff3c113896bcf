"""The one error family of slotwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from difflib import get_close_matches
from typing import Self

MOST_OF_A_FIELD, MOST_OF_A_VALUE = 200, 60
"""Characters of them that a message shows."""


class SlotwiseError(Exception):
    """Base of every error that slotwise raises on purpose."""


class InputError(SlotwiseError, ValueError):
    """Something the user gave breaks a rule.

    Parameters
    ----------
    rule
        What must hold, and what to do about it.
    field
        Path of the offending field inside its file or object, for example
        ``topologies[0].components[1].parallelism``. Empty for the whole.
    value
        The offending value; ``None`` with `has_value` false where there is none to show.
    file
        Name of the file, ``None`` when the object was made in Python.

    Examples
    --------
    >>> print(InputError("must be 0 or more", field="cpu", value=-1, file="a.json"))
    a.json: cpu = -1: must be 0 or more
    """

    def __init__(
        self,
        rule: str,
        *,
        field: str = "",
        value: object = None,
        has_value: bool = True,
        file: str | None = None,
    ) -> None:
        self.rule = rule
        self.field = field
        self.value = value
        self.has_value = has_value
        self.file = file
        super().__init__(rule)

    def __str__(self) -> str:
        """One line: file, field, value, rule."""
        where = _shortened(self.field, MOST_OF_A_FIELD)
        if self.has_value:
            where = f"{where} = {_shown(self.value)}" if where else _shown(self.value)
        return one_line(": ".join(part for part in (self.file, where, self.rule) if part))

    def within(self, prefix: str) -> Self:
        """Return this error with `prefix` put before its field."""
        separator = "" if not self.field or self.field.startswith("[") else "."
        return self._with(field=f"{prefix}{separator}{self.field}", file=self.file)

    def in_file(self, file: str) -> Self:
        """Return this error with the file's name."""
        return self._with(field=self.field, file=file)

    def _with(self, *, field: str, file: str | None) -> Self:
        return type(self)(
            self.rule, field=field, value=self.value, has_value=self.has_value, file=file
        )


class UnfinishedError(SlotwiseError):
    """A safety limit ended a search limited by work: what it would have answered is not known.

    `out_of_memory` says whether that was the limit of memory.
    """

    def __init__(self, message: str, *, out_of_memory: bool) -> None:
        self.out_of_memory = out_of_memory
        super().__init__(message)


class InternalError(SlotwiseError):
    """An engine's claim and the judge disagree, or an invariant broke: a bug of ours."""


_JSON_NAMES = {None: "null", True: "true", False: "false"}


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return _JSON_NAMES[value]
    if isinstance(value, int):
        value = Decimal(value)  # Python writes no int of more than 4300 digits
    text = repr(value) if isinstance(value, str) else str(value)
    return one_line(_shortened(text, MOST_OF_A_VALUE))


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


@contextmanager
def at(prefix: str) -> Iterator[None]:
    """Put `prefix` before the field of any `InputError` raised inside."""
    try:
        yield
    except InputError as error:
        raise error.within(prefix) from error


@contextmanager
def in_file(file: str) -> Iterator[None]:
    """Put the file's name into any `InputError` raised inside, unless it names one already."""
    try:
        yield
    except InputError as error:
        raise (error if error.file else error.in_file(file)) from error


# Text of others on one line, harmless on a terminal.


def one_line(text: str, most: int | None = None) -> str:
    """Return `text` with every character that is not printable written as an escape.

    Parameters
    ----------
    text
        From anywhere: a file, another program. Runs of white space become one blank.
    most
        Longest result; what is longer keeps its end. ``None`` = any length.
    """
    text = " ".join(text.split())
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if most is None or len(text) <= most else "..." + text[-most:]


# What to say of a name that is not known: the names close to it, or all there are.

MAX_LISTED = 30
"""Where nothing is close and there are more names, only the first are listed."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the second half of a message about a name that is none of `known`.

    ``did you mean 'a' or 'b'?`` with up to two names that are close (`difflib`, ratio of 0.5 or
    more, best first), else ``must be one of a, b, c``.
    """
    names = list(known)
    close = get_close_matches(name, names, n=2, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    more = ", ..." if len(names) > MAX_LISTED else ""
    return f"must be one of {', '.join(names[:MAX_LISTED])}{more}"
