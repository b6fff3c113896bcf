"""A tiny grading whose every number was computed by hand.

| instance | optimum | m | n |
|---|---|---|---|
| a, seed 0 | 0, 10 | 0, 10 | 0, 10 (an older row: 0, 11) |
| a, seed 1 | | 0, 20 | breaks memory |
| b | 2, 6 | 2, 9 | 3, 6 |
| c | infeasible | refused | crashed |
| d | 0, at least 5 (best known: 8) | 0, 10 | out of time |
| z | 0, 0 | 0, 0 | 0, 4 |
"""

from __future__ import annotations

from decimal import Decimal
from math import exp, inf, isnan, log

import pytest
from graded_rows import optimum, row, write_rows

import slotwise
from slotwise.benchmarks.judged.method_table import method_tables
from slotwise.benchmarks.judged.reading import judged_rows
from slotwise.benchmarks.judged.summary import Summary, summarise

LATE = "the command was ended at its time limit (10 s)"
OLDER = [row("a", "n", "valid", ("0", "11"), family="f")]
A, B = {"family": "f"}, {"family": "f", "tasks": 50, "tightness": 0.9}
C, D = {"family": "g", "tightness": 1.2}, {"family": "g", "tasks": 2000}
ROWS = [
    row("a", "auto", "optimal", ("0", "10"), throughput=100.0, latency_ms=2.0, **A),
    row("b", "auto", "optimal", ("2", "6"), **B),
    row("c", "auto", "infeasible", **C),
    row("d", "auto", "feasible", ("0", "8"), ("0", "5"), **D),
    row("z", "auto", "optimal", ("0", "0")),
    row("a", "m", "valid", ("0", "10"), throughput=400.0, latency_ms=3.0, **A),
    row("a", "m", "valid", ("0", "20"), seed=1, throughput=25.0, **A),
    row("b", "m", "valid", ("2", "9.0"), **B),
    row("c", "m", "refused", reason="no room", **C),
    row("d", "m", "valid", ("0", "10"), **D),
    row("z", "m", "valid", ("0", "0")),
    row("a", "n", "valid", ("0", "10.00"), wall_s=2.0, **A),
    row("a", "n", "broken rule", seed=1, violations=["memory: n1", "memory: n2"], wall_s=0.5, **A),
    row("b", "n", "valid", ("3", "6"), **B),
    row("c", "n", "crashed", error="boom", wall_s=0.1, **C),
    row("d", "n", "timeout", error=LATE, wall_s=3.0, **D),
    row("z", "n", "valid", ("0", "4")),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("by-hand"), OLDER, ROWS)


@pytest.fixture(scope="module")
def summary(folder) -> Summary:
    return slotwise.summary(folder)


@pytest.fixture(scope="module")
def runs(folder):
    return slotwise.read_rows(folder).set_index(["instance", "method", "seed"]).sort_index()


def method(summary, name):
    return summary.methods.set_index("method").loc[name]


COUNTS = {
    "auto": {"runs": 5, "valid": 4, "infeasible": 1, "failed": 0, "proven": 3, "bounded": 1,
             "open": 0, "instances": 4, "placed": 4, "at_optimum": 3},
    "m": {"runs": 6, "valid": 5, "rightly_refused": 1, "refused": 0, "failed": 0, "instances": 4,
          "placed": 4, "at_optimum": 1, "wins": 4, "ties": 0, "losses": 0},
    "n": {"runs": 6, "valid": 3, "broken_rule": 1, "crashed": 1, "timeout": 1, "failed": 3,
          "instances": 4, "placed": 2, "at_optimum": 0, "wins": 0, "ties": 0, "losses": 4},
}  # fmt: skip


def test_worth_is_over_that_of_the_optimum(summary):
    worth = {
        name: method(summary, name)[["throughput_ratio", "latency_ratio"]].tolist()
        for name in ("auto", "m", "n")
    }
    # Of m, 4 and 1/4 in throughput, and of one run 3/2 in latency; of n nothing was predicted.
    assert worth["auto"] == [1.0, 1.0]
    assert worth["m"] == pytest.approx([1.0, 1.5])
    assert all(map(isnan, worth["n"]))


@pytest.mark.parametrize("name", COUNTS)
def test_counts(summary, name):
    told = method(summary, name)
    assert {what: told[what] for what in COUNTS[name]} == COUNTS[name]


