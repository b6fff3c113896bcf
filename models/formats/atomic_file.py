"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from slotwise.models.errors import InputError


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write `content` (text as UTF-8) to a temporary file beside `path`, then rename it.

    Whoever reads `path` sees the old content or the new, never a part. What is no regular file
    (``/dev/null``, a pipe) is written directly.

    Raises
    ------
    InputError
        When the file cannot be written; nothing is left behind then.
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            _replace(path.resolve(), data)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}", has_value=False, file=str(path)
        ) from error


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name[:100]}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
