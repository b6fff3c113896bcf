"""Parameters of the engines by column generation: limits of size and of work.

They decide how far an engine goes, never what it may claim.
"""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.models.values import whole
from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class PackingParams(Parameters):
    """Of the tables of worker configurations, the best split of a node into workers.

    Parameters
    ----------
    max_cells
        Cells of the box around all node configurations; four bytes each.
    max_layer_entries
        Numbers in the tables for at most 0, 1, 2, ... workers.
    max_configurations
        Configurations of one worker.
    max_entries
        Numbers in an intermediate array.
    steps_per_second
        Estimated speed of the loop, to keep a table within its time.
    min_compiled_steps
        Steps from which the compiled loop pays.
    """

    max_cells: int = 150_000_000
    max_layer_entries: int = 30_000_000
    max_configurations: int = 100_000
    max_entries: int = 60_000_000
    steps_per_second: int = 150_000_000
    min_compiled_steps: int = 300_000


@dataclass(frozen=True, slots=True)
class ResidualParams(Parameters):
    """Of the search that closes the gap.

    Parameters
    ----------
    max_states
        Residual vectors looked at before CP-SAT takes over.
    max_ip_columns
        Columns of the integer program that CP-SAT gets.
    """

    max_states: int = 10_000
    max_ip_columns: int = 20_000


@dataclass(frozen=True, slots=True)
class ColumnsParams(Parameters):
    """Of the general way of engine ``configurations``.

    Parameters
    ----------
    max_columns, pairs_at_once
        Columns of a node type; pairs of partial columns combined in one array.
    max_worker_splits, split_pairs_at_once
        Splits of one topology on a node into workers; pairs extended in one array.
    first_choices, max_choices, choice_growth
        Columns of the restricted integer program, over all nodes: at first, at most, and the
        factor from one round to the next.
    packing
        Of the worker configurations.
    max_table_steps, max_table_cells
        Additions that exact tables of all terms may take (seconds), and their entries.
    """

    max_columns: int = 500_000
    pairs_at_once: int = 2_000_000
    max_worker_splits: int = 300_000
    split_pairs_at_once: int = 1_000_000
    first_choices: int = 2_000
    max_choices: int = 60_000
    choice_growth: int = 4
    packing: PackingParams = PackingParams()
    max_table_steps: int = 4_000_000_000
    max_table_cells: int = 60_000_000

    def __post_init__(self) -> None:
        """Check the ranges; each round must offer more than the one before."""
        Parameters.__post_init__(self)
        whole(self.choice_growth, "ColumnsParams.choice_growth", least=2)


@dataclass(frozen=True, slots=True)
class ConfigurationsParams(Parameters):
    """Of engine ``configurations``: of its fast way, and in `columns` of the general one.

    Parameters
    ----------
    max_configurations
        Configurations of one node; an instance with more is not taken.
    max_entries
        Numbers in an intermediate array: half a gigabyte.
    max_rack_splits, max_rack_split_entries
        Ways to share the tasks between two racks, and numbers in an intermediate array of them.
    max_table_steps, max_table_cells
        Additions that an exact table may take (less than a second), and its entries.
    residual, packing
        Of the search that closes the gap, and of the split into workers.
    columns
        Of the general way.
    """

    max_configurations: int = 2_000_000
    max_entries: int = 60_000_000
    max_rack_splits: int = 5_000_000
    max_rack_split_entries: int = 100_000_000
    max_table_steps: int = 20_000_000
    max_table_cells: int = 60_000_000
    residual: ResidualParams = ResidualParams()
    packing: PackingParams = PackingParams()
    columns: ColumnsParams = ColumnsParams()


