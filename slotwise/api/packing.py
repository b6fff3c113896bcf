"""The archive that brings slotwise to the executors of a Spark cluster."""

from __future__ import annotations

import os
from pathlib import Path

from slotwise.api.paths import path_of
from slotwise.pipeline.spark.pack import Packed, pack_environment


def pack(
    out: str | os.PathLike[str] = "slotwise-env.tar.gz",
    *,
    python_prefix: str | os.PathLike[str] | None = None,
) -> Packed:
    """Pack this virtual environment into an archive for Spark's executors.

    `grade` takes it as ``archive``; any other Spark program as ``spark.archives``.

    Parameters
    ----------
    out
        File to write, ``.tar.gz`` or ``.tgz``; an old one is replaced.
    python_prefix
        Prefix of the same version of Python on the executors, such as ``/usr``; ``None`` = as on
        this machine.

    Raises
    ------
    InputError
        For another ending, a prefix that is relative, a file that cannot be written.
    SlotwiseError
        Without venv-pack (``slotwise[cluster]``), outside of a virtual environment, or in one that
        cannot be packed.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.pack("env.tar.gz")  # doctest: +SKIP
    Packed env.tar.gz: 351 MB, 21000 files, Python 3.11.7 of /usr
    """
    prefix = None if python_prefix is None else path_of(python_prefix, "python_prefix", "a path")
    file = Path(path_of(out, "out", "a path"))
    return pack_environment(file, None if prefix is None else os.fspath(prefix))
