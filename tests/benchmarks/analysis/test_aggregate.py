from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from slotwise.benchmarks.analysis.aggregate import aggregate
from slotwise.benchmarks.analysis.cases import latest
from slotwise.benchmarks.analysis.gaps import gap_of, reference_of, values_of
from slotwise.benchmarks.analysis.measures import (
    details_of,
    reason_of,
    seconds_of,
    shifted_geometric_mean,
)
from slotwise.benchmarks.grading.rows import COLUMNS, Row
from slotwise.benchmarks.report.failures import failures
from slotwise.benchmarks.report.figures.figures import charts

TERMS = ("overload", "network")


def row(
    instance: str,
    method: str,
    status: str,
    values: tuple[str | None, ...] | None = None,
    bounds: tuple[str | None, ...] = (None, None),
    **more: Any,
) -> Row:
    exact = status in ("optimal", "feasible", "infeasible", "unknown")
    terms = None
    if values is not None:
        terms = [
            {"term": t, "value": v, "bound": b}
            for t, v, b in zip(TERMS, values, bounds, strict=True)
        ]
    return {
        **dict.fromkeys(COLUMNS),
        "instance_hash": instance,
        "instance": instance,
        "kind": "exact" if exact else "heuristic",
        "method": method,
        "seed": 0,
        "time_limit_s": 10.0,
        "status": status,
        "terms": terms,
        "wall_s": 1.0,
        "tasks": 3,
        "nodes": 2,
        "tightness": 0.5,
        **more,
    }


def optimal(instance: str, *values: str) -> Row:
    return row(instance, "auto", "optimal", values, values)


def valid(instance: str, method: str, *values: str, **more: Any) -> Row:
    return row(instance, method, "valid", values, **more)


def gap_against(values: tuple[str, ...], exact: Row) -> Any:
    reference = reference_of([exact])
    assert reference is not None
    return gap_of(tuple(map(Fraction, values)), reference)


def test_gap_is_relative_to_the_value() -> None:
    gap = gap_against(("0", "12.5"), optimal("a", "0", "10"))
    assert (gap.term, gap.absolute, gap.to_optimum) == ("network", Fraction(5, 2), True)
    assert gap.relative == pytest.approx(0.2)


def test_gap_belongs_to_the_first_term_that_differs() -> None:
    gap = gap_against(("5", "1"), optimal("a", "4", "10"))
    assert (gap.term, gap.relative) == ("overload", pytest.approx(0.2))


def test_zero_optimum_has_an_absolute_gap_only() -> None:
    gap = gap_against(("3", "1"), optimal("a", "0", "10"))
    assert (gap.term, gap.absolute, gap.relative) == ("overload", 3, None)


def test_gap_to_bound_is_not_called_gap_to_optimum() -> None:
    exact = row("a", "auto", "feasible", ("0", "12"), ("0", "8"))
    gap = gap_against(("0", "10"), exact)
    assert (gap.relative, gap.to_optimum) == (pytest.approx(0.2), False)


def test_optimum_of_an_earlier_term_counts_as_optimum_though_the_last_is_open() -> None:
    exact = row("a", "auto", "feasible", ("2", "12"), ("2", "8"))
    assert gap_against(("4", "1"), exact).to_optimum


def test_no_gap_without_a_bound() -> None:
    exact = row("a", "auto", "feasible", ("2", "12"), ("1", None))
    assert gap_against(("1", "3"), exact) is None


def test_attaining_the_bound_is_optimal_even_where_the_engine_did_not() -> None:
    exact = row("a", "auto", "feasible", ("0", "12"), ("0", "8"))
    gap = gap_against(("0", "8"), exact)
    assert (gap.absolute, gap.to_optimum) == (0, True)
    found = aggregate([exact, valid("a", "m", "0", "8")]).methods[1]
    assert (found.optimal, found.terms["network"].to_bound.count) == (1, 0)


