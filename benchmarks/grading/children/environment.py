"""The environment of a server, and that of the runs it forks: the user's, with few changes."""

from __future__ import annotations

import os
from collections.abc import Mapping

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Settings of libraries that otherwise start threads when they are loaded."""

ADDED = "SLOTWISE_ADDED_SETTINGS"
"""Names those of `ONE_THREAD` that are not the user's."""


def of_runs(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of runs.

    Strings hash the same way every time; commands in Python find what lies beside them.
    """
    kept = {key: value for key, value in inherited.items() if key != "PYTHONSAFEPATH"}
    return {**kept, "PYTHONHASHSEED": "0"}


def of_server(runs: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server whose runs have that one: its libraries need no thread."""
    added = {name: value for name, value in ONE_THREAD.items() if name not in runs}
    return {**runs, **added, ADDED: ",".join(added)}


def leave_server() -> None:
    """Turn a server's environment into that of its runs, in a process that it has forked."""
    for name in os.environ.pop(ADDED, "").split(","):
        os.environ.pop(name, None)