def test_methods_stand_in_the_order_of_what_they_placed(summary):
    assert list(summary.methods["method"]) == ["auto", "m", "n"]


def test_the_basis_says_what_is_left_out(summary):
    (group,) = summary.groups.to_dict("records")
    assert (group["instances"], group["proven"], group["bounded"], group["open"]) == (4, 3, 1, 0)
    assert group["basis"] == "Compared on 4 instances, without 1 proven infeasible."


def test_seconds_of_runs_that_did_not_end_count_at_the_limit(summary):
    times = (2, 0.5, 1, 10, 1)  # Without the instance that is proven infeasible.
    mean = exp(sum(log(s + 0.01) for s in times) / len(times)) - 0.01
    assert method(summary, "n")["seconds"] == pytest.approx(mean)


def test_failures_have_their_reasons(summary):
    told = summary.failures[["method", "status", "why", "runs"]].to_dict("split")["data"]
    assert told == [
        ["n", "broken rule", "breaks memory", 1],
        ["n", "crashed", "crashed: boom", 1],
        ["n", "timeout", f"timeout: {LATE}", 1],
    ]


GAPS = {
    # Method, term -> the least and the greatest gaps on a (mean over seeds), b, d, z; common.
    ("m", "overload"): ([0, 0, 0, 0], [0, 0, 0, 0], 2),
    ("m", "network"): ([0.5, 0.5, 0.25, 0], [0.5, 0.5, 1, 0], 0),
    # On b it is above the optimum of overload, on z above an optimum of 0.
    ("n", "overload"): ([inf, 0.5, inf, 0], [inf, 0.5, inf, 0], 2),
    ("n", "network"): ([inf, inf, inf, inf], [inf, inf, inf, inf], 0),
    ("auto", "network"): ([0, 0, 0, 0], [0, 0, 0.6, 0], 0),
    ("virtual best", "network"): ([0.5, 0.5, 0.25, 0], [0.5, 0.5, 1, 0], 0),
}


def quantile(ordered, share):
    place = share * (len(ordered) - 1)
    low, high = ordered[int(place)], ordered[min(int(place) + 1, len(ordered) - 1)]
    return low if low == high or place == int(place) else low + (place % 1) * (high - low)


@pytest.mark.parametrize("whose", GAPS, ids="-".join)
def test_gaps(summary, whose):
    low, high, common = GAPS[whose]
    told = summary.gaps.set_index(["method", "term"]).loc[whose]
    assert (told["instances"], told["common"]) == (4, common)
    assert told["finite"] == sum(gap < inf for gap in low)
    assert told["at_optimum"] == high.count(0)
    for end, gaps in (("low", sorted(low)), ("high", sorted(high))):
        assert told[f"most_{end}"] == pytest.approx(gaps[-1])
        for name, share in {"q25": 0.25, "median": 0.5, "q75": 0.75, "p95": 0.95}.items():
            assert told[f"{name}_{end}"] == pytest.approx(quantile(gaps, share)), name


def test_means_are_over_what_every_method_placed(summary):
    told = summary.gaps.set_index(["method", "term"])
    assert told.loc[("n", "overload"), ["mean_low", "mean_high"]].tolist() == [0.25, 0.25]
    assert told.loc[("m", "overload"), "mean_low"] == 0
    assert isnan(told.loc[("m", "network"), "mean_low"])


def test_too_few_instances_have_no_interval(summary):
    assert summary.gaps[["mean_ci_low", "p95_ci_high"]].isna().all(axis=None)


def test_gaps_of_solvers_are_of_the_value(folder):
    told = slotwise.summary(folder, solver_gap=True)
    (gap,) = told.gaps[(told.gaps["method"] == "n") & (told.gaps["term"] == "overload")].to_dict(
        "records"
    )
    assert gap["most_low"] == inf
    assert gap["q25_low"] == pytest.approx(1 / 3 * 0.75)
    assert told.to_document()["gap"] == "solver"


def test_the_distribution_counts_failures_at_no_gap(summary):
    table = summary.ecdf.set_index(["method", "term", "within"]).sort_index()
    shares = table.loc[("n", "overload")]["share_low"]
    assert (shares[0.0], shares[0.4], shares[0.5], shares[100.0]) == (0.25, 0.25, 0.5, 0.5)
    of_m = table.loc[("m", "network", 0.5)]
    assert (of_m["share_low"], of_m["share_high"]) == (0.75, 1)


