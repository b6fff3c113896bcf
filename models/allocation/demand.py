"""What is to be allocated: the tasks of a dataflow with their models and input rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from slotwise.models.dataflow.dataflow import Dataflow
from slotwise.models.dataflow.rates import input_rates
from slotwise.models.errors import InputError
from slotwise.models.performance.curves import best_rate
from slotwise.models.performance.model import PerformanceModel


@dataclass(frozen=True, slots=True)
class TaskDemand:
    """A task that is to be allocated.

    Parameters
    ----------
    name
        Of the task.
    model
        What it does on one slot.
    rate
        Its input rate, tuples/s; 0 where selectivities of 0 keep every tuple from it.
    """

    name: str
    model: PerformanceModel
    rate: Fraction


def task_demands(
    dataflow: Dataflow, models: Mapping[str, PerformanceModel], rate: Fraction
) -> tuple[TaskDemand, ...]:
    """Return the tasks of `dataflow` that are allocated, in topological order.

    Parameters
    ----------
    models
        By name.
    rate
        Of the dataflow's sources, tuples/s.

    Raises
    ------
    InputError
        For a rate that is not above 0, a model that is not there, and a task with tuples to
        process whose best rate is 0: no number of slots supports it.
    """
    if rate <= 0:
        raise InputError("must be above 0", field="rate", value=float(rate))
    rates = input_rates(dataflow, rate)
    demands = []
    for task in dataflow.allocated:
        assert task.model is not None
        if task.model not in models:
            known = ", ".join(models) or "none"
            raise InputError(
                f"has no performance model; the known models are: {known}",
                field=f"tasks.{task.name}.model",
                value=task.model,
            )
        demand = TaskDemand(task.name, models[task.model], rates[task.name])
        if demand.rate > 0 and best_rate(demand.model) == 0:
            raise InputError(
                f"its best rate is 0 tuples/s with any number of threads, so no slots support the "
                f"{float(demand.rate):g} tuples/s of task {task.name!r}; measure it again",
                field=f"models.{task.model}",
                has_value=False,
            )
        demands.append(demand)
    return tuple(demands)
