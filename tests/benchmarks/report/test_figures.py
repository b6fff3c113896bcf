"""Charts: the table behind each against a hand computation, and what each SVG must have."""

from __future__ import annotations

import itertools
import math
import re
from functools import cache
from xml.etree import ElementTree

import pytest
from graded_rows import optimum, row
from matplotlib.backends.backend_agg import FigureCanvasAgg

from slotwise.benchmarks.analysis.aggregate import aggregate
from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.report.figures.chart import Figure
from slotwise.benchmarks.report.figures.drawing.canvas import image
from slotwise.benchmarks.report.figures.drawing.colours import ROLES
from slotwise.benchmarks.report.figures.drawing.lines import spread, steps
from slotwise.benchmarks.report.figures.figures import charts
from slotwise.benchmarks.report.figures.gap_curves import quantile
from slotwise.benchmarks.report.figures.numbers.levels import traffic
from slotwise.benchmarks.report.figures.numbers.panels import mean_with_interval, panels
from slotwise.benchmarks.report.figures.numbers.shared_cases import bins, on_one_grid, shared_cases
from slotwise.benchmarks.report.figures.profiles import profiles, within
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem

SVG = "{http://www.w3.org/2000/svg}"


def graded() -> list[Row]:
    """Four instances and two methods: `far` overloads d, `near` refuses c."""
    return [
        optimum("a", "0", "10", tasks=4),
        optimum("b", "0", "20", tasks=8),
        optimum("c", "0", "40", tasks=16),
        optimum("d", "0", "80", tasks=32),
        row("a", "near", "valid", ("0", "10"), tasks=4),
        row("b", "near", "valid", ("0", "22"), tasks=8),
        row("c", "near", "refused", tasks=16),
        row("d", "near", "valid", ("0", "80"), tasks=32),
        row("a", "far", "valid", ("0", "20"), tasks=4),
        row("b", "far", "valid", ("0", "30"), tasks=8),
        row("c", "far", "valid", ("0", "60"), tasks=16),
        row("d", "far", "valid", ("5", "1"), tasks=32),
    ]


def drawn(rows: list[Row], **more: object) -> dict[str, Figure]:
    return {one.name: one.figure() for one in charts(rows, aggregate(rows), **more)}


def table(figure: Figure) -> list[dict[str, str]]:
    return [dict(zip(figure.columns, cells, strict=True)) for cells in figure.rows]


def test_terms_are_panels_of_their_own() -> None:
    rows = graded()
    overload, network = panels(rows, aggregate(rows))
    assert (overload.term, network.term) == ("overload", "network")
    assert not overload.is_relative, "its optimum is 0 in every case"
    assert dict(overload.excess["far"]) == {
        ("sha256:a", 0): 0.0, ("sha256:b", 0): 0.0, ("sha256:c", 0): 0.0, ("sha256:d", 0): 5.0,
    }  # fmt: skip
    # d does not count in the network of `far`: its overload is not at the optimum.
    assert dict(network.excess["far"]) == {
        ("sha256:a", 0): 100.0, ("sha256:b", 0): 50.0, ("sha256:c", 0): 50.0,
    }  # fmt: skip
    assert network.excess["near"][("sha256:b", 0)] == pytest.approx(10)
    assert len(network.excess["near"]) == 3


@pytest.mark.slow
def test_bars_are_means_over_the_common_cases() -> None:
    found = {(r["term"], r["method"]): r for r in table(drawn(graded())["gaps-ranked"])}
    # Common in the network: a and b; near 0 and 10 %, far 100 and 50 %.
    assert found["network", "near"]["mean"] == "5 %"
    assert found["network", "far"]["mean"] == "75 %"
    assert found["network", "far"]["common cases"] == "2"
    assert found["network", "far"]["worst"] == "100 %"
    # Common in overload: a, b, d, which all have placements; far 5 in one of three.
    assert found["overload", "far"]["mean"] == "1.67"
    assert found["overload", "far"]["cases"] == "4"
    assert found["overload", "near"]["cases"] == "3"


def test_a_method_that_fails_often_does_not_shrink_what_others_are_compared_on() -> None:
    have = {"good": {1, 2, 3, 4}, "poor": {1}, "fair": {1, 2, 3}}
    assert shared_cases(have) == (("good", "fair"), frozenset({1, 2, 3}))
    rows = [
        *graded(),
        *(row(i, "poor", "refused") for i in "abc"),
        row("d", "poor", "valid", ("0", "80")),
    ]
    bars = {(r["term"], r["method"]): r for r in table(drawn(rows)["gaps-ranked"])}
    assert bars["network", "poor"]["mean"] == "\N{EN DASH}", "no mean of the one case it places"
    assert bars["network", "near"]["mean"] == "5 %", "as without it"


