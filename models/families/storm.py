"""The family ``storm``: topologies of decoded Storm clusters, alone and together.

Not generated but read from files that are not part of slotwise: ``storm:PATH`` names a file or a
folder of them, ``storm`` alone takes the path from the environment variable ``SLOTWISE_STORM``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import read_data
from slotwise.models.importers.storm_cluster import instance_from_storm, is_storm_cluster
from slotwise.models.instance.instance import Instance, Objective

NAME = "storm"
PREFIX = f"{NAME}:"
VARIABLE = "SLOTWISE_STORM"
DESCRIPTION = (
    f"topologies of decoded Storm clusters, each alone and all together; {PREFIX}PATH or "
    f"{VARIABLE} names the files; for `grade`"
)
WORKER_MIN_CPU = 0
"""Least cpu of a worker, Storm's default; one of the test's clusters sets 100."""

TOGETHER = Objective(("rejected", "overload", "network"))


def is_storm(source: str) -> bool:
    """Whether `source` names this family."""
    return source == NAME or source.startswith(PREFIX)


def storm_instances(source: str) -> Iterator[Instance]:
    """Yield, for each cluster of `source`, each topology with tasks alone, then all together.

    Alone on the empty cluster a topology has the usual objective; together, topologies left out
    count first.

    Raises
    ------
    InputError
        When no files are named, or one of them is not a decoded cluster.
    """
    for path in storm_files(source):
        data = _cluster(path)
        with in_file(str(path)):
            together = replace(
                instance_from_storm(data, worker_min_cpu=WORKER_MIN_CPU), objective=TOGETHER
            )
            for topology in together.topologies:
                alone = instance_from_storm(
                    data, topology=topology.id, worker_min_cpu=WORKER_MIN_CPU
                )
                if alone.task_names():
                    yield alone
            yield replace(together, name=f"{together.name}-together")


def storm_files(source: str) -> list[Path]:
    """Return the files that `source` names, a folder's by name.

    Raises
    ------
    InputError
        When there are none.
    """
    written = source.removeprefix(PREFIX) if source.startswith(PREFIX) else os.environ.get(VARIABLE)
    if not written:
        rule = f"reads files: name a decoded Storm cluster, or a folder of them, as {PREFIX}PATH"
        raise InputError(f"{rule} or in {VARIABLE}", field="family", value=source)
    path = Path(written)
    if not path.exists():
        raise InputError("does not exist", field=f"family {NAME}", value=written)
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise InputError("has no *.json files", field=f"family {NAME}", value=written)
    return files


def _cluster(path: Path) -> dict[str, Any]:
    data, file = read_data(path)
    with in_file(file):
        if not isinstance(data, dict) or not is_storm_cluster(data):
            raise InputError("must be a decoded Storm cluster", has_value=False)
    return data
