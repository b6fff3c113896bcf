"""Adding the place in a file to an error from inside an object."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from slotwise.models.errors import InputError


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
