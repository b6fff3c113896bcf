"""How paths are written for Spark."""

from __future__ import annotations

import re
from pathlib import Path


def local_address(path: Path) -> str:
    """Return a path of this machine, or mounted here, as Spark takes it.

    Without the scheme Spark would look in the cluster's own file system, such as HDFS. Spark
    decodes no percent signs: a space stays a space.
    """
    return f"file://{path.absolute()}"


def literal(path: Path | str) -> str:
    """Return a path of this machine, or an address, for readers, which take it for a pattern."""
    address = local_address(path) if isinstance(path, Path) else path
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", address)
