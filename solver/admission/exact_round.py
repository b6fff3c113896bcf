"""The exact counterparts of a round of Storm's scheduler, beside its own decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slotwise.heuristics.ras.scheduler import Decision, DecisionOutcome, Round
from slotwise.models.errors import InputError
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.admission.eviction import Eviction, smallest_eviction
from slotwise.solver.admission.topology_selection import BestSet, best_set, rejecting
from slotwise.solver.core.memory import RunToken, watched
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits
from slotwise.solver.core.supervision import counted_presses


@dataclass(frozen=True, slots=True)
class Counterpart:
    """The smallest eviction for one topology, or why there is no answer.

    Parameters
    ----------
    decision
        The scheduler's decision.
    eviction
        ``None`` where it could not be computed.
    reason
        Why not; empty where there is an eviction.
    """

    decision: Decision
    eviction: Eviction | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Exact:
    """The best set of topologies, and the smallest eviction for each that needed room.

    Parameters
    ----------
    best
        See `best_set`; everything may be moved.
    left_out
        Topologies that the scheduler leaves out.
    cost
        Cost of leaving them out, in the weights of `best`.
    answers
        One for each topology that was refused or for which others were evicted.
    notes
        What lack of memory ended or left out: lines of text.
    """

    best: BestSet
    left_out: tuple[int, ...]
    cost: int
    answers: tuple[Counterpart, ...]
    notes: tuple[str, ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended a search."""
        evictions = (answer.eviction for answer in self.answers)
        return self.best.interrupted or any(e.interrupted for e in evictions if e)


def exact_counterparts(done: Round, limits: Limits) -> Exact:
    """Return the exact counterparts of a round; `limits` hold for each question.

    Ctrl-C ends the search; what was found by then is returned.
    """
    with counted_presses() as presses, watched(limits.memory_mb) as memory:
        exact = _counterparts(done, limits, RunToken(parent=presses.token, memory=memory))
    return replace(exact, notes=(*exact.notes, *memory.notes))


def _counterparts(done: Round, limits: Limits, token: RunToken) -> Exact:
    guaranteed = [entry.topology for entry in done.order if entry.guaranteed]
    problem = rejecting(done.instance, guaranteed)
    best = best_set(
        done.instance,
        guaranteed,
        limits=limits,
        hint=done.placement,
        token=token,
    )
    out = done.refused
    cost = sum(problem.rules[t].reject_weight for t in out)
    if best.interrupted:
        return Exact(best, out, cost, (), best.notes)
    plain_problem = compile_problem(done.instance)
    order = [decision.topology for decision in done.decisions]
    answers = []
    for place, decision in enumerate(done.decisions):
        if decision.outcome is DecisionOutcome.REFUSED or decision.evicted:
            answer = _answer(plain_problem, decision, order[place + 1 :], limits, token)
            answers.append(answer)
            if answer.eviction is not None and answer.eviction.interrupted:
                break
    return Exact(best, out, cost, tuple(answers), best.notes)


def _answer(
    problem: Problem, decision: Decision, later: list[int], limits: Limits, token: RunToken
) -> Counterpart:
    assert decision.before is not None, "the topology had its turn"
    try:
        eviction = smallest_eviction(
            problem, decision.before, decision.topology, later, limits, token
        )
    except (InputError, NotTakenError) as error:
        return Counterpart(decision, None, str(error))
    return Counterpart(decision, eviction)
