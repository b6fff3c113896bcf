"""Our own methods under the checks. Where a published method rightly fails one, the table says why.

An entry of the table must fail: a method that no longer does is to be taken out.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from slotwise.heuristics.ours import HEURISTICS
from slotwise.testing.checks.report import State
from slotwise.testing.checks.scheduler import as_scheduler
from slotwise.testing.checks.search import Budget, search
from slotwise.testing.checks.table import parse_demand
from slotwise.testing.checks.trial import Trial

pytestmark = pytest.mark.usefixtures("only_found")

CHECKS = ("valid", "complete", "deterministic", "time<=60")
METHODS = [
    name
    for name in HEURISTICS
    if name != "kahip" and (name != "metis" or find_spec("pymetis") is not None)
]
"""All but KaHIP, which starts a process for each instance."""

_NO_LIMIT = (
    "knows nothing of running tasks, and so breaks objective.limits; nor of isolated workers"
)
_PARTITIONERS = ("hash", "ldg", "fennel", "ldg-re", "fennel-re", "metis")
_STROMAX = ("stromax-bootstrap", "stromax-bootstrap-condensed", "stromax-reassign")
_RSTORM = ("r-storm", "r-storm-pseudocode")
_GLOBAL = ("stromax-global", "stromax-global-comm")
_NO_RUNNING = "knows nothing of running tasks, and so breaks objective.limits (max_moved)"
_ANOMALY = "greedy: more room leads its first choices elsewhere, and there is no way back"
_TIES = "ties are broken by name, and linear costs are not looked at"

RIGHTLY: dict[tuple[str, str], str] = {
    ("round-robin", "valid"): "Storm's even scheduler looks at slots alone, at no capacity",
    **{(name, "valid"): _NO_LIMIT for name in (*_PARTITIONERS, *_STROMAX)},
    **{(name, "valid"): _NO_RUNNING for name in (*_RSTORM, *_GLOBAL)},
    ("r-storm", "capacity"): _ANOMALY,
    ("r-storm-pseudocode", "capacity"): _ANOMALY,
    ("r-storm", "names"): _TIES,
    ("round-robin", "names"): _TIES,
}
OTHERS = [pair for pair in RIGHTLY if pair[1] not in CHECKS]


def state_of(method: str, check: str, examples: int = 12) -> State:
    trial = Trial(as_scheduler(method), time_limit_s=60)
    return search(parse_demand(check), trial, budget=Budget(examples, 0), kind="feasible").state


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize("method", METHODS)
def test_our_methods_keep_the_checks(method: str):
    for check in CHECKS:
        state = state_of(method, check)
        assert (state is State.FAILS) == ((method, check) in RIGHTLY), (check, state)


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize(("method", "check"), OTHERS, ids="-".join)
def test_what_the_table_says_of_other_checks_is_so(method: str, check: str):
    assert state_of(method, check, examples=100) is State.FAILS, RIGHTLY[method, check]
