"""A launcher for a Java without the module that Spark always asks for (see `java`)."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from slotwise.models.errors import SlotwiseError

VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
"""The argument that Spark's launcher always passes (SPARK-48021)."""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder for caches of the user whose environment this is."""
    named = environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named)
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"


def write_launcher(java: Path, cache: Path) -> Path:
    """Write a Java home whose ``bin/java`` runs `java` without Spark's vector module.

    Parameters
    ----------
    java
        The program to run in the end.
    cache
        Folder of this user that may be written to; made if absent.

    Returns
    -------
    Path
        The Java home, one per `java`. The script appears under its name only when it is complete,
        so processes that start together do not disturb each other.

    Raises
    ------
    SlotwiseError
        If the folder cannot be written to.
    """
    script = _LAUNCHER.format(java=shlex.quote(str(java)), dropped=VECTOR_MODULE)
    key = hashlib.sha256(script.encode()).hexdigest()[:16]
    home = cache / "slotwise" / f"java-{key}"
    launcher = home / "bin" / "java"
    try:
        launcher.parent.mkdir(parents=True, exist_ok=True)
        if not _is_written(launcher, script):
            _write_program(launcher, script)
    except OSError as error:
        raise SlotwiseError(
            f"cannot write the Java launcher {launcher} ({error.strerror}): "
            "let XDG_CACHE_HOME name a folder that can be written to, or install Java 17 or 21"
        ) from error
    return home


_LAUNCHER = """\
#!/bin/sh
# Written by slotwise: Spark asks for a module that this Java has not and Spark does not need.
for argument in "$@"; do
    shift
    [ "$argument" = {dropped} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def _is_written(launcher: Path, script: str) -> bool:
    return (
        launcher.is_file()
        and os.access(launcher, os.X_OK)
        and launcher.read_text(encoding="utf-8") == script
    )


def _write_program(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        temporary.chmod(0o755)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
