"""`solve` with an engine that is not in the list of engines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slotwise.models.errors import InputError
from slotwise.models.instance_file import read_instance
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.core.result import Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve


@pytest.fixture
def own() -> Engine:
    return replace(ENGINES["exhaustive"], name="own")


def test_it_is_judged_and_named_as_ours(examples, own: Engine) -> None:
    instance = read_instance("word-count.json")
    result, ours = (solve(instance, engine=engine) for engine in (own, "exhaustive"))
    assert (result.engine, result.status) == ("own", Status.OPTIMAL)
    assert [term.value for term in result.objective] == [term.value for term in ours.objective]
    assert "own" not in ENGINES


def test_what_it_does_not_take_is_refused(examples, own: Engine) -> None:
    with pytest.raises(UntakenError, match="'own': does not take this instance: too odd"):
        solve(
            read_instance("word-count.json"),
            engine=replace(own, supports=lambda problem: "too odd"),
        )


def test_a_name_that_is_not_known_is_refused_with_close_ones(examples) -> None:
    with pytest.raises(
        InputError, match="engine = 'cpsat': is not an engine; did you mean 'cp-sat'"
    ):
        solve(read_instance("word-count.json"), engine="cpsat")
