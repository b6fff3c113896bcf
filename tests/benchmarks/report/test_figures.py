"""Charts: the table behind each against a hand computation, and what each SVG must have."""

from __future__ import annotations

import itertools
import math
import random
import re
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import DEEP
from drawn_charts import charts_of, drawn, newest, source_of, table
from graded_rows import optimum, row
from matplotlib.backends.backend_agg import FigureCanvasAgg

from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.judged.method_table import interval_text
from slotwise.benchmarks.report.figures.by_property import MOST_BINS, bins
from slotwise.benchmarks.report.figures.chart import Chart, Figure
from slotwise.benchmarks.report.figures.curves import TIMES_BEST, WITHIN
from slotwise.benchmarks.report.figures.drawing.canvas import image
from slotwise.benchmarks.report.figures.drawing.colours import ROLES
from slotwise.benchmarks.report.figures.drawing.lines import spread, steps
from slotwise.benchmarks.report.figures.overload import SHADES, overloads
from slotwise.benchmarks.report.figures.source import Source
from slotwise.benchmarks.report.figures.traffic import traffic
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem

SVG = "{http://www.w3.org/2000/svg}"


def graded() -> list[Row]:
    """Four instances and two methods: `far` overloads d, `near` refuses c."""
    return [
        optimum("a", "0", "10", tasks=4, throughput=100.0, latency_ms=4.0),
        optimum("b", "0", "20", tasks=8, throughput=100.0, latency_ms=4.0),
        optimum("c", "0", "40", tasks=16),
        optimum("d", "0", "80", tasks=32),
        row("a", "near", "valid", ("0", "10"), tasks=4, throughput=100.0, latency_ms=4.0),
        row("b", "near", "valid", ("0", "22"), tasks=8, throughput=121.0),
        row("c", "near", "refused", tasks=16),
        row("d", "near", "valid", ("0", "80"), tasks=32),
        row("a", "far", "valid", ("0", "20"), tasks=4, throughput=50.0, latency_ms=8.0),
        row("b", "far", "valid", ("0", "30"), tasks=8, throughput=200.0, latency_ms=2.0),
        row("c", "far", "valid", ("0", "60"), tasks=16),
        row("d", "far", "valid", ("5", "1"), tasks=32),
    ]


def unproven(bound: str | None) -> list[Row]:
    """Two instances: the optimum of one is 10; of the other 20 is known, and at most a bound."""
    return [
        optimum("a", "0", "10"),
        row("u", "auto", "feasible", ("0", "20"), ("0", bound)),
        *(row("a", name, "valid", ("0", "10")) for name in "mn"),
        *(row("u", name, "valid", ("0", "30")) for name in "mn"),
    ]


@cache
def graded_charts() -> dict[str, Chart]:
    """Return the charts of `graded`, to look at."""
    return charts_of(graded())


