"""The sentence for each method: how far, on how many of how many, and what failed."""

from __future__ import annotations

from typing import Any

from slotwise.benchmarks.analysis.aggregate import aggregate
from slotwise.benchmarks.grading.rows import COLUMNS, Row, TermRow
from slotwise.benchmarks.report.answers import answers


def terms(values: tuple[int, int], *, proven: bool = False) -> list[TermRow]:
    return [
        {"term": name, "value": str(value), "bound": str(value) if proven else None}
        for name, value in zip(("overload", "network"), values, strict=True)
    ]


def row(instance: str, method: str, status: str, **more: Any) -> Row:
    exact = status in ("optimal", "infeasible")
    made: Row = {**dict.fromkeys(COLUMNS), "instance_hash": instance, "instance": instance}
    made |= {"kind": "exact" if exact else "heuristic", "method": method, "status": status}
    made |= {"seed": 0, "time_limit_s": 10.0, "wall_s": 1.0, "tasks": 3, "nodes": 2}
    made |= more
    return made


def optimal(instance: str, *values: int) -> Row:
    return row(instance, "auto", "optimal", terms=terms((values[0], values[1]), proven=True))


def valid(instance: str, *values: int) -> Row:
    return row(instance, "m", "valid", terms=terms((values[0], values[1])))


def sentence(*rows: Row) -> str:
    (found,) = answers(aggregate(rows))
    return found.text


def test_distance_is_that_of_the_last_term_and_counts_all_runs() -> None:
    rows = [optimal(name, 0, 10) for name in "abcd"]
    broken = row("d", "m", "invalid", violations=["capacity: node n1"], violation_count=1)
    assert sentence(*rows, valid("a", 0, 10), valid("b", 0, 20), valid("c", 7, 5), broken) == (
        "m: network 50 % above the optimum on average in 2 of 4 (median 50 %, worst 100 %); "
        "overload above its optimum in 1 of 4; optimal in 1 of 4 with a proven optimum; "
        "fails on 1 of 4 (breaks capacity: 1)."
    )


def test_a_method_that_always_overloads_is_told_by_its_overload() -> None:
    assert sentence(optimal("a", 0, 10), valid("a", 7, 5)) == (
        "m: overload 7 on average in its one run, where 0 is possible; "
        "optimal in 0 of 1 with a proven optimum; answers its one run."
    )


def test_right_refusals_are_answers() -> None:
    rows = [optimal("a", 0, 10), valid("a", 0, 10), row("b", "auto", "infeasible")]
    assert sentence(*rows, row("b", "m", "refused", reason="no room")) == (
        "m: network at its optimum in 1 of 2; overload at its optimum in 1 of 2; "
        "optimal in 1 of 1 with a proven optimum; answers all 2 (rightly refuses 1)."
    )


def test_a_bound_is_not_called_an_optimum() -> None:
    exact = row("a", "auto", "feasible", kind="exact")
    exact["terms"] = [
        {"term": "overload", "value": "0", "bound": "0"},
        {"term": "network", "value": "12", "bound": "8"},
    ]
    assert sentence(exact, valid("a", 0, 10)) == (
        "m: overload at its optimum in its one run; "
        "network at most 20 % of its value above the optimum on average in its one run, "
        "where only a bound is proven; answers its one run."
    )


def test_without_the_exact_engine_nothing_is_compared() -> None:
    assert sentence(valid("a", 0, 10)) == (
        "m: nothing is proven to compare it with; answers its one run."
    )
