"""Running one engine: what it claims is checked before it counts.

Among others (`attempt`) its failure is not theirs.
"""

from __future__ import annotations

import time

from slotwise.models.cancellation import CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.judged_result import contradiction
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, report_outcome
from slotwise.solver.core.result import Limits, Outcome, Pick
from slotwise.solver.core.supervision import ASK_AFTER_S
from slotwise.solver.portfolio.run_engine import run_engine


def run_checked(
    engine: Engine,
    why: str,
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter,
) -> Outcome:
    """Run `engine`, which was said to start, check its claim and tell `reporter`; return it.

    `why` it runs stands in the result.

    Raises
    ------
    InternalError
        When the judge contradicts the claim, or the engine itself.
    NotTakenError
        When the engine does not take the problem after all.
    """
    began, is_taken = time.perf_counter(), True
    try:
        found = run_engine(engine, problem, limits, hint, reporter)
    except NotTakenError:
        is_taken = False
        raise
    finally:
        if is_taken:
            seconds = time.perf_counter() - began
            reporter.known.picked.append(Pick(engine.name, why, seconds, engine.parameters))
    placement = found.placement
    verdict = None if placement is None else reporter.judged(problem, placement)
    wrong = contradiction(engine.name, found, verdict)
    if wrong is not None:
        raise InternalError(wrong)
    report_outcome(reporter, found)
    return found


def attempt(
    engine: Engine,
    why: str,
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter,
) -> Outcome | None:
    """Run `engine` as `run_checked` does; return its claim.

    ``None`` where the engine does not take the problem after all, was stopped before it had
    anything to tell, or is found wrong: then it is distrusted.
    """
    trust = reporter.known.trust
    reporter.known.start(engine.name, why)
    try:
        token = reporter.token.child(reporter.token.now() + limits.time_s + ASK_AFTER_S)
        found = run_checked(engine, why, problem, limits, hint, reporter.heeding(token))
    except (NotTakenError, CancelledError):
        return None
    except InternalError as error:
        trust.doubt(engine.name, str(error))
        return None
    return None if trust.is_doubted(engine.name) else found
