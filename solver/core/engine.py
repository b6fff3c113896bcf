"""The interface of an exact engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar, cast

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.parameters import Parameters, of_type


class Run(Protocol):
    """The search of an engine."""

    def __call__(
        self,
        problem: Problem,
        limits: Limits,
        hint: Placement | None,
        reporter: Reporter | None = None,
    ) -> Outcome:
        """Return the engine's claim.

        `hint` is a placement to start from. `reporter` receives better placements and bounds
        while the search runs, and its token says when to stop: the engine then returns what it
        has, or raises `CancelledError` where it has nothing. ``None`` = nothing is reported, and
        only the limits stop the search.
        """
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    """An exact method.

    Parameters
    ----------
    name
        The name by which users select it.
    run
        ``(problem, limits, hint, reporter)`` -> claim, see `Run`.
    supports
        ``None``, or the reason why the engine declines a problem.
    version
        Of the solver behind it.
    parameters
        The parameters of `run` and `supports`; ``None`` = it has none.
    with_parameters
        Returns the engine with other parameters of the same type; ``None`` = it has none.
    takes_work
        Whether units of work can limit it; false for solvers that only seconds can limit.
    compiles
        Whether it runs loops that Numba compiles, which takes `memory.COMPILER_BYTES`.
    """

    name: str
    run: Run
    supports: Callable[[Problem], str | None]
    version: Callable[[], str]
    parameters: Parameters | None = None
    with_parameters: Callable[[Parameters], Engine] | None = None
    takes_work: bool = True
    compiles: bool = False


P = TypeVar("P", bound=Parameters)


def configurable(make: Callable[[P], Engine], parameters: P) -> Engine:
    """Return the engine that `make` makes of `parameters`, with a way to change them."""

    def remade(changed: Parameters) -> Engine:
        of_type(changed, type(parameters), f"parameters of {engine.name}")
        return configurable(make, cast(P, changed))

    engine = make(parameters)
    return replace(engine, parameters=parameters, with_parameters=remade)


def configured(engine: Engine, parameters_by_engine: Mapping[str, Parameters]) -> Engine:
    """Return the engine with its parameters in `parameters_by_engine`, if they are there."""
    parameters = parameters_by_engine.get(engine.name)
    if parameters is None or engine.with_parameters is None:
        return engine
    return engine.with_parameters(parameters)