def test_strongest_reference_is_used_whatever_the_order() -> None:
    weak = row("a", "auto", "feasible", ("0", "12"), ("0", "8"), seed=1)
    strong = optimal("a", "0", "9")
    for rows in ([weak, strong], [strong, weak]):
        reference = reference_of(rows)
        assert reference is not None
        assert reference.proven


def test_invalid_placement_is_a_failure_without_a_gap() -> None:
    broken = row(
        "a",
        "m",
        "invalid",
        ("0", "1"),
        violations=["capacity: node n1, memory_mb: 9 needed, 8 available"],
        violation_count=1,
    )
    assert values_of(broken) is None
    summary = aggregate([optimal("a", "0", "10"), broken])
    method = summary.methods[1]
    assert (method.valid, method.failed, method.terms) == (0, 1, {})
    assert method.reasons == (("breaks capacity", 1),)
    assert not summary.contradictions
    assert summary.excluded == ("m",)


def test_failing_on_hard_instances_gives_no_advantage_on_the_common_set() -> None:
    rows = [
        optimal("easy", "0", "10"),
        optimal("hard", "0", "10"),
        valid("easy", "steady", "0", "10"),
        valid("hard", "steady", "0", "20"),
        valid("easy", "picky", "0", "12.5"),
        row("hard", "picky", "refused", reason="too hard"),
    ]
    methods = {m.method: m for m in aggregate(rows).methods}
    assert methods["steady"].terms["network"].common.mean == 0.0
    assert methods["picky"].terms["network"].common.mean == pytest.approx(0.25)
    assert methods["picky"].refused == 1
    assert (methods["steady"].wins, methods["picky"].losses) == (2, 2)


def test_no_mean_mixes_two_terms() -> None:
    rows = [
        optimal("overloaded", "10", "10"),
        optimal("free", "0", "10"),
        optimal("spread", "0", "10"),
        valid("overloaded", "m", "15", "5"),
        valid("free", "m", "3", "5"),
        valid("spread", "m", "0", "20"),
    ]
    terms = aggregate(rows).methods[1].terms
    overload, network = terms["overload"], terms["network"]
    assert (overload.cases, overload.at_optimum) == (3, 1)
    assert overload.excess.mean == pytest.approx((0.5 + 0) / 2), "of those with an optimum above 0"
    assert (overload.above_zero.count, overload.above_zero.mean) == (1, 3.0)
    assert (network.cases, network.at_optimum) == (1, 0), "elsewhere overload is not settled"
    assert (network.excess.mean, network.to_optimum.mean) == (1.0, 0.5)


def test_a_term_is_compared_on_the_cases_in_which_it_counts_for_all() -> None:
    rows = [
        optimal("x", "0", "10"),
        optimal("y", "0", "10"),
        valid("x", "a", "0", "10"),
        valid("y", "a", "0", "30"),
        valid("x", "b", "0", "20"),
        valid("y", "b", "1", "10"),
    ]
    found = {m.method: m.terms["network"] for m in aggregate(rows).methods}
    assert (found["a"].common.count, found["a"].common.mean) == (1, 0.0)
    assert (found["b"].common.count, found["b"].common.mean) == (1, 1.0)
    assert (found["a"].excess.count, found["a"].excess.mean) == (2, 1.0)


def test_common_means_leave_out_for_all_what_has_no_ratio_for_one() -> None:
    rows = [
        optimal("x", "0", "10"),
        optimal("zero", "0", "0"),
        valid("x", "a", "0", "10"),
        valid("zero", "a", "0", "0"),
        valid("x", "b", "0", "20"),
        valid("zero", "b", "0", "3"),
    ]
    found = {m.method: m.terms["network"] for m in aggregate(rows).methods}
    assert (found["a"].common.count, found["a"].common.mean) == (1, 0.0)
    assert (found["b"].common.count, found["b"].common.mean) == (1, 1.0)
    assert (found["a"].excess.count, found["b"].above_zero.count) == (2, 1)


