"""Storm's own schedulers as methods: ``storm:ras-default`` and so on, and ``storm:r-storm-1.0``.

One round of a released ``ResourceAwareScheduler`` on the whole instance, every topology with the
named strategy: Storm's order of topologies, evictions included; what runs stays where it is. See
`storm_peer` for the processes behind it.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import partial

from numpy.random import Generator

from slotwise.heuristics.external.storm_peer import (
    SchedulerError,
    Storm1Peer,
    StormPeer,
    unsupported,
)
from slotwise.heuristics.external.storm_process import STORM_1, STORM_2, PeerError, missing
from slotwise.heuristics.method import Method, whole_topologies
from slotwise.heuristics.method_names import STORM_PREFIX
from slotwise.heuristics.ras import methods as ras_methods
from slotwise.heuristics.ras.strategies.strategy import STRATEGIES
from slotwise.heuristics.rstorm.storm_1 import method as r_storm_1_0
from slotwise.models.errors import InputError, suggestion
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem
from slotwise.models.values import time_limit

DESCRIPTION = "Apache Storm's own code of the strategy of that name, in a process of its own."
KNOWN = (*STRATEGIES, r_storm_1_0.NAME)

Ask = Callable[[Problem, float], Placement | Refusal]
"""Problem and time limit in seconds -> the answer; raises `PeerError`."""

_running: list[StormPeer] = []
"""The process started by this one, if any; it serves every run."""

_running_1: list[Storm1Peer] = []
"""The same for Storm 1.0.6."""


def storm_method(strategy: str, *, time_limit_s: float) -> Method:
    """Return the method that asks Storm for `strategy`.

    Parameters
    ----------
    strategy
        One of `KNOWN`.
    time_limit_s
        Wall-clock seconds of one run, after which the process is ended and the method fails.

    Raises
    ------
    InputError
        When there is no such strategy, the process cannot be started, or the limit is not finite
        and above 0.
    """
    name = STORM_PREFIX + strategy
    time_limit(time_limit_s, "time_limit_s")
    if strategy not in KNOWN:
        rule = f"is not a method; {suggestion(name, [STORM_PREFIX + one for one in KNOWN])}"
        raise InputError(rule, field="method", value=name)
    first = strategy == r_storm_1_0.NAME
    program = STORM_1 if first else STORM_2
    reason = missing(program)
    if reason is not None:
        raise InputError(f"Storm's scheduler {reason}", field="method", value=name)
    ask: Ask = _ask_storm_1 if first else partial(_ask_storm, strategy)

    def place(problem: Problem, rng: Generator) -> Placement | Refusal:
        try:
            return ask(problem, time_limit_s)
        except PeerError:
            _close()
            raise

    return Method(
        name=name,
        source=f"Apache Storm's own scheduler (make {program.target})",
        place=place,
        supports=r_storm_1_0.supports if first else partial(_supports, strategy),
        description=DESCRIPTION,
    )


def _supports(strategy: str, problem: Problem) -> str | None:
    """Return why our own method of that name would not apply, or what Storm cannot express."""
    return ras_methods.supports(strategy, problem) or unsupported(problem.instance, strategy)


def _ask_storm(strategy: str, problem: Problem, time_limit_s: float) -> Placement | Refusal:
    if not _running:
        _running.append(StormPeer())
        atexit.register(_close)
    answer = _running[0].schedule(problem.instance, strategy=strategy, time_limit_s=time_limit_s)
    return whole_topologies(problem, answer.placement, answer.outcomes)


def _ask_storm_1(problem: Problem, time_limit_s: float) -> Placement | Refusal:
    if not _running_1:
        _running_1.append(Storm1Peer())
        atexit.register(_close)
    try:
        answer = _running_1[0].schedule(problem.instance, time_limit_s=time_limit_s)
    except SchedulerError as error:
        return r_storm_1_0.failed(str(error))
    return whole_topologies(problem, answer.placement, answer.outcomes)


def _close() -> None:
    for running in (_running, _running_1):
        while running:
            running.pop().close()
