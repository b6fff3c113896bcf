"""The sentence for each method: how far, on how many of how many, and what failed."""

from __future__ import annotations

from graded_rows import optimum, row

from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.judged.reading import judged_rows
from slotwise.benchmarks.judged.summary import summarise
from slotwise.benchmarks.report.answers import answers


def valid(instance: str, overload: str, network: str) -> Row:
    return row(instance, "m", "valid", (overload, network))


def sentence(*rows: Row) -> str:
    (found,) = answers(summarise(judged_rows(rows), ""))
    return found.text


def test_distance_is_that_of_the_last_term_on_what_all_place() -> None:
    rows = [optimum(name, "0", "10") for name in "abcd"]
    broken = row("d", "m", "broken rule", violations=["capacity: node n1"], violation_count=1)
    runs = [valid("a", "0", "10"), valid("b", "0", "20"), valid("c", "7", "5"), broken]
    assert sentence(*rows, *runs) == (
        "m: network 50 % above the optimum on average over the 2 that all methods place "
        "(median \N{INFINITY}, 95th percentile \N{INFINITY} of all 4); "
        "overload at its optimum on 2 of 4; optimal on 1 of 4; "
        "fails in 1 of 4 runs (breaks capacity: 1)."
    )


def test_a_method_that_always_overloads_has_no_finite_gap() -> None:
    assert sentence(optimum("a", "0", "10"), valid("a", "7", "5")) == (
        "m: network \N{INFINITY} above the optimum in the median of 1; "
        "overload at its optimum on 0 of 1; optimal on 0 of 1; no failures."
    )


def test_right_refusals_are_no_failures() -> None:
    rows = [optimum("a", "0", "10"), valid("a", "0", "10"), row("b", "auto", "infeasible")]
    assert sentence(*rows, row("b", "m", "refused", reason="no room")) == (
        "m: network at its optimum on all 1; optimal on 1 of 1; no failures (rightly refuses 1)."
    )


def test_what_a_method_does_not_apply_to_is_counted_apart() -> None:
    rows = [optimum("a", "0", "10"), optimum("b", "0", "10"), valid("a", "0", "10")]
    assert sentence(*rows, row("b", "m", "does not apply", reason="reads no racks")) == (
        "m: network at its optimum on all 1; optimal on 1 of 1; does not apply to 1; no failures."
    )


def test_without_a_proof_the_gap_goes_from_the_best_known_to_the_bound() -> None:
    exact = row("a", "auto", "feasible", ("0", "10"), ("0", "8"))
    assert sentence(exact, valid("a", "0", "12")) == (
        "m: network 20 to 50 % above the optimum on average over the 1 that all methods place "
        "(median 20 to 50 %, 95th percentile 20 to 50 % of all 1); optimal on 0 of 1; no failures."
    )


def test_without_the_exact_engine_the_bound_is_missing() -> None:
    assert sentence(valid("a", "0", "10")) == (
        "m: network 0 % to \N{INFINITY} above the optimum on average over the 1 that all methods "
        "place (median 0 % to \N{INFINITY}, 95th percentile 0 % to \N{INFINITY} of all 1); "
        "overload at its optimum on 0 of 1; optimal on 0 of 1; no failures."
    )
