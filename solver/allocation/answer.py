"""What a method answers: a plan with the verdict of the check, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from slotwise.models.allocation.check import Failure
from slotwise.models.allocation.load import Routing, Scaling
from slotwise.models.allocation.plan import Plan, Slot
from slotwise.models.allocation.prediction import Prediction, Usage, predict, slot_usage
from slotwise.models.dataflow.dataflow import Dataflow
from slotwise.models.performance.model import PerformanceModel


class Outcome(StrEnum):
    """How a method ended."""

    OPTIMAL = "optimal"
    """The plan passes the check, and no plan of fewer slots does."""
    FEASIBLE = "feasible"
    """The plan passes the check."""
    VIOLATED = "violated"
    """The plan does not reach its rate, or uses more CPU or memory than a slot has."""
    REFUSED = "refused"
    """A published method gives no plan."""
    INFEASIBLE = "infeasible"
    """Proven: the VMs have too few slots."""
    UNKNOWN = "unknown"
    """No plan was found within the time limit, nor a proof that there is none."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is to run: a dataflow with performance models, at a rate.

    Parameters
    ----------
    dataflow
        The DAG.
    models
        Name -> performance model.
    rate
        Of the dataflow's sources, tuples/s, above 0.
    """

    dataflow: Dataflow
    models: Mapping[str, PerformanceModel]
    rate: Fraction


@dataclass(frozen=True, slots=True)
class Answer:
    """A method's answer.

    Parameters
    ----------
    question
        What was asked.
    method
        Who answers, see `run.METHODS`.
    routing, scaling
        How the method expects tuples to be routed, and CPU and memory to depend on the rate.
    outcome
        See `Outcome`.
    plan
        Bundles on slots; ``None`` where there is none.
    slots
        Slots that the plan needs: for a pair those on which its mapping succeeded, some of which
        it may leave empty. ``None`` without a plan.
    estimate
        Slots that the pair's allocation estimates; ``None`` for the optimum and without a plan.
    bound
        Proven: no plan with fewer slots passes the check. ``None`` where nothing is proven.
    bound_rate
        Where the highest rate was asked for: proven, no higher multiple of the step is supported.
        ``None`` where the rate was given.
    failures
        What the check finds at the plan's rate.
    reason
        Why there is no plan, one line; empty where there is one.
    seconds
        Wall clock of the method alone.
    """

    question: Question
    method: str
    routing: Routing
    scaling: Scaling
    outcome: Outcome
    plan: Plan | None = None
    slots: int | None = None
    estimate: int | None = None
    bound: int | None = None
    bound_rate: Fraction | None = None
    failures: tuple[Failure, ...] = ()
    reason: str = ""
    seconds: float = 0.0

    @property
    def gap(self) -> float | None:
        """(slots - bound) / slots; ``None`` without one of them."""
        if self.slots is None or self.bound is None:
            return None
        return (self.slots - self.bound) / self.slots if self.slots else 0.0

    def prediction(self, routing: Routing | None = None) -> Prediction | None:
        """Return what the plan supports; ``None`` without a plan.

        Parameters
        ----------
        routing
            ``None`` = the method's own.
        """
        if self.plan is None:
            return None
        dataflow, models = self.question.dataflow, self.question.models
        routing = routing or self.routing
        return predict(self.plan, dataflow, models, routing, scaling=self.scaling)

    def usage(self) -> dict[Slot, Usage]:
        """Return what each slot in use uses at the plan's rate, under the method's routing."""
        if self.plan is None:
            return {}
        dataflow, models = self.question.dataflow, self.question.models
        rate = self.question.rate
        return slot_usage(self.plan, dataflow, models, self.routing, rate, scaling=self.scaling)