def test_methods_stand_in_the_order_of_their_distance_term_by_term() -> None:
    rows = [
        optimal("x", "0", "10"),
        valid("x", "a", "1", "1"),
        valid("x", "b", "0", "30"),
        valid("x", "c", "0", "20"),
        row("x", "d", "refused", reason="no"),
    ]
    summary = aggregate(rows)
    assert summary.terms == ("overload", "network")
    assert [m.method for m in summary.methods] == ["auto", "c", "b", "a", "d"]


def test_terms_stand_in_the_order_of_the_longest_objective() -> None:
    """Else the first instance, which counts traffic alone, would put it before overload."""
    traffic = {"term": "network", "value": "7", "bound": "7"}
    rows = [row("x", "auto", "optimal", terms=[traffic]), optimal("y", "0", "10")]
    assert aggregate(rows).terms == ("overload", "network")


def test_win_tie_loss_and_virtual_best() -> None:
    rows = [
        valid("x", "a", "0", "5"),
        valid("x", "b", "0", "5"),
        valid("y", "a", "0", "5"),
        valid("y", "b", "1", "2"),
    ]
    summary = aggregate(rows)
    found = {m.method: (m.wins, m.ties, m.losses) for m in summary.methods}
    assert found == {"a": (1, 1, 0), "b": (0, 1, 1)}
    assert summary.virtual_best["y", 0] == (0, 5)


def test_value_below_a_proven_bound_is_reported_as_a_contradiction() -> None:
    rows = [optimal("a", "0", "10"), valid("a", "m", "0", "9")]
    assert aggregate(rows).contradictions == (
        "m on a (seed 0): network is 1 below the proven bound",
    )


def test_placement_of_an_infeasible_instance_is_a_contradiction() -> None:
    exact = row("a", "auto", "infeasible", (None, None))
    assert "proven infeasible" in aggregate([exact, valid("a", "m", "0", "9")]).contradictions[0]


def test_infeasible_cases_are_no_failure_of_the_engine_and_nobodys_loss() -> None:
    rows = [
        row("a", "auto", "infeasible", (None, None)),
        row("a", "m", "refused", reason="no room"),
        optimal("b", "0", "9"),
        valid("b", "m", "0", "9"),
        optimal("c", "0", "9"),
        valid("c", "m", "0", "18"),
    ]
    summary = aggregate(rows)
    exact, method = summary.methods
    assert (exact.infeasible, exact.failed) == (1, 0)
    assert (method.wins, method.ties, method.losses) == (2, 0, 0)
    assert ("network", "m", "2", "50.0 %") in [one[:4] for one in table(rows, PROFILES)]
    assert failures(rows) == ()


def test_a_refusal_is_right_only_where_the_instance_is_proven_infeasible() -> None:
    rows = [
        row("none", "auto", "infeasible", (None, None)),
        row("some", "auto", "optimal", ("0", "9"), ("0", "9")),
        row("open", "auto", "unknown", (None, None)),
        *(row(name, "m", "refused", reason="no") for name in ("none", "some", "open")),
        *(row(name, "cmd:x", "crashed", error="exit code 1") for name in ("none", "some", "open")),
    ]
    found = {m.method: m for m in aggregate(rows).methods}
    assert [(m.succeeded, m.refused, m.rightly_refused, m.failed) for m in found.values()] == [
        (2, 0, 0, 1),
        (1, 2, 1, 0),
        (0, 0, 0, 3),
    ]
    assert found["m"].reasons == (("refused: no", 2),)
    told = {
        (one.method, group.kind, failure.instance)
        for one in failures(rows)
        for group in one.groups
        for failure in group.examples
    }
    assert told == {
        ("auto", "nothing found within the limit", "open"),
        ("m", "refused", "some"),
        ("m", "refused", "open"),
        ("cmd:x", "crashed", "none (infeasible)"),
        ("cmd:x", "crashed", "some"),
        ("cmd:x", "crashed", "open"),
    }
    assert [(one.method, one.count, one.runs) for one in failures(rows)] == [
        ("auto", 1, 3),
        ("cmd:x", 3, 3),
        ("m", 2, 3),
    ]


