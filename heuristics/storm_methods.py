"""Storm's own scheduler as methods: ``storm:ras-default`` and so on.

One round of the released ``ResourceAwareScheduler`` on the whole instance, every topology with the
named strategy: Storm's order of topologies, evictions included; what runs stays where it is. See
`storm_peer` for the process behind it.
"""

from __future__ import annotations

import atexit
import difflib
from functools import partial

from numpy.random import Generator

from slotwise.heuristics.method import Method
from slotwise.heuristics.ras_methods import supports
from slotwise.heuristics.ras_strategy import STRATEGIES
from slotwise.heuristics.storm_peer import StormAnswer, StormPeer, unsupported
from slotwise.heuristics.storm_process import PeerError, missing
from slotwise.models.errors import InputError
from slotwise.models.placement import UNPLACED, Placement
from slotwise.models.problem import Problem
from slotwise.models.refusal import Refusal

STORM_PREFIX = "storm:"

_running: list[StormPeer] = []
"""The process that this one has started, if any: it serves every run."""


def storm_method(strategy: str, *, time_limit_s: float) -> Method:
    """Return the method that asks Storm for `strategy`.

    Parameters
    ----------
    strategy
        One of `ras_strategy.STRATEGIES`.
    time_limit_s
        Wall-clock seconds of one run, after which the process is ended and the method refuses.

    Raises
    ------
    InputError
        When there is no such strategy, or the process cannot be started.
    """
    name = STORM_PREFIX + strategy
    if strategy not in STRATEGIES:
        close = difflib.get_close_matches(strategy, STRATEGIES) or list(STRATEGIES)
        known = " or ".join(STORM_PREFIX + one for one in close)
        raise InputError(f"is no method; did you mean {known}?", field="method", value=name)
    reason = missing()
    if reason is not None:
        raise InputError(f"Storm's scheduler {reason}", field="method", value=name)

    def place(problem: Problem, rng: Generator) -> Placement | Refusal:
        try:
            answer = _peer().schedule(
                problem.instance, strategy=strategy, time_limit_s=time_limit_s
            )
        except PeerError as error:
            _close()
            return Refusal(str(error))
        return whole_topologies(problem, answer.placement, answer.outcomes)

    return Method(
        name=name,
        source="Apache Storm's own scheduler (make storm-peer)",
        place=place,
        supports=partial(_supports, strategy),
    )


def _supports(strategy: str, problem: Problem) -> str | None:
    """Return why our own method of that name would not apply, or what Storm cannot express."""
    return supports(strategy, problem) or unsupported(problem.instance, strategy)


def _peer() -> StormPeer:
    if not _running:
        _running.append(StormPeer())
        atexit.register(_close)
    return _running[0]


def _close() -> None:
    while _running:
        _running.pop().close()
