"""The compact model of letting one topology in: evicting a candidate gives back what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.admission.residual_capacity import Taken
from slotwise.solver.compact import Count, run_cp_sat
from slotwise.solver.compact.constraints import add_worker_rules
from slotwise.solver.compact.cp_sat.builder import CpBuilder
from slotwise.solver.compact.model_size import check_model_size
from slotwise.solver.compact.symmetry import order_workers
from slotwise.solver.compact.variables import make_counts, read_placement
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits


@dataclass(frozen=True, slots=True)
class Step:
    """One minimisation.

    Parameters
    ----------
    proven
        With a solution: that it is least. Without: that there is none.
    evicted
        Of the solution, ascending; ``None`` = no solution.
    placement
        Of the topology's own tasks in the solution.
    bound
        Proven least value of the term.
    interrupted
        Whether Ctrl-C ended it.
    """

    proven: bool
    evicted: tuple[int, ...] | None
    placement: Placement | None
    bound: int | None
    interrupted: bool


class EvictionModel:
    """Counts of one topology's tasks on workers, and a boolean for each candidate.

    Parameters
    ----------
    problem
        The topology alone, with what is left when every candidate is gone.
    taken
        Candidate -> what it takes.
    token
        Ends building and searching.
    """

    def __init__(self, problem: Problem, taken: Mapping[int, Taken], token: RunToken) -> None:
        check_model_size(problem, token, network=False)
        self._token = token
        self._problem = problem
        self._model = cp_model.CpModel()
        builder = CpBuilder(self._model, token)
        self._counts = make_counts(builder, problem)
        for left_out in self._counts.rejected.values():
            self._model.add(left_out == 0)
        loads = add_worker_rules(builder, problem, self._counts)
        order_workers(builder, self._counts)
        self._evict = {t: self._model.new_bool_var(f"evict_t{t}") for t in taken}
        for n in range(problem.node_count):
            for d in range(len(problem.dims)):
                if problem.hard[d]:
                    stay = {t: int(one.load[n, d]) for t, one in taken.items()}
                    self._fits(loads[n][d], stay, int(problem.capacity[n, d]))
            opened = sum(worker.opened for worker in self._counts.workers[0, n])
            stay = {t: int(one.workers[n]) for t, one in taken.items()}
            self._fits(opened, stay, int(problem.slots[n]))

    def _fits(self, load: Count, others: Mapping[int, int], capacity: int) -> None:
        """State load + what stays <= capacity."""
        if capacity != NO_LIMIT:
            stay = sum(take * (1 - self._evict[t]) for t, take in others.items() if take)
            self._model.add(load + stay <= capacity)

    def total(self, weights: Mapping[int, int]) -> Count:
        """Return the sum of the weights of the evicted."""
        return sum(weight * self._evict[t] for t, weight in weights.items())

    def fix(self, term: Count, value: int) -> None:
        """Keep `term` at most at `value` from here on."""
        self._model.add(term <= value)

    def minimise(self, term: Count, limits: Limits, left_s: float) -> Step:
        """Return the least value of `term` that `left_s` seconds find, and its bound."""
        self._model.minimize(term)
        asked = replace(limits, time_s=left_s, deterministic_work=None)
        answer = run_cp_sat(self._model, asked, self._token)
        solver = answer.solver
        if not answer.has_solution:
            proven = answer.status == cp_model.INFEASIBLE
            return Step(proven, None, None, None, answer.interrupted)
        return Step(
            proven=answer.status == cp_model.OPTIMAL,
            evicted=tuple(t for t, gone in self._evict.items() if solver.value(gone)),
            placement=read_placement(self._problem, self._counts, solver.value),
            bound=max(0, solver.response_proto.inner_objective_lower_bound),
            interrupted=answer.interrupted,
        )