def test_a_method_that_refuses_what_is_impossible_stands_before_one_that_breaks_rules() -> None:
    rows = [
        row("none", "auto", "infeasible", (None, None)),
        row("none", "a", "invalid", ("0", "1"), violations=["slots: n"], violation_count=1),
        row("none", "b", "refused", reason="no"),
    ]
    assert [m.method for m in aggregate(rows).methods] == ["auto", "b", "a"]


def test_later_row_of_a_case_replaces_the_earlier() -> None:
    rows = [valid("a", "m", "0", "9"), valid("a", "m", "0", "8", time_limit_s=20.0)]
    assert [r["time_limit_s"] for r in latest(rows)] == [20.0]


def test_shifted_geometric_mean() -> None:
    assert shifted_geometric_mean([1.0, 100.0], shift=0.0) == pytest.approx(10.0)
    assert shifted_geometric_mean([0.0, 0.0]) == pytest.approx(0.0)
    assert shifted_geometric_mean([]) == 0.0


def test_run_that_was_killed_counts_at_its_limit() -> None:
    assert seconds_of(row("a", "m", "crashed", error="died by SIGSEGV")) == 10.0
    assert seconds_of(row("a", "m", "refused", reason="no")) == 1.0


def test_overload_and_nodes_are_means_over_valid_runs() -> None:
    rows = [
        valid("a", "m", "4", "1", placement='{"nodes":[0,0,1],"workers":[0,0,0]}'),
        valid("b", "m", "2", "1", placement='{"nodes":[0],"workers":[0]}'),
    ]
    (method,) = aggregate(rows).methods
    assert (method.overload.mean, method.nodes_used.mean) == (3.0, 1.5)


@pytest.mark.parametrize(
    ("status", "more", "reason"),
    [
        ("valid", {}, None),
        ("refused", {"reason": "no room"}, "refused: no room"),
        ("infeasible", {}, "proven infeasible"),
        ("unknown", {}, "nothing found within the limit"),
        ("crashed", {"error": "died by SIGSEGV"}, "crashed: died by SIGSEGV"),
    ],
)
def test_reasons(status: str, more: dict[str, str], reason: str | None) -> None:
    assert reason_of(row("a", "m", status, **more)) == reason


def test_details_count_the_violations_that_a_row_does_not_name() -> None:
    broken = row("a", "m", "invalid", violations=["slots: node n1"], violation_count=5)
    assert details_of(broken) == ("slots: node n1", "and 4 more")


PROFILES, GAPS = "performance-profiles", "gap-distribution"


def table(rows: list[Row], name: str) -> tuple[tuple[str, ...], ...]:
    """Return the table behind a chart of the report."""
    (found,) = [one.figure() for one in charts(rows, aggregate(rows)) if one.name == name]
    return found.rows


def test_curves_count_failures_as_never() -> None:
    rows = [
        optimal("x", "0", "10"),
        optimal("y", "0", "10"),
        valid("x", "m", "0", "20"),
        row("y", "m", "refused", reason="no"),
        valid("x", "n", "0", "10"),
        valid("y", "n", "1", "5"),
    ]
    profiles = {one[:2]: one[2:] for one in table(rows, PROFILES)}
    assert profiles["network", "m"] == ("2", "0.0 %", "0.0 %", "0.0 %", "50.0 %", "infinite")
    overload = profiles["overload", "n"]
    assert overload[-1] == "infinite", "1 overload where 0 is possible is infinitely worse"
    assert profiles["network", "auto (exact)"][1] == "100.0 %"
    assert ("network", "virtual best") in profiles
    gaps = {one[:2]: one[2:] for one in table(rows, GAPS)}
    assert gaps["network", "m"][:4] == ("1", "2", "0.0 %", "100 %")
    assert gaps["network", "n"][:3] == ("1", "2", "50.0 %")
