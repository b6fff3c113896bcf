"""Parameters of the search for a plan of a whole cluster."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class WholeClusterParams(Parameters):
    """How far the search for a plan goes.

    Parameters
    ----------
    alone_fraction, alone_s
        Of the time that is left, for all topologies alone; most seconds for each of them.
    search_fraction
        Of the time that is left after that, for the plan of all together.
    layouts
        Most layouts that are kept of a topology.
    node_kinds
        Most kinds of nodes among which a topology is solved on a remainder.
    max_packing_size
        Most booleans of the packing model; above that first fit alone packs.
    packing_fraction, step_fraction
        Of the time that is left: for one packing model, and for solving one topology on a
        remainder.
    idle_steps
        The search ends after so many steps without a better plan.
    """

    alone_fraction: float = 0.5
    alone_s: float = 86_400.0
    search_fraction: float = 0.9
    layouts: int = 8
    node_kinds: int = 4
    max_packing_size: int = 60_000
    packing_fraction: float = 0.2
    step_fraction: float = 0.1
    idle_steps: int = 60


WHOLE_CLUSTER_DEFAULTS = WholeClusterParams()