@dataclass(frozen=True, slots=True)
class ConnectedParams(Parameters):
    """Of engine ``connected``.

    Parameters
    ----------
    node_time_fraction
        Share of the time left for the best solution of nodes where workers matter too.
    max_partial
        Partial configurations followed at once; beyond it the enumeration is given up.
    max_assignments, max_round_steps
        Combinations of counts of the feedback kinds, and the steps that pricing takes to go through
        all of them, a few seconds; cycles beyond that are relaxed.
    max_load_bound_steps
        Steps of the tables behind the load bound: some seconds.
    max_units
        Units of capacity of a place in the tables.
    max_rack_steps, rack_steps_per_second, rack_time_fraction
        Steps of the tables behind the bound of the flow between racks: some seconds; their
        estimated speed; and the share of the time left that they may take, and prices after them.
    max_price_steps
        Steps of a table of prices of racks.
    counts_fraction, loads_fraction
        Shares of the time left for prices of counts, and for the load bound by listed contents.
    tightest_fraction
        Rules that fill fewer nodes than this fraction of the tightest rule get no table.
    max_split_states, max_split_configurations
        Residual vectors, and configurations of workers, in the split of one node into workers.
    max_split_partial, split_fraction
        Partial configurations of workers followed at once to list these, and the share of the time.
    max_split_gap
        Reduced cost of a worker's configuration, in units of flow, up to which it is considered.
    max_split_contents
        Contents of nodes whose best splits branch and price finds at once.
    max_subset_cells, max_subset_rows, max_subset_steps
        Of the table that splits many nodes at once: its box, its rows, and rows times workers (a
        dozen seconds).
    node_duals_fraction
        Share of the time for the duals of nodes alone: without those of workers there is no bound.
    levels_fraction
        Share of the time left for a first search of nodes and workers, each at their own duals.
    joint_duals_fraction, combination_fraction, joint_fraction
        Share of the time left after that for joint duals of both; of the rest for the best
        combination of their columns; and of the rest for the search that closes their gap.
    max_candidates
        Partial configurations followed at once while joint duals are sought.
    max_near
        Contents of small reduced cost among which CP-SAT combines placements, beside the columns.
    tree_fraction
        Share of the time left that the last search of nodes and workers apart leaves to branch and
        price.
    node_search_fraction, max_searched, max_listed
        Share of the time left for the search of one of its nodes; most contents in it, and most by
        which its load bound is raised.
    max_count_cuts
        Cuts by the number of tasks of a kind on a node.
    max_tightened
        Contents whose flow inside workers is bounded by themselves, for each gap searched.
    residual
        Of the search that closes the gap.
    """

    node_time_fraction: float = 0.4
    max_partial: int = 1_000_000
    max_assignments: int = 200
    max_round_steps: int = 14_000_000_000
    max_load_bound_steps: int = 3_000_000_000
    max_units: int = 2_000
    max_rack_steps: int = 10_000_000_000
    rack_steps_per_second: int = 3_000_000_000
    rack_time_fraction: float = 0.25
    max_price_steps: int = 300_000_000
    counts_fraction: float = 0.5
    loads_fraction: float = 0.1
    tightest_fraction: float = 0.5
    max_split_states: int = 2_000
    max_split_configurations: int = 5_000
    max_split_partial: int = 100_000
    split_fraction: float = 0.1
    max_split_gap: int = 64
    max_split_contents: int = 5_000
    max_subset_cells: int = 50_000_000
    max_subset_rows: int = 1_000_000
    max_subset_steps: int = 2_000_000_000
    node_duals_fraction: float = 0.5
    levels_fraction: float = 0.1
    joint_duals_fraction: float = 0.25
    combination_fraction: float = 0.25
    joint_fraction: float = 0.4
    max_candidates: int = 100_000
    max_near: int = 1_000
    tree_fraction: float = 0.5
    node_search_fraction: float = 0.1
    max_searched: int = 5_000
    max_listed: int = 100_000
    max_count_cuts: int = 100
    max_tightened: int = 300
    residual: ResidualParams = ResidualParams()


CONFIGURATIONS_DEFAULTS = ConfigurationsParams()
COLUMNS_DEFAULTS = ColumnsParams()
CONNECTED_DEFAULTS = ConnectedParams()