def test_pairs(summary):
    told = {"wins": 4, "ties": 0, "losses": 0, "both_fail": 0}
    assert summary.pairs.to_dict("records") == [
        {"group": 1, "method": "m", "rival": "n", "instances": 4, **told}
    ]


def test_too_few_pairs_have_no_p_value(summary):
    table = summary.tests.set_index("term")
    assert table.loc["overload", ["instances", "differing"]].tolist() == [2, 1]
    assert table.loc["network", ["instances", "differing"]].tolist() == [1, 1]
    assert table.loc["network", "median_difference"] == -1
    assert table[["p", "p_holm"]].isna().all(axis=None)


PROFILES = {
    ("m", "network"): (0.25, 1, 1),
    ("n", "network"): (0, 0, 0),
    ("n", "overload"): (0.25, 0.5, 0.5),
    ("m", "seconds"): (1, 1, 1),
    ("n", "seconds"): (0.5, 0.5, 0.5),
}


@pytest.mark.parametrize("whose", PROFILES, ids="-".join)
def test_profiles_are_of_the_same_instances(summary, whose):
    table = summary.profiles.set_index(["method", "profile", "tau"]).sort_index()
    assert tuple(table.loc[whose]["share"][[1.0, 1.5, 2.0]]) == PROFILES[whose]


def test_runs_have_gaps_of_each_term(runs):
    best = runs.loc[("b", "m", 0)]
    assert (best["network_value"], best["network_bound"]) == (Decimal(9), Decimal(6))
    assert bool(best["network_proven"])
    assert best["network_gap_low"] == best["network_gap_high"] == pytest.approx(0.5)
    assert best["overload_gap_low"] == 0


def test_a_later_term_has_no_finite_gap_before_the_earlier_one_is_settled(runs):
    other = runs.loc[("b", "n", 0)]
    assert other["overload_gap_low"] == pytest.approx(0.5)
    assert other["network_value"] == Decimal(6)
    assert other["network_gap_low"] == inf


def test_without_a_proof_the_gap_lies_between_best_known_and_bound(runs):
    told = runs.loc[("d", "m", 0)]
    assert not told["network_proven"]
    assert (told["network_best_known"], told["network_bound"]) == (Decimal(8), Decimal(5))
    assert (told["network_gap_low"], told["network_gap_high"]) == (0.25, 1)


def test_the_latest_row_counts_alone(runs):
    assert len(runs) == len(ROWS)
    assert runs.loc[("a", "n", 0), "network_value"] == Decimal(10)
    assert bool(runs.loc[("c", "m", 0), "rightly_refused"])


def test_classes(folder):
    told = slotwise.summary(folder, by=("family", "size")).methods
    of_m = told[told["method"] == "m"][["family", "size", "runs", "placed"]]
    assert of_m.astype(object).where(of_m.notna(), None).to_dict("split")["data"] == [
        ["(files)", "<10", 1, 1],
        ["f", "<10", 2, 1],
        ["f", "10 to <100", 1, 1],
        ["g", "<10", 1, None],  # Proven infeasible: nothing is compared there.
        ["g", ">=1000", 1, 1],
    ]


def test_the_spread_of_the_mean_is_over_seeds_that_ran_everywhere():
    def runs(method, *gaps):
        return [
            row(name, method, "valid", ("0", str(100 + gap)), seed=seed)
            for name, of_seeds in zip("ab", gaps, strict=True)
            for seed, gap in enumerate(of_seeds)
        ]

    draws = runs("draws", (0, 30, 90), (10, 50))  # Seed 2 ran on a alone.
    optima = [optimum(name, "0", "100") for name in "ab"]
    summary = summarise(judged_rows([*optima, *draws, *runs("settled", (20,), (20,))]), "out")
    means = summary.methods.set_index("method")
    assert means.loc["draws", "network_mean_low"] == pytest.approx((0.4 + 0.3) / 2)
    ends = ["network_mean_seeds_low", "network_mean_seeds_high"]
    assert means.loc["draws", ends].tolist() == pytest.approx([0.05, 0.4])
    assert means.loc["settled", ends].isna().all()
    (table,) = method_tables(summary)
    cells = {line[0]: dict(zip(table.heads, line, strict=True)) for line in table.rows}
    assert cells["draws"]["network mean by seed"] == "5 to 40 %"
    assert cells["settled"]["network mean by seed"] == "-"
