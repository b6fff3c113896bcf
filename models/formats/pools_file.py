"""Reading user resource pools: the guarantees of each owner of topologies.

YAML or JSON, ``{owner: {cpu: ..., memory_mb: ...}}``, as ``scheduler.pools`` of an instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import RootModel

from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import read_data
from slotwise.models.formats.validation import validated
from slotwise.models.instance.cluster import Cluster
from slotwise.models.nouns import Number, key_path
from slotwise.models.problem.scaling import CPU, MEMORY
from slotwise.models.values import exact

Pools = Mapping[str, Mapping[str, Decimal]]


class PoolsFile(RootModel[dict[str, dict[str, Number]]]):
    """A file of user resource pools."""


def read_pools(source: str | Path, cluster: Cluster) -> Pools:
    """Read the pools in a file; ``-`` = stdin.

    Raises
    ------
    InputError
        One line: file, field, value, rule; so also for a resource that `cluster` does not have,
        which would guarantee nothing.
    """
    data, file = read_data(source)
    with in_file(file):
        return pools_from_data(data, cluster)


def pools_from_data(data: Any, cluster: Cluster) -> Pools:
    """Return the pools in the data of a file; see `read_pools`."""
    pools: dict[str, dict[str, Decimal]] = {}
    known = dict.fromkeys((CPU, MEMORY, *(d for n in cluster.nodes for d in n.resources)))
    for owner, pool in validated(PoolsFile, data).root.items():
        pools[owner] = {key: exact(value, key_path(owner, key)) for key, value in pool.items()}
        for key, value in pools[owner].items():
            if key not in known:
                raise InputError(
                    f"is not a resource of this cluster, which has {', '.join(known)}",
                    field=key_path(owner, key),
                    value=value,
                )
    return pools
