"""What placements of an instance are worth, predicted and simulated, and the proven best ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import fmean

from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.run import run_method
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.prediction.loads import Kind
from slotwise.models.prediction.prediction import PredictedSpout, Utilised, predict
from slotwise.models.problem.compile import compile_problem
from slotwise.models.simulation.simulation import Run, SimulatedSpout, simulate
from slotwise.solver.solve import solve


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a placement is worth.

    Parameters
    ----------
    rates
        Tuples/s that the spouts of each topology emit together.
    latencies
        Mean ms of a tuple of each topology, weighted with the rates of its spouts.
    cpu
        Mean utilisation of the cpus in use; 0 where none is.
    machines
        Whose cpu is in use.
    """

    rates: Mapping[str, float]
    latencies: Mapping[str, float]
    cpu: float
    machines: int


@dataclass(frozen=True, slots=True)
class Tried:
    """An instance with its workload."""

    instance: Instance

    def predicted(self, placement: Placement) -> Outcome:
        """Return what queueing theory says."""
        prediction = predict(self.instance, placement)
        spouts = [(one, one.rate or 0.0, _mean(one)) for one in prediction.spouts]
        return _outcome(spouts, prediction.utilisations)

    def simulated(self, placement: Placement, seconds: float, seed: int = 0) -> Outcome:
        """Return what a simulation of that many seconds, after a tenth of them, shows."""
        simulation = simulate(self.instance, placement, Run(seconds, seconds / 10, seed))
        spouts = [(one, one.rate.mean, _simulated_mean(one)) for one in simulation.spouts]
        return _outcome(spouts, simulation.utilisations)


def _mean(spout: PredictedSpout) -> float:
    return float("inf") if spout.latency is None else spout.latency.mean


def _simulated_mean(spout: SimulatedSpout) -> float:
    return float("inf") if spout.latency is None else spout.latency.mean


def _outcome(
    spouts: Sequence[tuple[PredictedSpout | SimulatedSpout, float, float]],
    utilisations: Sequence[Utilised],
) -> Outcome:
    rates: dict[str, float] = {}
    sums: dict[str, float] = {}
    for spout, rate, ms in spouts:
        rates[spout.topology] = rates.get(spout.topology, 0.0) + rate
        sums[spout.topology] = sums.get(spout.topology, 0.0) + rate * ms
    used = [one.utilisation for one in utilisations if one.resource.kind is Kind.CPU]
    latencies = {name: sums[name] / rates[name] for name in rates}
    return Outcome(rates, latencies, fmean(used) if used else 0.0, len(used))


def placed(instance: Instance, method: str) -> Placement:
    """Return a method's placement."""
    placement = run_method(compile_problem(instance), HEURISTICS[method], 0)
    assert isinstance(placement, Placement), f"{method} refuses {instance.name}"
    return placement


def best(
    instance: Instance, terms: Sequence[str], proven: int, time_limit_s: float
) -> Placement | None:
    """Return the placement best by `terms`, ``None`` where the first `proven` are not proven."""
    objective = replace(instance.objective, terms=tuple(terms))
    result = solve(
        compile_problem(replace(instance, objective=objective)), time_limit_s=time_limit_s
    )
    is_proven = all(
        one.value is not None and one.value == one.bound for one in result.objective[:proven]
    )
    return result.placement if is_proven else None


def excess(ours: float, base: float) -> Fraction:
    """Return by how much the first number exceeds the second, % to a tenth."""
    return Fraction(round((ours / base - 1) * 1000), 10)