def lines(chart: Figure | Chart, *keys: str) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the table behind a chart by some of its columns."""
    return {tuple(one[key] for key in keys): one for one in table(chart)}


def test_bars_are_means_over_the_instances_of_all() -> None:
    found = lines(graded_charts()["gaps-ranked"], "term", "method")
    # In the network, a and b have a gap of both: near 0 and 10 %, far 100 and 50 %.
    near, far = found["network", "near"], found["network", "far"]
    assert (near["mean"], far["mean"]) == ("5 %", "75 %")
    assert [far[key] for key in ("instances", "placed", "finite gap", "in the mean")] == list(
        "4432"
    )
    # Failures are infinite in quantiles: near 0, 0, 10, inf; far 50, 50, 100, inf.
    assert (near["median"], far["median"], far["95th percentile"]) == ("5 %", "75 %", "∞")
    assert near["95 % interval"] == "-", "of two instances"
    assert found["overload", "far"]["mean"] == "0 %", "infinite on d, so that d is not a common one"


def test_a_point_is_the_worth_of_a_run() -> None:
    chart = graded_charts()["worth"]
    found = lines(chart, "method")
    # Geometric means of 1 and 1.21, and of 1/2 and 2; d is worse in an earlier term.
    assert [found["near",][key] for key in ("runs", "throughput", "latency")] == [
        *("2", "1.100", "1.000")
    ]
    assert [found["far",][key] for key in ("runs", "throughput", "latency")] == [
        *("2", "1.000", "1.000")
    ]
    assert found["near",]["runs above the optimum's throughput"] == "50 %"
    points = {
        line.get_label(): [line.get_xdata().tolist(), line.get_ydata().tolist()]
        for line in chart.drawn.axes[0].lines[:2]
    }
    assert points["near"] == [[0.0, pytest.approx(10.0)], [1.0, 1.21]]
    assert points["far"] == [[100.0, 50.0], [0.5, 2.0]]


def test_bars_are_as_long_as_the_means_of_the_summary() -> None:
    chart = charts_of(unproven("10"))["gaps-ranked"]
    (axes,) = chart.drawn.axes
    # 0 and 50 to 200 %: a mean from 25 to 100 %, for both methods.
    assert [bar.get_width() for bar in axes.patches] == [25.0, 75.0] * 2
    assert [bar.get_x() for bar in axes.patches] == [0.0, 25.0] * 2
    assert "light part of a bar" in chart.caption
    assert "light part of a bar" not in graded_charts()["gaps-ranked"].caption


def test_unproven_optima_give_ranges() -> None:
    found = charts_of(unproven("10"))
    assert lines(found["gaps-ranked"], "method")[("m",)]["mean"] == "25 to 100 %"
    assert "m is 25 to 100 % above the optimum" in found["gaps-ranked"].alt
    shares = lines(found["gap-distribution"], "method")[("m",)]
    assert [shares[key] for key in ("at the optimum", "within 10 %", "within 50 %")] == [
        "50 %", "50 %", "50 to 100 %",
    ]  # fmt: skip
    assert "surely within x" in found["gap-distribution"].caption
    assert "1 without a proven optimum" in found["gap-distribution"].caption


def test_without_a_bound_a_range_has_no_end() -> None:
    found = drawn(unproven(None))["gaps-ranked"]
    assert lines(found, "method")[("m",)]["mean"] == "25 % to ∞"
    assert "25 % to ∞" in found.svg


def test_a_distribution_has_a_line_for_what_is_sure_and_one_for_what_is_possible() -> None:
    chart = charts_of(unproven("10"))["gap-distribution"]
    (axes,) = chart.drawn.axes
    both = [line for line in axes.lines if line.get_color() == ROLES["series-1"].light]
    sure, possible = (list(zip(*line.get_data(), strict=True))[:-1] for line in both[:2])
    assert sure == [(0, 0.5), (200, 1)]
    assert possible == [(0, 0.5), (50, 1)]


def test_a_term_with_every_mean_at_the_optimum_has_words_and_no_panel() -> None:
    found = graded_charts()["gaps-ranked"]
    assert [axes.get_title(loc="left") for axes in found.drawn.axes] == ["network"]
    assert "overload, on 2 instances: all methods are at the optimum." in found.alt


def test_a_method_that_always_fails_leaves_no_mean() -> None:
    rows = [*graded(), *(row(i, "poor", "refused") for i in "abcd")]
    found = drawn(rows)["gaps-ranked"]
    assert lines(found, "term", "method")["network", "near"]["mean"] == "-"
    assert "no mean: a finite gap in 0 of 4" in found.svg
    assert "network: of 4 instances, none has a finite gap of every method" in found.alt


def groups() -> list[Row]:
    """Two groups: `rare` does not apply to b, c and d, `never` to none."""
    sizes = dict(zip("abcd", (4, 8, 16, 32), strict=True))
    return [
        *graded(),
        row("a", "rare", "valid", ("0", "40")),
        *(row(i, "rare", "does not apply", tasks=sizes[i]) for i in "bcd"),
        *(row(i, "never", "does not apply", tasks=sizes[i]) for i in "abcd"),
    ]


def test_each_group_has_panels_of_its_own_and_captions_say_what_they_are_of() -> None:
    found = charts_of(groups())
    bars = lines(found["gaps-ranked"], "term", "method")
    assert bars["network, group 1", "near"]["mean"] == "5 %"
    assert bars["network, group 2", "near"]["mean"] == "0 %"
    assert bars["network, group 2", "rare"]["mean"] == "300 %"
    assert ("network, group 1", "rare") not in bars
    assert len(found) == 7
    for figure in found.values():
        assert "Group 1 (far, near): Compared on 4 instances." in figure.caption
        assert "In no group, so not drawn: never." in figure.caption
    caption = found["gaps-ranked"].caption
    assert "Group 2 (far, near, rare): Compared on 1 instance, without 3 that not all" in caption
    assert {one["group"] for one in table(found["time-by-size"])} == {"group 1"}, "a has one size"
    assert "group" not in graded_charts()["time-by-size"].columns, "there is one"


def test_profiles_count_failures_as_infinitely_far() -> None:
    found = lines(graded_charts()["performance-profiles"], "of", "method")
    shares = {
        key: [one[f"within {tau:g} times"] for tau in TIMES_BEST] for key, one in found.items()
    }
    assert shares["network", "near"] == ["50 %", "75 %", "75 %", "75 %", "75 %"], "c failed"
    assert shares["network", "far"] == ["0 %", "0 %", "50 %", "75 %", "75 %"], "d: more overload"
    assert shares["network", "virtual best"] == ["50 %", "75 %", "100 %", "100 %", "100 %"]
    assert shares["network", "auto (exact)"] == ["100 %"] * 5
    assert shares["overload", "far"] == ["75 %"] * 5, "no ratio to 0"
    assert shares["time", "near"] == ["75 %"] * 5
    assert ("time", "virtual best") not in found


def test_the_distribution_counts_all_instances() -> None:
    found = lines(graded_charts()["gap-distribution"], "term", "method")
    shares = {key: list(one.values())[3:] for key, one in found.items()}
    assert shares["network", "near"] == ["50 %", "75 %", "75 %", "75 %"], "2 of 4 at the optimum"
    assert shares["network", "far"] == ["0 %", "0 %", "50 %", "75 %"]
    assert shares["network", "virtual best"] == ["50 %", "75 %", "100 %", "100 %"]


def test_a_term_is_counted_over_the_instances_that_have_it() -> None:
    of_all = ("rejected", "overload", "network")
    rows = [
        *graded(),
        row("all", "auto", "optimal", ("0", "0", "9"), terms=of_all),
        row("all", "near", "valid", ("0", "0", "9"), terms=of_all),
        row("all", "far", "crashed"),
        row("two", "auto", "optimal", ("1", "0", "9"), terms=of_all),
        *(row("two", name, "valid", ("2", "0", "9"), terms=of_all) for name in ("near", "far")),
    ]
    found = lines(charts_of(rows)["gaps-ranked"], "term", "method")
    assert {term: one["instances"] for (term, _), one in found.items()} == {
        "rejected": "2", "overload": "6", "network": "6",
    }  # fmt: skip


def test_overload_is_counted_over_the_same_instances() -> None:
    found = lines(graded_charts()["overload"], "method")
    near, far = found[("near",)], found[("far",)]
    assert (far["least possible"], far["more than needed"]) == ("3", "1")
    assert near["no valid placement"] == "1"
    # Both place a, b and d, where far has 0, 0 and 5.
    assert (far["placed by all"], far["mean"], near["mean"]) == ("3", "1.67", "0")
    assert far["mean of the best known"] == "0"


def test_overload_means_are_in_the_unit_of_the_rows_and_averaged_over_seeds() -> None:
    rows = [
        row("a", "auto", "feasible", ("0.5", "1"), ("0.25", None)),
        *(
            row("a", "m", "valid", (value, "1"), seed=seed)
            for seed, value in enumerate(("0.5", "1", "1.5"))
        ),
        row("a", "n", "valid", ("0.5", "1")),
    ]
    (term,) = (one for one in source_of(rows).terms if one.gaps.term == "overload")
    found = overloads(term)
    assert {one.method: one.mean for one in found.methods} == {"m": 1.0, "n": 0.5}
    assert found.least == 0.5
    shares = {one.method: one.counts for one in found.methods}
    assert shares == {"m": (0, 0, 1, 0), "n": (0, 1, 0, 0)}, "n has the best known, not proven"
    assert "perhaps the least on 1" in charts_of(rows)["overload"].alt


def test_gaps_by_size_have_one_bin_for_each_size() -> None:
    found = [one for one in table(graded_charts()["gap-by-size"]) if one["term"] == "network"]
    assert [(one["method"], one["tasks"], one["mean gap"]) for one in found] == [
        ("far", "4", "100 %"), ("far", "8", "50 %"), ("near", "4", "0 %"), ("near", "8", "10 %"),
    ]  # fmt: skip
    assert "gap-by-tightness" not in graded_charts(), "all are equally tight"


def test_times_by_size_are_medians_of_all_instances() -> None:
    rows = [
        {
            **one,
            "tasks": 4 + 4 * (one["instance"] > "b"),
            "wall_s": float(ord(one["instance"]) - 96),
        }
        for one in graded()
    ]
    found = lines(charts_of(rows)["time-by-size"], "method", "tasks")
    assert found["near", "8"]["median seconds"] == "3.5", "3 and 4 s, the refused one as well"
    assert found["auto (exact)", "4"]["median seconds"] == "1.5"


def test_bins_are_about_equally_full() -> None:
    assert [len(one.rows) for one in bins(np.arange(600.0))] == [100] * 6
    assert [(one.text, len(one.rows)) for one in bins(np.full(600, 7.0))] == [("7", 600)]
    some = bins(np.array([3.0, math.inf, 1.0, 1.0]))
    assert [(one.low, one.middle, one.high, one.rows.tolist()) for one in some] == [
        (1, 1, 1, [2, 3]), (3, 3, 3, [0]),
    ]  # fmt: skip
    skewed = bins(np.array([1.0] * 90 + [*range(2, 12)]))
    assert len(skewed) <= MOST_BINS
    assert sum(len(one.rows) for one in skewed) == 100
    assert not bins(np.array([math.inf]))


def random_grading(seed: int) -> list[Row]:
    """Methods that fail, do not apply and have seeds; optima that are proven, bounded and open."""
    draw = random.Random(seed)
    rows = []
    for i in range(draw.randint(8, 24)):
        least = draw.choice((0, 3, 3))
        best, slack = draw.choice((0, 40, 100, 70)), draw.choice((0, 0, 5))
        values, more = (str(least), str(best + slack)), {"tasks": draw.randint(1, 9)}
        bound = draw.choice((str(best), None))
        if slack == 0 and draw.random() < 0.7:
            rows.append(row(f"i{i}", "auto", "optimal", values, **more))
        else:
            known = draw.choice((str(least), None))
            rows.append(row(f"i{i}", "auto", "feasible", values, (known, known and bound), **more))
        for method, seeds in {"m": 1, "n": 2, "o": 1, "p": 1}.items():
            for one in range(seeds):
                status = draw.choice(("valid",) * 24 + ("refused", "crashed"))
                status = "does not apply" if method == "p" and draw.random() < 0.4 else status
                worse = (least + draw.choice((0,) * 9 + (2,)), best + draw.choice((0, 7, 30)))
                placed = tuple(map(str, worse)) if status == "valid" else None
                wall = draw.choice((0.5, 1.0, 4.0))
                rows.append(row(f"i{i}", method, status, placed, seed=one, wall_s=wall, **more))
    return rows


@pytest.mark.parametrize("seed", range(12 if DEEP else 5))
def test_tables_of_random_gradings_have_the_numbers_of_the_summary(seed: int) -> None:
    rows = random_grading(seed)
    source, found = source_of(rows), charts_of(rows)
    several = len(source.comparisons) > 1
    gaps = {
        (row["group"], row["term"], row["method"]): row
        for row in source.summary.gaps.to_dict("records")
    }
    seen = _hold_ranked(found["gaps-ranked"], gaps, several=several)
    assert seen >= {"m", "n", "o"}
    _hold_shares(found, source)
    _hold_bins(found.get("gap-by-size"), gaps, several=several)
    _hold_overload(found.get("overload"), source)


def _place(heading: str, *, several: bool) -> tuple[int, str]:
    """Return the number of the group and the term of a heading."""
    term, _, group = heading.partition(", group ")
    assert bool(group) == several
    return int(group or 1), term


Lines = dict[tuple[int, str, str], dict[str, float]]


def _hold_ranked(chart: Chart, gaps: Lines, *, several: bool) -> set[str]:
    bars = {}
    for one in table(chart):
        want = gaps[(*_place(one["term"], several=several), one["method"])]
        counts = [one[head] for head in ("instances", "placed", "finite gap", "in the mean")]
        assert counts == [str(want[n]) for n in ("instances", "placed", "finite", "common")]
        names = {
            "mean": "mean", "95 % interval": "mean_ci", "median": "median",
            "95th percentile": "p95",
        }  # fmt: skip
        for head, name in names.items():
            assert one[head] == interval_text(want[f"{name}_low"], want[f"{name}_high"])
        bars.setdefault(one["term"], []).append(want)
    for axes in chart.drawn.axes:
        want = [bar for bar in bars[axes.get_title(loc="left")] if not math.isnan(bar["mean_low"])]
        drawn_lows = [bar.get_width() for bar in axes.patches[::2]]
        assert drawn_lows == pytest.approx([100 * bar["mean_low"] for bar in want])
        for bar, patch in zip(want, axes.patches[1::2], strict=True):
            if math.isfinite(bar["mean_high"]):
                end = patch.get_x() + patch.get_width()
                assert end == pytest.approx(100 * bar["mean_high"])
    return {one["method"] for one in table(chart)}


def _hold_shares(found: dict[str, Chart], source: Source) -> None:
    several, name = len(source.comparisons) > 1, source.cast.name
    ecdf = {
        (row["group"], row["term"], name(row["method"]), row["within"]): row
        for row in source.summary.ecdf.to_dict("records")
    }
    heads = ["at the optimum", *(f"within {100 * gap:g} %" for gap in WITHIN[1:])]
    for one in table(found["gap-distribution"]):
        for head, gap in zip(heads, WITHIN, strict=True):
            want = ecdf[(*_place(one["term"], several=several), one["method"], gap)]
            assert one[head] == interval_text(want["share_low"], want["share_high"])
    profiles = {
        (row["group"], row["profile"], name(row["method"]), row["tau"]): row["share"]
        for row in source.summary.profiles.to_dict("records")
    }
    for one in table(found["performance-profiles"]):
        group, term = _place(one["of"], several=several)
        for tau in TIMES_BEST:
            share = profiles[group, "seconds" if term == "time" else term, one["method"], tau]
            assert one[f"within {tau:g} times"] == interval_text(share, share)


def _hold_bins(chart: Chart | None, gaps: Lines, *, several: bool) -> None:
    """Weighted by their instances, the means of the bins are those of the summary."""
    sums: dict[tuple[int, str, str], list[tuple[int, str]]] = {}
    for one in table(chart) if chart else ():
        key = (*_place(one["term"], several=several), one["method"])
        sums.setdefault(key, []).append((int(one["in the mean"]), one["mean gap"]))
    for key, some in sums.items():
        want = gaps[key]
        assert sum(count for count, _ in some) == want["common"]
        for name, at in (("mean_low", 0), ("mean_high", -1)):
            means = [(n, _numbers(text)[at]) for n, text in some]
            mean = sum(n * number for n, number in means) / want["common"]
            assert mean == pytest.approx(100 * want[name], rel=0.01)


def _numbers(text: str) -> list[float]:
    """Return the ends of a range: one for a number that is known."""
    parts = text.replace(",", "").replace(" %", "").split(" to ")
    return [math.inf if part == "∞" else float(part) for part in parts]


def _hold_overload(chart: Chart | None, source: Source) -> None:
    groups = {row["group"]: row for row in source.summary.groups.to_dict("records")}
    lines_of = source.summary.methods.set_index(["group", "method"])
    for one in table(chart) if chart else ():
        group = int(one.get("group", "group 1").removeprefix("group "))
        assert one["instances"] == str(groups[group]["instances"])
        counts = [int(one[name]) for name in SHADES]
        assert sum(counts) == groups[group]["instances"]
        placed_by_it = int(lines_of.loc[(group, one["method"]), "placed"])
        assert counts[-1] == groups[group]["instances"] - placed_by_it


def word_count() -> Problem:
    return compile_problem(read_instance("docs/examples/word-count.json"))


def placed(problem: Problem, *, apart: bool) -> str:
    """Return a placement: all tasks in one worker, or one node after the other."""
    tasks = len(problem.task_class)
    nodes = len(read_instance("docs/examples/word-count.json").cluster.nodes)
    chosen = [i % nodes if apart else 0 for i in range(tasks)]
    return f'{{"nodes": {chosen}, "workers": {[0] * tasks}}}'


def test_traffic_is_recomputed_from_the_placements() -> None:
    problem = word_count()
    together, apart = (placed(problem, apart=apart) for apart in (False, True))
    rows = [
        optimum("a", "0", "1", placement=together),
        row("a", "spread", "valid", ("0", "9"), placement=apart),
        row("a", "spread", "valid", ("0", "1"), placement=together, seed=1),
        optimum("b", "0", "1", placement=together),
        row("b", "spread", "refused"),
    ]
    (comparison,) = source_of(rows).comparisons
    found = traffic(comparison, newest(rows), lambda _: problem)
    assert found is not None
    assert (found.instances, found.common) == (1, 1), "b is not placed by all"
    assert found.is_optimal
    assert found.exact == (1.0, 0.0, 0.0, 0.0), "all in one worker"
    ((name, shares),) = found.methods.items()
    assert name == "spread"
    assert sum(shares) == pytest.approx(1)
    assert shares[0] < 1, "of two seeds the first"
    assert traffic(comparison, newest(rows), lambda _: None) is None
    caption = charts_of(rows, problem_of=lambda _: problem)["traffic"].caption
    assert "Compared on 2 instances. Drawn: 1 that all place." in caption


def test_exact_placements_that_are_not_proven_are_no_optimum() -> None:
    problem = word_count()
    text = placed(problem, apart=False)
    rows = [
        row("a", "auto", "feasible", ("0", "1"), ("0", "0"), placement=text),
        row("a", "m", "valid", ("0", "9"), placement=text),
    ]
    figure = charts_of(rows, problem_of=lambda _: problem)["traffic"]
    assert table(figure)[0]["method"] == "exact engines"
    assert "optimum" not in figure.alt


NAMES = (
    *("gaps-ranked", "gap-distribution", "performance-profiles", "overload", "worth"),
    *("gap-by-size", "time-by-size"),
)


@cache
def all_figures() -> dict[str, Figure]:
    found = drawn(graded(), labels={"near": "<mine> & $x$ #0072b2"})
    assert set(found) == set(NAMES)
    return found


@pytest.fixture(params=NAMES)
def figure(request: pytest.FixtureRequest) -> Figure:
    """Each figure of `graded`."""
    return all_figures()[str(request.param)]


def test_an_svg_is_fit_for_a_page(figure: Figure) -> None:
    root = ElementTree.fromstring(figure.svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert figure.alt in (root.get("aria-label") or "")
    assert root.get("viewBox") is not None
    styles = " ".join(part.get("style") or "" for part in root.iter())
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgb|\b(?:black|white)\b", styles) == []
    used = set(re.findall(r"var\(--([\w-]+)\)", styles))
    assert used <= ROLES.keys()
    assert not any(part.get("fill") or part.get("stroke") for part in root.iter())
    texts = list(root.iter(f"{SVG}text"))
    assert texts, "text stays text"
    assert all("fill: var(--" in (part.get("style") or "") for part in texts)
    ids = [part.get("id") for part in root.iter() if part.get("id")]
    assert all(str(one).startswith(f"{figure.name}-") for one in ids)
    targets = re.findall(r'(?:href="#|url\(#)([^")]*)', figure.svg)
    assert set(targets) <= set(ids)
    assert root.find(f".//{SVG}style") is None, "it would style the whole page"
    assert len(figure.svg) < 40_000


def test_a_figure_says_what_it_shows(figure: Figure) -> None:
    assert re.search(r"\d", figure.alt)
    assert "Compared on 4 instances." in figure.caption
    assert figure.title
    assert all(len(cells) == len(figure.columns) for cells in figure.rows)
    assert figure.rows


@pytest.mark.slow
def test_no_label_leaves_its_chart() -> None:
    long = ("network+linear", "moved+overload")
    method = "a-method:with=parameters"  # A long name leaves little room beside it.
    rows = [{**one, "method": one["method"].replace("far", method)} for one in graded()]
    zero = [optimum("z", "0", "0", terms=long), row("z", method, "valid", ("9", "5"), terms=long)]
    seen = set()
    for chart in (*charts_of(rows).values(), *charts_of(zero).values()):
        FigureCanvasAgg(chart.drawn).draw()
        for axes in chart.drawn.axes:
            for label in (axes.xaxis.label, axes.yaxis.label):
                if not label.get_text():
                    continue
                box = label.get_window_extent()
                assert 0 <= box.x0 <= box.x1 <= chart.drawn.bbox.width, (chart.name, label)
                assert 0 <= box.y0 <= box.y1 <= chart.drawn.bbox.height, (chart.name, label)
                seen.add(label.get_text().replace("\n", " "))
    assert "mean overload, weighted units (dashed: the best known)" in seen
    assert "times the best known value (log scale)" in seen


@pytest.mark.parametrize("bound", ["10", None])
def test_no_text_beside_a_bar_leaves_its_chart(bound: str | None) -> None:
    chart = charts_of(unproven(bound))["gaps-ranked"]
    FigureCanvasAgg(chart.drawn).draw()
    texts = [text for axes in chart.drawn.axes for text in axes.texts]
    assert len(texts) == 2
    assert all(text.get_window_extent().x1 <= chart.drawn.bbox.width for text in texts)


def test_names_of_methods_are_text_whatever_they_are() -> None:
    figure = all_figures()["gaps-ranked"]
    texts = [
        "".join(part.itertext()) for part in ElementTree.fromstring(figure.svg).iter(f"{SVG}text")
    ]
    assert "<mine> & $x$ #0072b2" in texts
    assert ("network", "<mine> & $x$ #0072b2") in [cells[:2] for cells in figure.rows]


@pytest.mark.slow
def test_the_same_rows_give_the_same_bytes() -> None:
    once, again = (list(charts_of(graded()).values())[:2] for _ in range(2))
    for one, other in zip(once, again, strict=True):
        for form in ("svg", "pdf"):
            assert image(one.drawn, form) == image(other.drawn, form), one.name
    assert image(once[0].drawn, "pdf").startswith(b"%PDF")


def test_nothing_to_draw_draws_nothing() -> None:
    assert charts_of([row("a", "m", "refused"), row("a", "auto", "infeasible")]) == {}
    assert charts_of([row("a", name, "refused") for name in "mn"]) == {}, "no term is known"


@pytest.mark.slow
def test_many_methods_and_instances_stay_small() -> None:
    rows: list[Row] = []
    for i in range(120):
        rows.append(optimum(f"i{i}", "0", "100", tasks=3 + i))
        rows += [
            row(
                f"i{i}",
                f"method-{m}",
                "valid",
                ("0", str(100 + (i * 7 + m * 13) % 97)),
                tasks=3 + i,
            )
            for m in range(14)
        ]
    found = drawn(rows)
    for name, figure in found.items():
        assert len(figure.svg) < 40_000, name
    assert "7 methods ranked behind these" in found["gap-distribution"].caption


def test_steps_are_a_share_of_all() -> None:
    assert steps([0, 2, 2, 9], 8, 0, 5) == ((0, 0.125), (2, 0.375), (5, 0.375))


def test_names_beside_lines_do_not_overlap() -> None:
    places = spread([0.1, 0.1, 0.12, 0.99, 0.99], 0.1)
    assert all(b - a >= 0.1 - 1e-9 for a, b in itertools.pairwise(places))
    assert places[-1] <= 1
