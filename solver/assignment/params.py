"""Parameters of the engines for distances by matrix."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class DualAscentParams(Parameters):
    """Of engine ``dual-ascent``.

    Parameters
    ----------
    max_pairs
        Entries of the costs of pairs of places, 8 bytes each, a few times over in the search; a
        problem with more is not taken.
    max_depth, max_tree_bytes
        Tasks, and bytes of the costs kept on the way down, up to which the search branches.
    max_open_bytes
        Costs kept for the open nodes of the tree; with more, the search goes depth first.
    search_fraction, steps_per_place
        First search of an incumbent: most of the time limit, and steps per task and node.
    give_up_fraction, least_progress_fraction, max_hopeful_tasks
        After this share of the time limit in the tree, this share of the tree must be done, or
        tasks be so few; else the rest of the time goes into a better incumbent.
    root_rounds, root_work, root_gain_fraction
        Dual ascent at the root: rounds and steps between two looks at the clock, and the share of
        the gap that must be gained to go on.
    node_rounds, node_gain_fraction
        The same at the nodes below.
    """

    max_pairs: int = 4 * 10**6
    max_depth: int = 200
    max_tree_bytes: int = 2**30
    max_open_bytes: int = 2**29
    search_fraction: float = 0.25
    steps_per_place: int = 500
    give_up_fraction: float = 0.25
    least_progress_fraction: float = 0.02
    max_hopeful_tasks: int = 16
    root_rounds: int = 20
    root_work: int = 2 * 10**8
    root_gain_fraction: float = 0.002
    node_rounds: int = 6
    node_gain_fraction: float = 0.03


@dataclass(frozen=True, slots=True)
class SubsetDpParams(Parameters):
    """Of engine ``subset-dp``.

    Parameters
    ----------
    max_tasks, max_bytes
        Tasks, and bytes of the tables over their sets; for more there are no tables.
    max_contents
        Where there are no tables: contents of all nodes together; a problem with more is not taken.
    max_sets
        Sets of placed tasks that the search among contents keeps; it ends where there are more.
    search_fraction, steps_per_place
        Search of an incumbent beforehand: most of the time limit, and steps per task and node.
    """

    max_tasks: int = 22
    max_bytes: int = 2 * 2**30
    max_contents: int = 8_000_000
    max_sets: int = 20_000_000
    search_fraction: float = 0.1
    steps_per_place: int = 200


DUAL_ASCENT_DEFAULTS = DualAscentParams()
SUBSET_DP_DEFAULTS = SubsetDpParams()
