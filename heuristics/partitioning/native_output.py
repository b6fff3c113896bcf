"""What native libraries print, kept off stdout: there our answers go."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silenced() -> Iterator[None]:
    """Lead what C code prints to nowhere; its buffers are emptied before and after."""
    c_library = ctypes.CDLL(None)
    sys.stdout.flush()
    c_library.fflush(None)
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        c_library.fflush(None)
        os.dup2(kept, 1)
        os.close(nowhere)
        os.close(kept)