@pytest.mark.slow
def test_all_methods_are_drawn_on_the_same_cases() -> None:
    rows = [*graded(), row("a", "rare", "valid", ("0", "10")), optimum("e", "0", "5")]
    grid, left_out = on_one_grid(rows)
    assert left_out == ("rare",)
    assert {r["instance"] for r in grid} == set("abcd"), "e was run by no method"
    profile = next(p for p in profiles(grid) if p.term == "network")
    assert profile.cases == 4
    assert "rare" not in profile.ratios
    assert all("ran on too few of the cases: rare." in one.caption for one in drawn(rows).values())


def test_profiles_count_failures_as_infinitely_far() -> None:
    _, network = profiles(graded())
    assert network.cases == 4
    assert sorted(network.ratios["near"]) == pytest.approx([1, 1, 1.1]), "c failed"
    assert sorted(network.ratios["far"]) == pytest.approx([1.5, 1.5, 2]), "d is worse in overload"
    assert within(network, "near", math.inf) == 0.75
    assert sorted(network.ratios["virtual best"]) == pytest.approx([1, 1, 1.1, 1.5])
    assert list(network.ratios["auto"]) == [1, 1, 1, 1]


def test_a_term_is_counted_over_the_cases_that_have_it() -> None:
    of_all = ("rejected", "overload", "network")
    rows = [
        *graded(),
        row("all", "auto", "optimal", ("0", "0", "9"), terms=of_all),
        row("all", "near", "valid", ("0", "0", "9"), terms=of_all),
        row("all", "far", "crashed"),
    ]
    assert {one.term: one.cases for one in profiles(rows)} == {
        "rejected": 1, "overload": 5, "network": 5,
    }  # fmt: skip
    found = panels(rows, aggregate(rows))
    assert {one.term: one.total for one in found} == {"rejected": 1, "overload": 5, "network": 5}
    nobody = [row("none", "near", "crashed"), row("none", "far", "crashed")]
    assert {one.cases for one in profiles([*rows, *nobody])} == {2, 6}


@pytest.mark.slow
def test_a_profile_has_no_ratio_to_zero() -> None:
    overload, _ = profiles(graded())
    assert sorted(overload.ratios["far"]) == [1, 1, 1, math.inf]
    assert table(drawn(graded())["performance-profiles"])[0]["term"] == "overload"


@pytest.mark.slow
def test_the_distribution_counts_all_cases() -> None:
    rows = graded()
    figure = drawn(rows)["gap-distribution"]
    found = {(r["term"], r["method"]): r for r in table(figure)}
    assert found["network", "near"]["at the optimum"] == "50.0 %", "2 of 4, though 3 have a value"
    assert found["network", "near"]["90 %"] == "not reached"
    assert found["network", "far"]["median"] == "50 %"
    network = panels(rows, aggregate(rows))[1]
    assert quantile(network, "near", 0.75) == pytest.approx(10)
    assert quantile(network, "near", 0.76) is None


@pytest.mark.slow
def test_overload_is_counted_over_the_same_cases() -> None:
    found = {r["method"]: r for r in table(drawn(graded())["overload"])}
    assert [found["far"][k] for k in ("least possible", "more than needed")] == ["3", "1"]
    assert found["near"]["no valid placement"] == "1"
    assert found["far"]["mean overload"] == "1.67"


@pytest.mark.slow
def test_gaps_by_size_have_one_bin_for_each_size() -> None:
    found = table(drawn(graded())["gap-by-size"])
    network = [
        (r["method"], r["tasks"], r["mean distance"]) for r in found if r["term"] == "network"
    ]
    assert network == [
        ("far", "4", "100 %"), ("far", "8", "50 %"), ("near", "4", "0 %"), ("near", "8", "10 %"),
    ]  # fmt: skip


def test_bins_are_about_equally_full() -> None:
    sizes = {(f"sha256:{i}", 0): float(i) for i in range(600)}
    assert [len(one.cases) for one in bins(sizes)] == [100] * 6
    same = {(f"sha256:{i}", 0): 7.0 for i in range(600)}
    assert [(one.text, len(one.cases)) for one in bins(same)] == [("7", 600)]


