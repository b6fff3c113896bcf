"""Parameters of the engine choice ``auto``: who gets how much of the time."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.parameters import Parameters
from slotwise.solver.whole_cluster.params import WHOLE_CLUSTER_DEFAULTS, WholeClusterParams


@dataclass(frozen=True, slots=True)
class AutoParams(Parameters):
    """Shares are of the time that is left when an engine starts.

    Parameters
    ----------
    configurations_fraction, columns_fraction, subset_dp_fraction
        For ``configurations`` by its fast way (and ``connected``) and by its general way, and for
        ``subset-dp``; they end far earlier on what they can prove.
    partition_fraction
        For ``partition``; the same holds of it.
    matrix_columns_fraction
        For ``connected`` where a matrix of distances says no more than levels.
    without_running_fraction
        For the leading terms that do not read `running`, on the problem without it.
    few_moves_fraction
        For ``few-moves`` where moves are limited; it ends far earlier on what it takes.
    orphans_fraction
        For ``orphans`` where nothing may move.
    early_fraction
        For CP-SAT where no placement is known after the heuristics.
    rack_fraction
        For each of the two problems that enclose one with several racks.
    least_part_fraction
        Least share for each part that no flow connects with the others.
    search_from_tasks
        Tasks from which local search runs before the engines that prove.
    first_search_fraction, first_search_steps_per_task
        For that first local search, and its steps.
    search_fraction, search_steps
        For local search before CP-SAT has the rest of the time, and its steps.
    last_search_fraction
        Kept back, from `search_from_tasks` on, for local search and large neighbourhoods at the
        end, half each.
    confirm_fraction
        For a second run of the engine that proved everything, without presolve.
    max_tiny_places
        Tasks times nodes up to which CP-SAT solves problems with distances by matrix: it is done
        before compiled loops are loaded.
    max_table_tasks
        With more tasks ``partition`` comes before ``subset-dp``, on the problems that both take.
    whole_cluster
        For several topologies that share a cluster.
    """

    configurations_fraction: float = 0.8
    columns_fraction: float = 0.6
    subset_dp_fraction: float = 0.7
    partition_fraction: float = 0.4
    matrix_columns_fraction: float = 0.3
    without_running_fraction: float = 0.7
    few_moves_fraction: float = 0.4
    orphans_fraction: float = 0.6
    early_fraction: float = 0.25
    rack_fraction: float = 0.4
    least_part_fraction: float = 0.05
    search_from_tasks: int = 40
    first_search_fraction: float = 0.1
    first_search_steps_per_task: int = 2
    search_fraction: float = 0.2
    search_steps: int = 2_000
    last_search_fraction: float = 0.1
    confirm_fraction: float = 0.5
    max_tiny_places: int = 24
    max_table_tasks: int = 22
    whole_cluster: WholeClusterParams = WHOLE_CLUSTER_DEFAULTS


AUTO_DEFAULTS = AutoParams()
