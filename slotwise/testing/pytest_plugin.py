"""The pytest plug-in: ``pytest --slotwise-scheduler "cmd:..." --slotwise-check "gap<=0.1"``.

It collects one test per check. Without the option it does nothing and imports nothing of ours, for
pytest loads it in every run of whoever has slotwise installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from slotwise.testing.checks.table import Demand
    from slotwise.testing.checks.trial import Trial

SAVE = "slotwise-failures"
"""Default folder of failing instances, in pytest's root folder."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options."""
    group = parser.getgroup("slotwise", "slotwise: checks of a scheduler")
    group.addoption(
        "--slotwise-scheduler",
        metavar="SCHEDULER",
        help="check this scheduler: cmd:COMMAND, the name of a method, or module:callable",
    )
    group.addoption(
        "--slotwise-check",
        action="append",
        default=[],
        metavar="CHECK",
        help="a check, as in valid or gap<=0.1 (repeatable); default: all without a threshold",
    )
    group.addoption(
        "--slotwise-rules",
        metavar="RULES",
        help="rules that it is for, as capacity,slots,heap; default: what it supports",
    )
    group.addoption("--slotwise-kind", metavar="KIND", help="kind of instances; default: a mixture")
    group.addoption(
        "--slotwise-seed", type=int, default=0, metavar="N", help="seed of the scheduler"
    )
    group.addoption(
        "--slotwise-save",
        default=SAVE,
        metavar="DIR",
        help=f"folder for failing instances; default: {SAVE} in the root folder",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that say how to check a scheduler where none is named."""
    if config.getoption("--slotwise-scheduler") is None:
        for option in ("--slotwise-check", "--slotwise-kind", "--slotwise-rules"):
            if config.getoption(option):
                raise pytest.UsageError(f"{option} needs --slotwise-scheduler SCHEDULER")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the checks to the tests, before ``-k`` and the like choose among them."""
    if config.getoption("--slotwise-scheduler") is not None:
        items.extend(_Checks.from_parent(session, name="slotwise", nodeid="slotwise").collect())


class _Checks(pytest.Collector):
    """The checks of the scheduler that the options name."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each check.

        Raises
        ------
        pytest.UsageError
            For a scheduler or check that there is not, and where Hypothesis is missing.
        """
        from slotwise.models.errors import InputError
        from slotwise.testing.hypothesis_extra import require_hypothesis

        try:
            require_hypothesis("--slotwise-scheduler")
            from slotwise.testing.checks.drawn import check_kind
            from slotwise.testing.checks.scheduler import as_scheduler
            from slotwise.testing.checks.scope import parse_rules
            from slotwise.testing.checks.table import DEFAULT, parse_demand
            from slotwise.testing.checks.trial import Trial

            option = self.config.getoption
            check_kind(option("--slotwise-kind"))
            seed = option("--slotwise-seed")
            rules = parse_rules(option("--slotwise-rules"))
            trial = Trial(as_scheduler(option("--slotwise-scheduler"), seed=seed), rules=rules)
            demands = [parse_demand(text) for text in option("--slotwise-check")] or DEFAULT
        except InputError as error:
            raise pytest.UsageError(str(error)) from error
        for demand in demands:
            yield _CheckItem.from_parent(self, name=str(demand), trial=trial, demand=demand)


class _CheckItem(pytest.Item):
    """One check as a test."""

    def __init__(self, *, trial: Trial, demand: Demand, **known: Any) -> None:
        super().__init__(**known)
        self.trial = trial
        self.demand = demand

    def runtest(self) -> None:
        """Make the check; a failing instance is saved."""
        from slotwise.testing.checks.functions import CheckFailed, NothingJudged, judged

        try:
            judged(self.trial, self.demand, kind=self.config.getoption("--slotwise-kind"))
        except CheckFailed as failed:
            raise _FailedError(self._told(failed)) from None
        except NothingJudged as nothing:
            raise _FailedError(str(nothing)) from None

    def _told(self, failed: Any) -> str:
        from slotwise.testing.checks.failures import failure_text, save_failure

        folder = Path(self.config.rootpath / self.config.getoption("--slotwise-save"))
        texts = []
        for failure in failed.failures:
            files = save_failure(folder, self.trial, self.demand, failure)
            texts.append(failure_text(self.trial.scheduler, self.demand, failure, files.again))
        return "\n\n".join(texts)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show our message alone, and the traceback of anything else."""
        if isinstance(excinfo.value, _FailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Name the test."""
        return self.config.rootpath, None, f"slotwise: {self.demand}"


class _FailedError(AssertionError):
    """A check that fails; the message is for people."""
