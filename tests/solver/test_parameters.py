"""Parameters of engines: checked when they are made, handed in by name, recorded in the result."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from slotwise.models.errors import InputError
from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.assignment.params import DualAscentParams, SubsetDpParams
from slotwise.solver.column_generation.params import (
    ColumnsParams,
    ConfigurationsParams,
    ConnectedParams,
    ResidualParams,
)
from slotwise.solver.compact.params import CpSatParams, MilpParams
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.engines import ENGINES
from slotwise.solver.exhaustive import ExhaustiveParams
from slotwise.solver.local_search.compiled import LocalSearchParams
from slotwise.solver.local_search.engine import LOCAL_SEARCH
from slotwise.solver.parameters import Parameters
from slotwise.solver.portfolio.params import DEFAULTS, AutoParams, parsed_parameters
from slotwise.solver.solve import solve

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.fixture(scope="module")
def word_count() -> Problem:
    return compile_problem(read_instance(EXAMPLES / "word-count.json"))


def test_every_engine_has_parameters_that_are_json() -> None:
    without = {name for name, engine in ENGINES.items() if engine.parameters is None}
    assert without == {"orphans"}
    others = {"auto", "baseline", "local-search", "large-neighbourhood"}
    assert set(DEFAULTS) == others | set(ENGINES) - without
    for parameters in DEFAULTS.values():
        document = parameters.to_document()
        assert json.loads(json.dumps(document)) == document
        assert replace(parameters) == parameters


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ExhaustiveParams(max_tasks=-1), "ExhaustiveParams.max_tasks = -1: .* 0 or more"),
        (lambda: ExhaustiveParams(max_tasks=2.5), "ExhaustiveParams.max_tasks = 2.5: .* whole"),
        (lambda: LocalSearchParams(history_length=0), "history_length = 0: must be 1 or more"),
        (lambda: AutoParams(rack_fraction=0.0), "AutoParams.rack_fraction = 0.0: .* above 0"),
        (lambda: AutoParams(rack_fraction=1.01), "rack_fraction = 1.01: .* at most 1"),
        (lambda: AutoParams(rack_fraction=float("nan")), "rack_fraction = nan"),
        (lambda: AutoParams(rack_fraction=True), "rack_fraction = true"),
        (lambda: ColumnsParams(choice_growth=1), "choice_growth = 1: must be 2 or more"),
        (lambda: ConnectedParams(residual=CpSatParams()), "residual = 'CpSatParams': .* Residual"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(
    make: Callable[[], Parameters], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_names_and_types_are_checked_before_anything_runs(word_count: Problem) -> None:
    with pytest.raises(InputError, match="did you mean 'cp-sat'"):
        solve(word_count, parameters={"cpsat": CpSatParams()})
    with pytest.raises(InputError, match="parameters of milp = 'CpSatParams': must be MilpParams"):
        solve(word_count, parameters={"milp": CpSatParams()})


@pytest.mark.parametrize(
    ("engine", "parameters", "reason"),
    [
        ("exhaustive", ExhaustiveParams(max_tasks=1), "takes at most 1$|at most 1;"),
        ("exhaustive", ExhaustiveParams(max_placements=1), "at most 1e"),
        ("cp-sat", CpSatParams(max_counts=1), "counts of tasks in workers"),
        ("milp", MilpParams(max_columns=2), "more than 2 columns"),
    ],
)
def test_an_engine_goes_by_its_parameters(
    word_count: Problem, engine: str, parameters: Parameters, reason: str
) -> None:
    with pytest.raises(UntakenError, match=reason):
        solve(word_count, engine=engine, parameters={engine: parameters}, time_limit_s=20)


def test_engines_for_matrices_go_by_their_parameters() -> None:
    engine = ENGINES["dual-ascent"]
    assert engine.with_parameters is not None
    from assignments import document
    from numpy.random import default_rng

    from slotwise.models.instance_file import instance_from_data

    problem = compile_problem(instance_from_data(document(default_rng(5), 5, 3, 0.8)))
    assert engine.supports(problem) is None
    few = engine.with_parameters(DualAscentParams(max_pairs=1))
    assert "more than 1 pairs" in (few.supports(problem) or "")
    subset = ENGINES["subset-dp"]
    assert subset.with_parameters is not None
    near = {**document(default_rng(5), 5, 3, 0.8), "distance": [[0, 5, 5], [5, 0, 5], [5, 5, 0]]}
    alike = compile_problem(instance_from_data(near))
    assert subset.supports(alike) is None
    few = subset.with_parameters(SubsetDpParams(max_tasks=4, max_contents=1))
    assert few.supports(alike) is not None
    local = LOCAL_SEARCH.with_parameters
    assert local is not None
    flat = compile_problem(FAMILIES["rstorm"].make(1, 0))
    assert LOCAL_SEARCH.supports(flat) is None
    assert "too large a table" in (local(LocalSearchParams(max_cells=1)).supports(flat) or "")


def test_the_result_says_with_what_it_was_made(word_count: Problem) -> None:
    given = ExhaustiveParams(max_tasks=13)
    result = solve(word_count, engine="exhaustive", parameters={"exhaustive": given})
    assert result.parameters == {"exhaustive": given}
    assert result.to_document()["parameters"] == {"exhaustive": given.to_document()}
    assert [pick.parameters for pick in result.picked] == [given]


def test_auto_records_its_own_and_those_of_whom_it_ran(word_count: Problem) -> None:
    given = {
        "configurations": ConfigurationsParams(max_rack_splits=7),
        "connected": ConnectedParams(),
    }
    result = solve(word_count, parameters=given, time_limit_s=30)
    ran = {pick.engine for pick in result.picked}
    assert set(result.parameters) == {"auto", "configurations", "connected"} | ran
    assert result.parameters["auto"] == AutoParams()
    assert result.parameters["configurations"] == given["configurations"]
    assert result.parameters["baseline"] == DEFAULTS["baseline"]


@pytest.mark.slow
def test_two_racks_are_not_said_to_be_more() -> None:
    given = {"configurations": ConfigurationsParams(max_rack_splits=7)}
    instance = FAMILIES["rstorm"].make(0, 0)
    assert len({node.rack for node in instance.cluster.nodes}) == 2
    result = solve(instance, parameters=given, time_limit_s=10)
    reasons = [pick.why for pick in result.picked if "rack" in pick.why]
    assert reasons
    assert all(why.startswith("two racks have too many splits:") for why in reasons)


def test_auto_goes_by_its_parameters() -> None:
    instance = FAMILIES["rstorm"].make(0, 0)
    plain = solve(instance, time_limit_s=30, parameters={"auto": AutoParams(search_from_tasks=500)})
    assert "local-search" not in {pick.engine for pick in plain.picked}
    soon = solve(instance, time_limit_s=30, parameters={"auto": AutoParams(search_from_tasks=1)})
    assert [pick.engine for pick in soon.picked][:2] == ["baseline", "local-search"]


def test_texts_say_parameters() -> None:
    assert parsed_parameters([]) == {}
    assert parsed_parameters(
        [
            "cp-sat.max_counts=50000",
            "auto.rack_fraction=0.5",
            "cp-sat.report_fraction=1",
            "connected.residual.max_states=5",
        ]
    ) == {
        "cp-sat": CpSatParams(50_000, 1.0),
        "auto": AutoParams(rack_fraction=0.5),
        "connected": ConnectedParams(residual=ResidualParams(max_states=5)),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cp-sat", "must be ENGINE.NAME=VALUE"),
        ("max_counts=3", "must be ENGINE.NAME=VALUE"),
        ("cpsat.max_counts=3", "did you mean 'cp-sat'"),
        ("cp-sat.max_count=3", "did you mean 'max_counts'"),
        ("cp-sat.max_counts.x=3", "has no parameters"),
        ("nope.max_counts=3", "names an unknown engine, 'nope'; must be one of "),
        ("connected.residual=3", "residual is a group of parameters; name one of them: max_states"),
        ("cp-sat.max_counts=many", "--set = 'cp-sat.max_counts=many': must be a number"),
        ("cp-sat.max_counts=0.5", "--set = 'cp-sat.max_counts=0.5': must be a whole number"),
        ("connected.tree_fraction=7", "--set = 'connected.tree_fraction=7': must be a finite "),
        ("connected.residual.max_states=-1", "--set = 'connected.residual.max_states=-1': must be"),
    ],
)
def test_a_wrong_text_is_one_line_on_stderr(text: str, message: str, cli) -> None:
    answer = cli("solve", EXAMPLES / "word-count.json", "--set", text)
    assert answer.code == 2
    assert message in answer.err
    assert len(answer.err.splitlines()) == 1


def test_the_command_line_sets_parameters(cli) -> None:
    words = ("--engine", "exhaustive", "--set", "exhaustive.max_tasks=13", "--json")
    answer = cli("solve", EXAMPLES / "word-count.json", *words)
    assert answer.code == 0
    assert json.loads(answer.out)["parameters"] == {
        "exhaustive": {"max_tasks": 13, "max_placements": 10**9}
    }
