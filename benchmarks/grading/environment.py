"""What a row says about software and machine: versions, git revision, CPU model."""

from __future__ import annotations

import platform
import subprocess
import sys
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from slotwise import models
from slotwise.benchmarks.grading.rows import MEANING

SLOT_SOLVERS = ("highspy", "pulp")
"""Those of exact runs of allocations."""
SOLVERS = ("ortools", *SLOT_SOLVERS)
"""Libraries whose version may change what an exact engine finds."""

LIBRARIES = (*SOLVERS, "numpy", "networkx", "pyspark")


@cache
def versions() -> dict[str, str]:
    """Return name -> version of Python, slotwise and the libraries that are installed."""
    versions_by_name = {"python": platform.python_version()}
    for library in ("slotwise", *LIBRARIES):
        try:
            versions_by_name[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return versions_by_name


def method_version() -> str:
    """Return the version that identifies a run of a heuristic: of slotwise and of its rows."""
    return f"slotwise {versions().get('slotwise', 'unknown')}, {MEANING}"


def engine_version() -> str:
    """Return the version that identifies a run of an exact engine: ours and the solvers'."""
    solvers = [f"{name} {versions()[name]}" for name in SOLVERS if name in versions()]
    return ", ".join((method_version(), *solvers))


@cache
def families_version() -> str:
    """Return what changes whenever a family may make another instance from the same index.

    The versions of slotwise and NumPy, and a hash of the sources of `models`, so that a changed
    checkout is another version.
    """
    digest = sha256()
    folder = Path(models.__path__[0])
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    versions_by_name = versions()
    numbers = (
        f"slotwise {versions_by_name.get('slotwise', 'unknown')}, numpy {versions_by_name['numpy']}"
    )
    return f"{numbers}, models {digest.hexdigest()[:16]}"


@cache
def git_revision() -> str | None:
    """Return the revision of the checkout this package is in; ``+`` = with changes.

    ``None`` outside a checkout, also where slotwise is installed inside somebody else's.
    """
    here = Path(__file__).resolve()
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return None
    revision = _git(here.parent, "rev-parse", "HEAD")
    if revision is None:
        return None
    changes = _git(here.parent, "status", "--porcelain", "--untracked-files=no")
    return revision + ("+" if changes else "")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def cpu_model() -> str:
    """Return the processor's name as the operating system gives it."""
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
