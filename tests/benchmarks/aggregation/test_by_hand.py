"""A tiny grading whose every number was computed by hand.

| instance | optimum | m | n |
|---|---|---|---|
| a, seed 0 | 0, 10 | 0, 10 | 0, 10 (an older row: 0, 11) |
| a, seed 1 | | 0, 20 | breaks memory |
| b | 2, 6 | 2, 9 | 3, 6 |
| c | infeasible | refused | crashed |
| d | 0, at least 5 (found: 8) | 0, 10 | out of time |
| z | 0, 0 | 0, 0 | 0, 4 |
"""

from __future__ import annotations

from decimal import Decimal
from math import exp, inf, log

import pytest
from graded_rows import row, write_rows

from slotwise.benchmarks.aggregation.runs.run_table import run_table
from slotwise.benchmarks.aggregation.summary import Summary, summary_of
from slotwise.benchmarks.analysis.aggregate import aggregate

LATE = "the command was ended at its time limit (10 s)"
OLDER = [row("a", "n", "valid", ("0", "11"), family="f")]
A, B = {"family": "f"}, {"family": "f", "tasks": 50, "tightness": 0.9}
C, D = {"family": "g", "tightness": 1.2}, {"family": "g", "tasks": 2000}
ROWS = [
    row("a", "auto", "optimal", ("0", "10"), **A),
    row("b", "auto", "optimal", ("2", "6"), **B),
    row("c", "auto", "infeasible", **C),
    row("d", "auto", "feasible", ("0", "8"), ("0", "5"), **D),
    row("z", "auto", "optimal", ("0", "0")),
    row("a", "m", "valid", ("0", "10"), **A),
    row("a", "m", "valid", ("0", "20"), seed=1, **A),
    row("b", "m", "valid", ("2", "9.0"), **B),
    row("c", "m", "refused", reason="no room", **C),
    row("d", "m", "valid", ("0", "10"), **D),
    row("z", "m", "valid", ("0", "0")),
    row("a", "n", "valid", ("0", "10.00"), wall_s=2.0, **A),
    row("a", "n", "invalid", seed=1, violations=["memory: n1", "memory: n2"], wall_s=0.5, **A),
    row("b", "n", "valid", ("3", "6"), **B),
    row("c", "n", "crashed", error="boom", wall_s=0.1, **C),
    row("d", "n", "timeout", error=LATE, wall_s=3.0, **D),
    row("z", "n", "valid", ("0", "4")),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("by-hand"), OLDER, ROWS)


@pytest.fixture(scope="module")
def summary(spark, folder) -> Summary:
    return summary_of(spark, folder, ())


@pytest.fixture(scope="module")
def runs(spark, folder):
    return run_table(spark, folder).toPandas().set_index(["instance", "method", "seed"])


def method(summary, name):
    return summary.methods.set_index("method").loc[name]


def gaps(summary, name, term, measure, basis):
    table = summary.gaps.set_index(["method", "term", "measure", "basis"])
    return table.loc[(name, term, measure, basis)]


