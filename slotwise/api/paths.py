"""Paths that the public functions take."""

from __future__ import annotations

import os
from pathlib import Path

from slotwise.models.display import kind_of
from slotwise.models.errors import InputError


def path_of(source: object, what: str, forms: str = "a path, a dict or text") -> Path | str:
    """Return a path as it was written; refuse what is none of `forms`."""
    if isinstance(source, str | os.PathLike):
        written = os.fspath(source)
        if isinstance(written, str) and written.strip():
            return written
        raise InputError(f"must be {forms}, not empty", field=what, value=written)
    raise InputError(f"must be {forms}, not {kind_of(source)}", field=what, has_value=False)
