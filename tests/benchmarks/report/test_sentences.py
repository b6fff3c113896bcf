"""What a page says where there is little to say, or nothing."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest
from drawn_charts import charts_of, drawn
from graded_rows import optimum, row

from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.judged.reading import judged_rows
from slotwise.benchmarks.report.graded_rows import graded_of
from slotwise.benchmarks.report.page import render


def methods(*networks: str) -> list[Row]:
    """Two instances whose optimum is 10; the methods a, b, ... have the given networks in both."""
    names = "abcdefgh"[: len(networks)]
    runs = [
        row(i, name, "valid", ("0", network))
        for i in "xy"
        for name, network in zip(names, networks, strict=True)
    ]
    return [optimum("x", "0", "10"), optimum("y", "0", "10"), *runs]


def test_a_page_without_a_placement_has_no_empty_tables_and_no_stray_spaces(
    tmp_path: Path,
) -> None:
    rows = [
        row("a", "m", "refused"),
        row("a", "auto", "unknown", (None, None), ("0", None)),  # type: ignore[arg-type]
    ]
    assert judged_rows(rows).terms, "the exact engine names its terms"
    text = render(graded_of(rows, Store(tmp_path).problem))
    assert "<h3>" not in text.partition('id="why"')[2].partition("</section>")[0]
    assert "none has a finite gap of every method, so there is no mean" in text
    assert " ;" not in re.sub(r"<[^>]*>", "", text.partition('class="answers"')[2][:600])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("networks", "said"),
    [
        (("10", "20", "20"), "by a in 100 %, b in 0 % and c in 0 %."),
        (("10", "20", "20", "30"), "by a in 100 % (best of 4 methods) and d in 0 % (worst)."),
        (("10", "10", "10", "10", "20"), "a in 100 % (best of 5 methods) and e in 0 % (worst)."),
    ],
)
def test_all_of_three_methods_are_named_or_the_best_and_the_worst(
    networks: tuple[str, ...], said: str
) -> None:
    found = charts_of(methods(*networks))
    for name in ("performance-profiles", "gap-distribution"):
        assert said in found[name].alt


def test_methods_that_are_alike_are_not_told_apart() -> None:
    never = charts_of(methods("20", "30"))
    assert "no method attains the best known value in any" in never["performance-profiles"].alt
    assert "of 2 instances, no method attains the optimum" in never["gap-distribution"].alt
    half = [*methods("10", "10")[:4], *(row("y", name, "valid", ("0", "20")) for name in "ab")]
    assert "by each of 2 methods in 50 %." in charts_of(half)["gap-distribution"].alt


def test_a_caption_speaks_of_intervals_only_where_there_are_some() -> None:
    assert "95 %" not in charts_of(methods("20", "30"))["gaps-ranked"].caption
    many = [optimum(f"i{i}", "0", "10") for i in range(12)]
    many += [row(f"i{i}", "a", "valid", ("0", str(11 + i))) for i in range(12)]
    assert "with its 95 % interval" in charts_of(many)["gaps-ranked"].caption


def test_letters_without_a_glyph_stay_text_and_nothing_warns_of_them() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = drawn(methods("10", "20"), {"a": "fast \N{ROCKET}"})
    assert "fast \N{ROCKET}</text>" in found["gaps-ranked"].svg


def test_other_warnings_are_heard() -> None:
    from slotwise.benchmarks.report.figures.drawing.canvas import styled

    with pytest.warns(UserWarning, match="something else"), styled():
        warnings.warn("something else", UserWarning, stacklevel=1)
