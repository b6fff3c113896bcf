"""An output folder that is there whole or not at all."""

from __future__ import annotations

import gzip
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from slotwise.models.errors import InputError


class LogFolder:
    """Files that are written side by side, in memory that does not grow with them."""

    def __init__(self, path: Path, stack: ExitStack, compress: bool) -> None:
        self._path = path
        self._stack = stack
        self._compress = compress
        self._open: dict[str, IO[bytes] | gzip.GzipFile] = {}

    def append(self, name: str, text: str) -> None:
        """Append to the log `name` (a path in the folder, without ``.gz``)."""
        if name not in self._open:
            self._open[name] = self._opened(name)
        self._open[name].write(text.encode())

    def text_file(self, name: str) -> IO[str]:
        """Open a file that is never compressed."""
        return self._stack.enter_context((self._path / name).open("w", encoding="utf-8"))

    def _opened(self, name: str) -> IO[bytes] | gzip.GzipFile:
        path = self._path / (f"{name}.gz" if self._compress else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = self._stack.enter_context(path.open("wb", buffering=2**20))
        if not self._compress:
            return raw
        # No name and no time in the header: the same lines make the same bytes.
        packed = gzip.GzipFile(filename="", mode="wb", compresslevel=3, fileobj=raw, mtime=0)
        self._stack.callback(packed.close)
        return packed


@contextmanager
def new_folder(path: Path, compress: bool) -> Iterator[LogFolder]:
    """Give a folder that becomes `path` when the block ends well, and vanishes otherwise.

    Raises
    ------
    InputError
        When `path` is there and is no empty folder, or cannot be made.
    """
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        rule = "must be a new or empty folder; remove it or choose another `out`"
        raise InputError(rule, field="out", value=str(path))
    temporary = path.resolve().with_name(f".{path.resolve().name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        with ExitStack() as stack:
            yield LogFolder(temporary, stack, compress)
        os.replace(temporary, path.resolve())
    except OSError as error:
        rule = f"cannot be written: {error.strerror or error}"
        raise InputError(rule, field="out", value=str(path)) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