def test_intervals_average_the_seeds_of_an_instance() -> None:
    excess = {(f"sha256:{i}", seed): float(i) for i in range(6) for seed in range(1 + 9 * (i == 5))}
    mean, low, high = mean_with_interval(excess, excess, "x")
    assert mean == pytest.approx(2.5), "ten seeds of one instance weigh as one"
    assert low is not None
    assert high is not None
    assert 0 <= low < 2.5 < high <= 5
    assert mean_with_interval(excess, excess, "x") == (mean, low, high), "the same each time"
    few = {case: value for case, value in excess.items() if value < 3}
    assert mean_with_interval(few, few, "x") == (1.0, None, None)


def test_traffic_is_recomputed_from_the_placements() -> None:
    instance = read_instance("docs/examples/word-count.json")
    problem = compile_problem(instance)
    apart = [i % len(instance.cluster.nodes) for i in range(len(problem.task_class))]

    def placed(nodes: list[int]) -> str:
        return f'{{"nodes": {nodes}, "workers": {[0] * len(problem.task_class)}}}'

    rows = [
        optimum("a", "0", "1", placement=placed([0] * len(problem.task_class))),
        row("a", "spread", "valid", ("0", "9"), placement=placed(apart)),
    ]
    found = traffic(rows, lambda _: problem)
    assert found is not None
    assert found.is_proven
    assert found.exact == (1.0, 0.0, 0.0, 0.0), "all in one worker"
    ((name, shares),) = found.methods
    assert name == "spread"
    assert sum(shares) == pytest.approx(1)
    assert shares[0] < 1
    assert traffic(rows, lambda _: None) is None


def test_exact_placements_that_are_not_proven_are_no_optimum() -> None:
    instance = read_instance("docs/examples/word-count.json")
    problem = compile_problem(instance)
    text = (
        f'{{"nodes": {[0] * len(problem.task_class)}, "workers": {[0] * len(problem.task_class)}}}'
    )
    rows = [
        row("a", "auto", "feasible", ("0", "1"), ("0", "0"), placement=text),
        row("a", "m", "valid", ("0", "9"), placement=text),
    ]
    figure = drawn(rows, problem_of=lambda _: problem)["traffic"]
    assert table(figure)[0]["method"] == "best known"
    assert "optimum" not in figure.alt


@cache
def all_figures() -> list[Figure]:
    found = drawn(graded(), labels={"near": "<mine> & $x$ #0072b2"})
    assert len(found) == 6
    return list(found.values())


@pytest.mark.parametrize("figure", all_figures(), ids=lambda one: one.name)
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


@pytest.mark.parametrize("figure", all_figures(), ids=lambda one: one.name)
def test_a_figure_says_what_it_shows(figure: Figure) -> None:
    assert re.search(r"\d", figure.alt)
    assert re.search(r"\d", figure.caption)
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
    for chart in (*charts(rows, aggregate(rows)), *charts(zero, aggregate(zero))):
        FigureCanvasAgg(chart.drawn).draw()
        for axes in chart.drawn.axes:
            for label in (axes.xaxis.label, axes.yaxis.label):
                if not label.get_text():
                    continue
                box = label.get_window_extent()
                assert 0 <= box.x0 <= box.x1 <= chart.drawn.bbox.width, (chart.name, label)
                assert 0 <= box.y0 <= box.y1 <= chart.drawn.bbox.height, (chart.name, label)
                seen.add(label.get_text().replace("\n", " "))
    assert "mean overload, weighted units (dashed: the least possible)" in seen
    assert "mean distance from the optimum, flow \N{MULTIPLICATION SIGN} distance + cost" in seen


def test_names_of_methods_are_text_whatever_they_are() -> None:
    figure = drawn(graded(), labels={"near": "<mine> & $x$ #0072b2"})["gaps-ranked"]
    texts = [
        "".join(part.itertext()) for part in ElementTree.fromstring(figure.svg).iter(f"{SVG}text")
    ]
    assert "<mine> & $x$ #0072b2" in texts
    assert ("network", "<mine> & $x$ #0072b2") in [cells[:2] for cells in figure.rows]


@pytest.mark.slow
def test_the_same_rows_give_the_same_bytes() -> None:
    once, again = (charts(graded(), aggregate(graded())) for _ in range(2))
    for one, other in list(zip(once, again, strict=True))[:2]:
        for form in ("svg", "pdf"):
            assert image(one.drawn, form) == image(other.drawn, form), one.name
    assert image(once[0].drawn, "pdf").startswith(b"%PDF")


def test_nothing_to_draw_draws_nothing() -> None:
    rows = [row("a", "m", "refused"), row("a", "auto", "infeasible")]
    assert charts(rows, aggregate(rows)) == ()
    assert charts([], aggregate([])) == ()


@pytest.mark.slow
def test_many_methods_and_cases_stay_small() -> None:
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
