"""Files that cannot be decompressed: cut short, or not compressed at all.

Spark ends the whole job for one of them. So its files are looked at when a job has failed, not
before, and such a file is left out as a whole: what precedes the fault depends on buffers.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.manifest import COMPRESSED

_BLOCK = 1 << 20


def unreadable(paths: Iterable[str]) -> dict[str, str]:
    """Return path -> what is wrong with it, of those compressed files that cannot be read."""
    faults = ((path, _fault(path)) for path in sorted(paths) if path.endswith(COMPRESSED))
    return {path: fault for path, fault in faults if fault is not None}


def _fault(path: str) -> str | None:
    try:
        with gzip.open(path) if path.endswith(".gz") else pa.input_stream(path) as file:
            while file.read(_BLOCK):
                pass
    except (OSError, EOFError, zlib.error) as error:
        return str(error)
    return None


def file_of(path: Column) -> Column:
    """Give the path of a file as the system has it, from Spark's URL of it."""
    decoded = fn.url_decode(fn.replace(path, fn.lit("+"), fn.lit("%2B")))
    return fn.regexp_replace(decoded, "^file:/+", "/")
