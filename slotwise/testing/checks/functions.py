"""The checks as functions, for a test of one's own: ``check_valid(my_scheduler)``.

Each takes a scheduler as `as_scheduler` does (a callable, a `Method`, a name, ``cmd:COMMAND``),
draws instances, and raises `CheckFailed` with the smallest on which the check fails. Besides the
scheduler and a threshold all take the same options:

instances
    A strategy for instances; ``None`` = a mixture of all kinds that are not infeasible.
max_examples
    Most instances; ``None`` = what Hypothesis's profile says (100 by default).
seed
    Of Hypothesis; ``None`` = as Hypothesis is configured: profile, database, ``--hypothesis-seed``.
time_limit_s
    Seconds that the scheduler has for an instance.
rules
    Names of the rules that the scheduler is for, of `slotwise.testing.checks.scope.RULES`: our own
    instances have no others. ``None`` = those that a `Method` supports, and all for a callable.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict, Unpack

from hypothesis.strategies import SearchStrategy

from slotwise.models.instance.instance import Instance
from slotwise.testing.checks.failures import command, failure_text
from slotwise.testing.checks.report import Failure, Report, State
from slotwise.testing.checks.scheduler import TIME_LIMIT_S, Testable, as_scheduler
from slotwise.testing.checks.scope import known_rules
from slotwise.testing.checks.search import BUDGET, Budget, search
from slotwise.testing.checks.table import Demand, parse_demand
from slotwise.testing.checks.trial import Trial


class Options(TypedDict, total=False):
    """Options of every check."""

    instances: SearchStrategy[Instance] | None
    max_examples: int | None
    seed: int | None
    time_limit_s: float
    rules: Iterable[str] | None


class CheckFailed(AssertionError):  # noqa: N818 (it reads as what it says)
    """A check fails; the message has the smallest instances found, and how to see it again.

    Parameters
    ----------
    trial, demand
        Who, and what.
    failures
        An instance and a finding for each rule that is broken, one at least.

    Attributes
    ----------
    failure
        The first of them.
    """

    def __init__(self, trial: Trial, demand: Demand, failures: tuple[Failure, ...]) -> None:
        self.demand = demand
        self.failures = failures
        self.failure = failures[0]
        again = f"{command(trial, demand, 'FILE')}, with the instance in FILE"
        texts = (failure_text(trial.scheduler, demand, one, again) for one in failures)
        super().__init__("\n\n".join(texts))


class NothingJudged(AssertionError):  # noqa: N818
    """A check could judge no instance at all, so it says nothing; the message has the reasons."""


def check(scheduler: Testable, demand: str | Demand, **options: Unpack[Options]) -> Report:
    """Make one check, written as ``valid`` or ``gap<=0.1``, and return what was counted."""
    asked = parse_demand(demand) if isinstance(demand, str) else demand
    rules = options.get("rules")
    trial = Trial(
        as_scheduler(scheduler),
        options.get("time_limit_s", TIME_LIMIT_S),
        rules=None if rules is None else known_rules(rules),
    )
    budget = Budget(options.get("max_examples"), options.get("seed"))
    return judged(trial, asked, options.get("instances"), budget)


def judged(
    trial: Trial,
    asked: Demand,
    instances: SearchStrategy[Instance] | None = None,
    budget: Budget = BUDGET,
    *,
    kind: str | None = None,
) -> Report:
    """Return what `search` counted; raises `CheckFailed` or `NothingJudged`."""
    report = search(asked, trial, instances, budget, kind=kind)
    if report.failures:
        raise CheckFailed(trial, asked, report.failures)
    if report.state is State.NOT_JUDGED:
        raise NothingJudged(f"{asked} of {report.scheduler}: {report.counts()}")
    return report


def check_valid(scheduler: Testable, **options: Unpack[Options]) -> Report:
    """No placement breaks a hard rule."""
    return check(scheduler, "valid", **options)


def check_complete(scheduler: Testable, **options: Unpack[Options]) -> Report:
    """Every topology is placed whole, or refused; where ``rejected`` counts, also left out."""
    return check(scheduler, "complete", **options)


def check_deterministic(scheduler: Testable, **options: Unpack[Options]) -> Report:
    """Ask the same with the same seed: the answer is the same."""
    return check(scheduler, "deterministic", **options)


def check_names(scheduler: Testable, **options: Unpack[Options]) -> Report:
    """With other names of nodes, racks, topologies and components the cost is the same."""
    return check(scheduler, "names", **options)


def check_order(scheduler: Testable, **options: Unpack[Options]) -> Report:
    """With nodes, topologies, components and streams in reverse order the cost is the same."""
    return check(scheduler, "order", **options)


def check_capacity(scheduler: Testable, **options: Unpack[Options]) -> Report:
    """With more capacity, or one more node, nothing costs more and nothing more is refused."""
    return check(scheduler, "capacity", **options)


def check_node_loss(scheduler: Testable, **options: Unpack[Options]) -> Report:
    """When a node is lost, all is placed again where that is possible, and no rule is broken."""
    return check(scheduler, "node-loss", **options)


def check_admits(scheduler: Testable, allowance: float = 0.1, **options: Unpack[Options]) -> Report:
    """All but the share `allowance` of the instances that can be placed are, whole and validly."""
    return check(scheduler, f"admits>={1 - allowance:.12g}", **options)


def check_gap(scheduler: Testable, at_most: float = 0.1, **options: Unpack[Options]) -> Report:
    """Compare with the proven optimum: the gap is at most `at_most`.

    It is (value - optimum) / max(|value|, 10^-6) of the first term in which the two differ.
    """
    return check(scheduler, f"gap<={at_most!r}", **options)


def check_moves(scheduler: Testable, at_most: int, **options: Unpack[Options]) -> Report:
    """At most `at_most` running tasks are moved where that many are enough."""
    return check(scheduler, f"moves<={at_most}", **options)


def check_time(scheduler: Testable, at_most_s: float, **options: Unpack[Options]) -> Report:
    """Wait for the answer: it comes within `at_most_s` seconds of wall-clock time."""
    return check(scheduler, f"time<={at_most_s!r}", **options)
