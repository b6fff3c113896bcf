"""How paths are written for Spark."""

from __future__ import annotations

import re
from pathlib import Path


def literal(path: Path | str) -> str:
    """Return a path for Spark's readers, which take paths for patterns."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path))
