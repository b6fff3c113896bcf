"""Parameters of the search for a plan of a whole cluster."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class WholeClusterParams(Parameters):
    """How far the search for a plan goes.

    Parameters
    ----------
    from_tasks
        With fewer tasks the engines that prove take the whole problem at once.
    alone_fraction, alone_s
        Of the time that is left, for all topologies alone; most seconds for each of them.
    relaxation_fraction
        Of the time of one topology, for the problem without the least cpu of workers.
    search_fraction
        Of the time that is left after that, for the plan of all together.
    layouts
        Most layouts that are kept of a topology.
    node_kinds
        Most kinds of nodes among which a topology is solved on a remainder.
    max_packing_size
        Most booleans of the packing model; above that first fit alone packs.
    packing_fraction, step_fraction
        Of the time of the search: for one packing model, and for solving one topology on a
        remainder.
    polish_every, polish_fraction
        After each better plan and after this number of steps without one local search improves it;
        its part of the time of the search.
    idle_steps
        The search ends after this number of steps without a better plan.
    """

    from_tasks: int = 60
    alone_fraction: float = 0.5
    alone_s: float = 86_400.0
    relaxation_fraction: float = 0.75
    search_fraction: float = 0.8
    layouts: int = 8
    node_kinds: int = 4
    max_packing_size: int = 60_000
    packing_fraction: float = 0.1
    step_fraction: float = 0.06
    polish_every: int = 8
    polish_fraction: float = 0.03
    idle_steps: int = 60


WHOLE_CLUSTER_DEFAULTS = WholeClusterParams()
