"""The bound of pairs that share no node: valid everywhere, exact in simple cases, and cheap."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from slotwise.models.cancellation import CancellationToken
from slotwise.models.families.registry import FAMILIES
from slotwise.models.formats.text import read_data
from slotwise.models.instance.instance import Objective
from slotwise.models.instance_file import instance_from_data
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.baseline import fewest_nodes, least_network
from slotwise.solver.core.result import Limits
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.testing.random_instances.tiny import tiny_instance


@pytest.mark.slow
def test_no_optimum_is_below_it(note: list[str]) -> None:
    rng = np.random.default_rng(31)
    seen = positive = tight = 0
    for _ in range(250):
        instance = tiny_instance(rng)
        for term in ("network", "nodes"):
            problem = compile_problem(replace(instance, objective=Objective((term,))))
            bound = (
                least_network(problem, CancellationToken())
                if term == "network"
                else fewest_nodes(problem)
            )
            if not bound:
                continue
            truth = EXHAUSTIVE.run(problem, Limits(), None)
            if truth.values is not None:
                least = bound if term == "nodes" else bound * problem.terms[0].parts[0][1]
                assert least <= truth.values[0]
                seen, tight = seen + 1, tight + (least == truth.values[0])
                positive += term == "network"
    note.append(f"spread bound: {seen} checked, {positive} of the network, {tight} reached")
    assert positive >= 30
    assert tight >= 30


@pytest.mark.parametrize(("index", "optimum"), [(0, 656), (2, 714), (4, 1390), (6, 54)])
def test_it_is_below_the_optima_of_r_storm(index: int, optimum: int) -> None:
    problem = compile_problem(FAMILIES["rstorm"].make(index, 0))
    assert least_network(problem, CancellationToken()) <= optimum


def test_a_large_topology_of_storm_has_a_bound(shared: Path) -> None:
    data, _ = read_data(shared / "storm/clusters/largeCluster01.json")
    instance = instance_from_data(data, topology="TopologyName00039", worker_min_cpu="0")
    problem = compile_problem(instance)
    assert 500_000 < least_network(problem, CancellationToken()) <= 951_966  # of the best heuristic
