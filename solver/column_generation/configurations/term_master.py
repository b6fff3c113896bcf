"""One term of the objective as a master problem over configurations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, RACK, IntArray, Problem
from slotwise.solver.column_generation.configurations.enumeration import (
    Configurations,
    enumerate_configurations,
)
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.params import ConfigurationsParams
from slotwise.solver.column_generation.rack_splits import all_in_one, two_racks
from slotwise.solver.column_generation.search_state import MasterSolution, SiteColumns, exact_scale
from slotwise.solver.column_generation.site_relaxation import SiteRelaxation
from slotwise.solver.column_generation.worker_packing.table import Packing
from slotwise.solver.core.memory import RunToken
from slotwise.solver.structure.disaggregation import deal
from slotwise.solver.structure.node_types import NodeType, Site, node_types, sites
from slotwise.solver.structure.task_types import TaskTypes, merge_twins


@dataclass(frozen=True, slots=True, eq=False)
class ConfigurationModel:
    """The problem as kinds, node types, and the configurations of each type still allowed."""

    problem: Problem
    kinds: TaskTypes
    types: tuple[NodeType, ...]
    configurations: tuple[Configurations, ...]


def make_model(
    problem: Problem, time_s: float, params: ConfigurationsParams, token: RunToken
) -> ConfigurationModel:
    """Enumerate all configurations; raises `NotTakenError` where they are too many."""
    kinds = merge_twins(problem, token)
    types = node_types(problem)
    samples = [kind.sample for kind in types]
    found = enumerate_configurations(problem, kinds, samples, time_s, params, token)
    return ConfigurationModel(problem, kinds, types, found)


@dataclass(frozen=True, slots=True, eq=False)
class TermMaster:
    """The master problem of one term, and the way from its solutions to placements.

    Values count steps of `step` integer units of the term: term = `base` - step * value.
    """

    places: tuple[Site, ...]
    columns: tuple[TypeColumns, ...]
    sites: tuple[SiteColumns, ...]
    first: IntArray
    bonus: IntArray
    base: int
    step: int

    def term_value(self, value: int) -> int:
        """Return the term's value of a master value."""
        return self.base - self.step * value

    @property
    def is_constant(self) -> bool:
        """Whether all solutions have the same value: no configuration and no split has any."""
        return not self.bonus.any() and not any(c.values.any() for c in self.columns)

    def fix_by_reduced_cost(
        self, model: ConfigurationModel, value: int, token: RunToken
    ) -> ConfigurationModel | None:
        """Return the model with the configurations that solutions of the proven optimum can use.

        Where the dual bound equals the optimum, these have reduced cost 0 (reduced-cost fixing at
        gap 0). ``None`` where there is a gap, or where the value is not that of the nodes alone.
        """
        if len(self.sites) != 1:
            return None
        site, total = self.sites[0], model.kinds.sizes
        scale = exact_scale(self.sites, total)
        relaxation = SiteRelaxation(site.columns, site.nodes, total, scale, token)
        dual_bound = relaxation.dual_bound(total)
        if dual_bound.at(total) != value * scale:
            return None
        narrowed = list(model.configurations)
        for index, t in enumerate(self.places[0].types):
            narrowed[t] = narrowed[t].where(dual_bound.reduced_costs(index, self.columns[t]) == 0)
        return replace(model, configurations=tuple(narrowed))

    def placement(self, model: ConfigurationModel, found: MasterSolution) -> Placement:
        """Return the placement that a solution describes."""
        configurations: dict[int, tuple[int, ...]] = {}
        for site, solution in zip(self.places, found.configurations, strict=True):
            free = [iter(nodes) for nodes in site.nodes]
            for t, counts in solution:
                configurations[next(free[t])] = counts
        return _placement(model, configurations)


def make_term_master(
    model: ConfigurationModel, index: int, params: ConfigurationsParams, token: RunToken
) -> TermMaster:
    """Return the master of term `index`; raises `TooManySplitsError`."""
    problem, kinds = model.problem, model.kinds
    parts = dict(problem.terms[index].parts)
    rack_saving = int(problem.distance[CLUSTER] - problem.distance[RACK]) * parts.get("network", 0)
    by_rack = rack_saving > 0 and len(problem.racks) == 2
    values = [
        np.sum([-multiplier * c.parts[part] for part, multiplier in parts.items()], axis=0)
        for c in model.configurations
    ]
    all_pairs = int(kinds.pairs(kinds.sizes))
    bonus_step = rack_saving if by_rack else 0
    step = math.gcd(bonus_step, *(int(np.gcd.reduce(v)) for v in values)) or 1
    columns = tuple(
        TypeColumns(c.counts, v // step) for c, v in zip(model.configurations, values, strict=True)
    )
    places = sites(problem, model.types, by_rack=by_rack)
    site_columns = tuple(SiteColumns(tuple(columns[t] for t in p.types), p.sizes) for p in places)
    if by_rack:
        racks = [(site.columns, site.nodes) for site in site_columns]
        first = two_racks(kinds, racks, params, token)
        together = kinds.pairs(first) + kinds.pairs(kinds.sizes - first)
        bonus = np.asarray(bonus_step // step * together, dtype=np.int64)
        farthest = int(problem.distance[CLUSTER])
    else:
        first = all_in_one(kinds.sizes)
        bonus = np.zeros(1, dtype=np.int64)
        farthest = int(problem.distance[RACK])
    return TermMaster(
        places=places,
        columns=columns,
        sites=site_columns,
        first=first,
        bonus=bonus,
        base=parts.get("network", 0) * farthest * all_pairs,
        step=step,
    )


def _placement(model: ConfigurationModel, configurations: dict[int, tuple[int, ...]]) -> Placement:
    """Assign the tasks of each kind to the workers of the nodes' configurations."""
    type_of = {n: t for t, kind in enumerate(model.types) for n in kind.nodes}
    workers = {
        node: _workers(
            model.kinds,
            model.configurations[type_of[node]].packings,
            np.array(counts, dtype=np.int64),
        )
        for node, counts in configurations.items()
    }
    return deal(model.problem, model.kinds, workers)


def _workers(kinds: TaskTypes, packings: Mapping[int, Packing], counts: IntArray) -> list[IntArray]:
    """Return the configurations [K] of the workers of a node that holds `counts`."""
    workers = []
    for t in sorted(set(kinds.topology[counts > 0].tolist())):
        if t not in packings:
            workers.append(counts * (kinds.topology == t))
            continue
        for configuration in packings[t].workers(counts):
            worker = np.zeros_like(counts)
            worker[packings[t].columns] = configuration
            workers.append(worker)
    return workers
