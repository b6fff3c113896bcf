"""Running one engine among others: what it claims is checked, and its failure is not theirs."""

from __future__ import annotations

import time

from slotwise.models.cancellation import CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.outcome_check import contradiction
from slotwise.solver.core.reporter import Reporter, report_outcome
from slotwise.solver.core.result import Limits, Outcome, Pick
from slotwise.solver.core.supervision import ASK_AFTER_S
from slotwise.solver.portfolio.run_engine import run_engine


def attempt(
    engine: Engine,
    why: str,
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter,
) -> Outcome | None:
    """Run `engine` and tell `reporter` what it found; return that.

    ``None`` where the engine does not take the problem after all, was stopped before it had
    anything to tell, or is found wrong: then it is distrusted. `why` it runs stands in the result.
    """
    known = reporter.known
    began = time.perf_counter()
    known.start(engine.name, why)
    found, wrong = None, None
    try:
        token = reporter.token.child(began + limits.time_s + ASK_AFTER_S)
        found = run_engine(engine, problem, limits, hint, reporter.heeding(token))
        wrong = contradiction(problem, engine.name, found)
    except NotTakenError:
        return None
    except CancelledError:
        pass
    except InternalError as error:
        wrong = str(error)
    known.picked.append(Pick(engine.name, why, time.perf_counter() - began))
    if wrong is not None:
        known.trust.doubt(engine.name, wrong)
        return None
    if found is not None:
        report_outcome(reporter, found)
    return None if known.trust.is_doubted(engine.name) else found
