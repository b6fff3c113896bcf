"""The sentence for each method: how far, on how many of how many, and what failed."""

from __future__ import annotations

from graded_rows import optimum, row

from slotwise.benchmarks.analysis.aggregate import aggregate
from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.report.answers import answers


def valid(instance: str, overload: str, network: str) -> Row:
    return row(instance, "m", "valid", (overload, network))


def sentence(*rows: Row) -> str:
    (found,) = answers(aggregate(rows))
    return found.text


def test_distance_is_that_of_the_last_term_of_most_objectives_and_counts_all_runs() -> None:
    rows = [optimum(name, "0", "10") for name in "abcd"]
    broken = row("d", "m", "invalid", violations=["capacity: node n1"], violation_count=1)
    runs = [valid("a", "0", "10"), valid("b", "0", "20"), valid("c", "7", "5"), broken]
    assert sentence(*rows, *runs) == (
        "m: network 50 % above the optimum on average in 2 of 4 (median 50 %, worst 100 %); "
        "overload above its optimum in 1 of 4; optimal in 1 of 4 with a proven optimum; "
        "fails on 1 of 4 (breaks capacity: 1)."
    )


def test_terms_that_few_objectives_have_count_among_those_that_have_them() -> None:
    few = {"terms": ("overload", "workers")}
    rows = [optimum("a", "0", "10"), optimum("b", "0", "10"), optimum("c", "0", "1", **few)]
    more = row("c", "m", "valid", ("0", "2"), **few)
    assert sentence(*rows, valid("a", "0", "20"), valid("b", "0", "10"), more) == (
        "m: network 50 % above the optimum on average in all 2 that count it "
        "(median 50 %, worst 100 %); overload at its optimum in all 3; "
        "workers above its optimum in the one that counts it; "
        "optimal in 1 of 3 with a proven optimum; answers all 3."
    )


def test_a_method_that_always_overloads_is_told_by_its_overload() -> None:
    assert sentence(optimum("a", "0", "10"), valid("a", "7", "5")) == (
        "m: overload 7 on average in its one run, where 0 is possible; "
        "optimal in 0 of 1 with a proven optimum; answers its one run."
    )


def test_right_refusals_are_answers() -> None:
    rows = [optimum("a", "0", "10"), valid("a", "0", "10"), row("b", "auto", "infeasible")]
    assert sentence(*rows, row("b", "m", "refused", reason="no room")) == (
        "m: network at its optimum in 1 of 2; overload at its optimum in 1 of 2; "
        "optimal in 1 of 1 with a proven optimum; answers all 2 (rightly refuses 1)."
    )


def test_a_bound_is_not_called_an_optimum() -> None:
    exact = row("a", "auto", "feasible", ("0", "12"), ("0", "8"))
    assert sentence(exact, valid("a", "0", "10")) == (
        "m: overload at its optimum in its one run; "
        "network at most 20 % of its value above the optimum on average in its one run, "
        "where only a bound is proven; answers its one run."
    )


def test_without_the_exact_engine_nothing_is_compared() -> None:
    assert sentence(valid("a", "0", "10")) == (
        "m: nothing is proven to compare it with; answers its one run."
    )
