"""Clusters by themselves."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from slotwise.models.instance.cluster import Cluster
from slotwise.models.values import one_of, whole
from slotwise.testing.random_instances.tiny import RESOURCES, make_cluster, make_resources
from slotwise.testing.strategies.from_hypothesis import FromHypothesis


@st.composite
def _clusters(
    draw: st.DrawFn, most_nodes: int, most_racks: int, resources: Sequence[str] | None
) -> Cluster:
    choose = FromHypothesis(draw)
    dims = make_resources(choose) if resources is None else tuple(resources)
    return make_cluster(choose, most_nodes, dims, most_racks=most_racks)


def clusters(
    *, most_nodes: int = 4, most_racks: int = 3, resources: Sequence[str] | None = None
) -> st.SearchStrategy[Cluster]:
    """Return a strategy for clusters: nodes ``n1``, ``n2``, ... in racks ``r1``, ``r2``, ...

    Nodes are alike or not, offer some of ``cpu``, ``memory_mb`` and ``gpu``, with or without a
    limit, and have slots or no limit of them. Distances are by level or a matrix. They shrink
    towards one node without limits.

    Parameters
    ----------
    most_nodes, most_racks
        1 or more each.
    resources
        What every node offers, out of ``cpu``, ``memory_mb`` and ``gpu``; ``None`` = some of them.

    Raises
    ------
    InputError
        When a number is out of range, or a resource is none of these.
    """
    whole(most_nodes, "most_nodes", least=1)
    whole(most_racks, "most_racks", least=1)
    for key in resources or ():
        one_of(key, RESOURCES, "resources")
    return _clusters(most_nodes, most_racks, resources)