COUNTS = {
    "auto": {
        "runs": 5,
        "instances": 5,
        "solved": 5,
        "valid": 4,
        "infeasible": 1,
        "failed": 0,
        "rightly_refused": 0,
        "refused": 0,
        "proven": 4,
        "optimal": 3,
        "common": 3,
        "wins": 0,
        "ties": 0,
        "losses": 0,
        "contradictions": 0,
    },
    "m": {
        "runs": 6,
        "instances": 5,
        "solved": 6,
        "valid": 5,
        "infeasible": 0,
        "failed": 0,
        "rightly_refused": 1,
        "refused": 0,
        "proven": 0,
        "optimal": 2,
        "common": 3,
        "wins": 4,
        "ties": 1,
        "losses": 0,
        "timeouts": 0,
        "common_wins": 2,
        "common_ties": 1,
        "common_losses": 0,
    },
    "n": {
        "runs": 6,
        "instances": 5,
        "solved": 3,
        "valid": 3,
        "infeasible": 0,
        "failed": 3,
        "rightly_refused": 0,
        "refused": 0,
        "proven": 0,
        "optimal": 1,
        "common": 3,
        "wins": 0,
        "ties": 1,
        "losses": 4,
        "timeouts": 1,
        "common_wins": 0,
        "common_ties": 1,
        "common_losses": 2,
    },
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(summary, name):
    told = method(summary, name)
    assert {what: told[what] for what in COUNTS[name]} == COUNTS[name]


def test_methods_stand_in_the_order_of_what_they_solved(summary):
    assert list(summary.methods["method"]) == ["auto", "m", "n"]


def geometric(*seconds):
    return exp(sum(log(s + 0.01) for s in seconds) / len(seconds)) - 0.01


def test_seconds_of_runs_that_did_not_end_count_at_the_limit(summary):
    told = method(summary, "n")
    assert told["seconds"] == pytest.approx(geometric(2, 0.5, 1, 10, 10, 1))
    assert told["common_seconds"] == pytest.approx(geometric(2, 1, 1))
    assert method(summary, "m")["seconds"] == pytest.approx(1)


def test_failures_have_their_reasons(summary):
    told = summary.failures[["method", "status", "why", "runs"]].to_dict("split")["data"]
    assert told == [
        ["n", "crashed", "crashed: boom", 1],
        ["n", "invalid", "breaks memory", 1],
        ["n", "timeout", f"timeout: {LATE}", 1],
    ]


NUMBERS = {
    # Of a the mean over its seeds; on d only overload has a proven optimum.
    ("m", "network", "over_optimum", "all"): [0, 0.5, 0.5],
    ("m", "network", "gap", "all"): [0, 0.25, 1 / 3],
    ("m", "overload", "over_optimum", "all"): [0, 0, 0, 0],
    ("n", "overload", "over_optimum", "all"): [0, 0.5, inf, inf],
    ("n", "network", "over_optimum", "all"): [inf, inf, inf],
    ("virtual best", "network", "over_optimum", "all"): [0, 0.5, 0.5],
    ("auto", "network", "over_optimum", "all"): [0, 0, 0],
    # On b n is above the optimum of overload, on z there is no ratio for n: both say nothing.
    ("m", "network", "over_optimum", "common"): [0],
    ("n", "network", "over_optimum", "common"): [0],
    ("m", "network", "above_zero", "common"): [0],
    ("n", "network", "above_zero", "common"): [4],
    ("n", "overload", "over_optimum", "common"): [0, 0, 0.5],
    ("n", "overload", "gap", "common"): [0, 0, 1 / 3],
    ("m", "network", "gap", "placed"): [0, 0.25, 1 / 3],
    ("m", "network", "gap", "to bound"): [0.5],
    ("auto", "network", "gap", "to bound"): [0.375],
}


@pytest.mark.parametrize("whose", NUMBERS, ids="-".join)
def test_gaps(summary, whose):
    told, numbers = gaps(summary, *whose), NUMBERS[whose]
    finite = [number for number in numbers if number < inf]
    assert (told["instances"], told["reached"]) == (len(numbers), len(finite))
    assert told["at_optimum"] == numbers.count(0)
    assert told["most"] == pytest.approx(numbers[-1])
    mean = sum(numbers) / len(numbers)
    assert told["mean"] == pytest.approx(float("nan") if mean == inf else mean, nan_ok=True)


def test_quantiles_are_linear_and_infinite_next_to_infinity(summary):
    told = gaps(summary, "n", "overload", "over_optimum", "all")
    assert told["q25"] == pytest.approx(0.375)
    assert told["median"] == told["q75"] == told["p95"] == inf
    told = gaps(summary, "m", "network", "gap", "all")
    assert told["median"] == pytest.approx(0.25)
    assert told["p95"] == pytest.approx(0.25 + 0.9 * (1 / 3 - 0.25))


def test_repetitions_over_seeds_make_one_number_and_a_range(summary):
    told = gaps(summary, "m", "network", "gap", "placed")
    assert told["seeds"] == 2
    assert told["seed_range"] == pytest.approx(0.5 / 3)


def test_too_few_instances_have_no_interval(summary):
    assert gaps(summary, "m", "network", "gap", "all")[["mean_low", "p95_high"]].isna().all()


def test_the_distribution_counts_failures_at_no_gap(summary):
    keys = ["method", "term", "measure", "basis", "within"]
    table = summary.ecdf.set_index(keys)["share"].sort_index()
    of_n = table.loc[("n", "overload", "over_optimum", "all")]
    assert (of_n[0.0], of_n[0.4], of_n[0.5], of_n[100.0]) == (0.25, 0.25, 0.5, 0.5)


def test_pairs(summary):
    assert summary.pairs.to_dict("records") == [
        {
            "method": "m",
            "rival": "n",
            "cases": 5,
            "wins": 4,
            "ties": 1,
            "losses": 0,
            "neither": 0,
            "common_wins": 2,
            "common_ties": 1,
            "common_losses": 0,
        }
    ]


def test_too_few_pairs_have_no_p_value(summary):
    table = summary.tests.set_index("term")
    assert table.loc["overload", ["instances", "differing"]].tolist() == [3, 1]
    assert table.loc["network", ["instances", "differing"]].tolist() == [2, 1]
    assert table.loc["network", "median_difference"] == -0.5
    assert table[["p", "p_holm"]].isna().all(axis=None)


PROFILES = {
    ("m", "network"): (1, 1, 1),
    ("n", "network"): (0.2, 0.2, 0.2),
    ("n", "overload"): (0.4, 0.6, 0.6),
    ("m", "seconds"): (1, 1, 1),
    ("n", "seconds"): (0.4, 0.4, 0.6),
}


@pytest.mark.parametrize("whose", PROFILES, ids="-".join)
def test_profiles_are_of_five_cases_without_the_infeasible_one(summary, whose):
    table = summary.profiles.set_index(["method", "profile", "tau"]).sort_index()
    told = table.loc[whose]
    assert set(told["cases"]) == {5}
    assert tuple(told["share"][[1.0, 1.5, 2.0]]) == PROFILES[whose]


def test_heuristics_have_gaps_of_each_term(runs):
    best = runs.loc[("b", "m", 0)]
    assert best["network_value"] == Decimal(9)
    assert best["network_bound"] == Decimal(6)
    assert bool(best["network_proven"])
    assert best["network_gap"] == pytest.approx(1 / 3)
    assert best["network_over_optimum"] == pytest.approx(0.5)
    assert best["overload_gap"] == 0


def test_a_later_term_has_no_gap_before_the_earlier_one_is_settled(runs):
    other = runs.loc[("b", "n", 0)]
    assert other["overload_over_optimum"] == pytest.approx(0.5)
    assert other["network_value"] == Decimal(6)
    assert other[["network_gap", "network_over_optimum"]].isna().all()


def test_a_bound_that_is_no_optimum_has_a_gap_only(runs):
    told = runs.loc[("d", "m", 0)]
    assert not told["network_proven"]
    assert told["network_gap"] == pytest.approx(0.5)
    assert told[["network_over_optimum"]].isna().all()


def test_the_latest_row_counts_alone(runs):
    assert len(runs) == len(ROWS)
    assert runs.loc[("a", "n", 0), "network_value"] == Decimal(10)
    assert bool(runs.loc[("c", "m", 0), "rightly_refused"])


def test_it_agrees_with_the_analysis_in_python(summary):
    theirs = {one.method: one for one in aggregate([*OLDER, *ROWS]).methods}
    assert set(theirs) == set(summary.methods["method"])
    for name, one in theirs.items():
        told = method(summary, name)
        for what in ("runs", "valid", "refused", "infeasible", "rightly_refused", "failed"):
            assert told[what] == getattr(one, what)
        for what in ("optimal", "wins", "ties", "losses"):
            assert told[what] == getattr(one, what)
        assert told["solved"] == one.succeeded
        assert told["seconds"] == pytest.approx(one.seconds)
        mine = summary.failures[summary.failures["method"] == name]
        reasons = {why: n for why, n in one.reasons if why != "proven infeasible"}
        assert dict(zip(mine["why"], mine["runs"], strict=True)) == reasons


def test_classes(spark, folder):
    told = summary_of(spark, folder, ("family", "size")).methods
    of_m = told[told["method"] == "m"][["family", "size", "runs", "solved", "common"]]
    assert of_m.to_dict("split")["data"] == [
        ["(files)", "<10", 1, 1, 1],
        ["f", "<10", 2, 2, 1],
        ["f", "10 to <100", 1, 1, 1],
        ["g", "<10", 1, 1, 0],
        # Nobody else placed anything there: m alone makes the common set.
        ["g", ">=1000", 1, 1, 1],
    ]
