"""How a benchmark's program ends: its exit code, and one line for what is wrong with its input."""

from __future__ import annotations

import sys
from collections.abc import Callable

from slotwise.models.errors import SlotwiseError


def exit_code(name: str, run: Callable[[], None], *, failed: int = 2) -> int:
    """Run a benchmark; return 0, or `failed` after one line on stderr where our errors end it."""
    try:
        run()
    except SlotwiseError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return failed
    return 0
