"""What ``solve`` says without a placement: whether the limit came first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slotwise.cli.render.results import show_result
from slotwise.models.instance_file import read_instance
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.solve import solve

AT_LIMIT = "No placement found within the limit"
EARLY = "The engine ended before its time limit"


@pytest.mark.parametrize(
    ("by_work", "seconds", "work", "said"),
    [
        (False, 3.0, None, EARLY),
        (False, 10.0, 2.0, AT_LIMIT),
        (True, 3.0, 10.0, AT_LIMIT),
        (True, 30.0, 2.0, EARLY),
    ],
)
def test_a_limit_of_work_is_compared_with_work(examples, capsys, by_work, seconds, work, said):
    found = solve(read_instance(examples / "word-count.json"), engine="exhaustive")
    nothing = replace(
        found,
        status=Status.UNKNOWN,
        placement=None,
        verdict=None,
        limits=Limits(time_s=10.0, by_work=by_work),
        seconds=seconds,
        deterministic_work=work,
    )
    show_result(nothing)
    assert " ".join(capsys.readouterr().out.split()).startswith(said)
