"""Engine ``subset-dp`` where there are too many tasks for tables: list, price, search contents."""

from __future__ import annotations

from slotwise.models.problem.problem import IntArray
from slotwise.solver.assignment.model import Assignment
from slotwise.solver.assignment.params import SubsetDpParams
from slotwise.solver.assignment.subsets.content_search import ContentSearch
from slotwise.solver.assignment.subsets.contents import list_all
from slotwise.solver.assignment.subsets.subset_fixing import price
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken

PROOF = "contents of the nodes priced by Lagrangian duals, those within the gap searched"


def prove_by_contents(
    model: Assignment, apart: int, best: Incumbent, params: SubsetDpParams, token: RunToken
) -> None:
    """Prove `best` optimal, or find what is better; bounds are told on the way.

    `apart` is the distance of any two different nodes.

    Raises
    ------
    TooManySetsError
        When the search grows too large; what is proven by then is told.
    """
    constant = apart * int(model.flow.sum())
    known = None if best.values is None else best.values[model.term]
    contents = list_all(model, apart, token)
    target = model.largest_cost if known is None else known
    priced = price(contents, model.task_count, target - constant, token)
    gap = priced.gap
    if known is not None:
        best.prove(_terms(model, best, min(max(0, priced.least_cost + constant), known)))
        gap -= priced.scale * model.cost_step
    if gap >= 0:
        search = ContentSearch(priced, model.task_count, params.max_sets, token)
        for loss, nodes in search.widening(gap):
            if nodes is not None:
                _settle(model, best, nodes)
                return
            bound = -(-(priced.bound + loss + 1) // priced.scale) + constant
            if loss < gap:
                best.prove(_terms(model, best, max(0, bound)))
    if best.values is None:
        best.prove_infeasible()
    else:
        best.prove(best.values)


def _settle(model: Assignment, best: Incumbent, nodes: IntArray) -> None:
    """Take the placement of least loss, which is an optimum."""
    best.offer_solution(model.placement(nodes))
    best.prove(_terms(model, best, model.cost(nodes)))


def _terms(model: Assignment, best: Incumbent, cost: int) -> tuple[int, ...]:
    """Return the value of each term: 0, but for the cost."""
    return tuple(cost * (t == model.term) for t in range(len(best.problem.terms)))
