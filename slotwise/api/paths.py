"""Paths that the public functions take."""

from __future__ import annotations

import os
from pathlib import Path

from slotwise.models.display import kind_of
from slotwise.models.errors import InputError


def path_of(source: object, what: str, forms: str = "a path, a dict or text") -> Path | str:
    """Return a path as it was written; raises `InputError` for anything but `forms`."""
    if isinstance(source, str | os.PathLike):
        written = os.fspath(source)
        if isinstance(written, str) and written.strip():
            return written
        raise InputError(f"must be {forms}, not empty", field=what, value=written)
    raise InputError(f"must be {forms}, not {kind_of(source)}", field=what, has_value=False)


def graded_folder(folder: object, what: str) -> str:
    """Return the folder of a grading as it was written; a local one must exist."""
    from slotwise.benchmarks.grading.store import local_folder

    text = os.fspath(path_of(folder, what, "a path"))
    local = local_folder(text)
    if local is not None and not local.is_dir():
        rule = "is not a folder of a grading; make one with: slotwise grade --out DIR"
        raise InputError(rule, field=what, value=text)
    return text
