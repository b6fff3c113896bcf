"""The pages of docs/methods/: one for every method; their tables agree with measured.csv."""

from __future__ import annotations

import marked
import measured_gaps
import pytest
from graded_folder import make_graded

import slotwise
from slotwise.heuristics.ours import HEURISTICS
from slotwise.models.families.registry import FAMILIES
from slotwise.models.problem.compile import compile_problem

SECTIONS = {"Where it fails", "Where they fail"}
READ = {"How it is read", "How they are read"}
OVERVIEW = "index.md"


def is_of_methods(page):
    """Whether a page is about methods, rather than compares some."""
    return page.name != OVERVIEW and page.parent == measured_gaps.FOLDER


def measured_methods():
    """Return the methods that have a table on their page."""
    pages = (names for page, names, _ in measured_gaps.pages() if is_of_methods(page))
    return sorted({name for names in pages for name in names.split(", ")})


@pytest.mark.parametrize("method", HEURISTICS)
def test_every_method_has_a_page(method):
    pages = filter(is_of_methods, measured_gaps.FOLDER.glob("*.md"))
    assert any(f"`{method}`" in page.read_text("utf-8") for page in pages)


def test_tables_are_of_methods():
    assert set(measured_methods()) <= set(HEURISTICS)


@pytest.mark.parametrize(
    ("page", "names", "text"),
    list(measured_gaps.pages()),
    ids=lambda part: getattr(part, "name", ""),
)
def test_tables_are_those_of_the_measurements(page, names, text):
    assert text == measured_gaps.body(names)
    assert "| `" in text


def test_pages_say_what_is_read_and_where_the_method_fails():
    for page in {page for page, _, _ in measured_gaps.pages() if is_of_methods(page)}:
        headings = {line[3:] for line in page.read_text("utf-8").splitlines() if line[:3] == "## "}
        assert headings & SECTIONS, page
        assert headings & READ, page
        assert "Measured gaps" in headings, page


@pytest.mark.slow
@pytest.mark.parametrize("method", measured_methods())
def test_measured_values_are_those_of_today(method):
    """One instance of each family; stochastic methods have the grading's seed."""
    lines = {line[:2]: line for line in measured_gaps.read() if line.method == method}
    for case in (("rstorm", 3), ("random", 5), ("partition", 2), ("stromax", 6)):
        line = lines[case]
        instance = FAMILIES[case[0]].make(case[1], 0)
        found = slotwise.place(instance, method, seed=0)
        if isinstance(found, slotwise.Refusal):
            applies = HEURISTICS[method].supports(compile_problem(instance)) is None
            assert line.status == ("refused" if applies else "does not apply"), case
            continue
        verdict = slotwise.judge(instance, found)
        assert verdict.valid == (line.status == "valid"), case
        told = dict(part.split("=") for part in line.values.split())
        if verdict.valid:
            assert {name: float(value) for name, value in told.items()} == {
                term.term: float(term.value) for term in verdict.objective
            }, case


@pytest.mark.parametrize(
    "method", sorted({line.method for line in measured_gaps.read() if ":" in line.method})
)
def test_measured_values_with_parameters_are_those_of_today(method):
    lines = [line for line in measured_gaps.read() if line.method == method]
    assert {line.family for line in lines} == {"partition"}
    for line in lines[::8]:
        instance = FAMILIES["partition"].make(line.index, 0)
        verdict = slotwise.judge(instance, slotwise.place(instance, method, seed=0))
        assert verdict.valid
        assert line.values == f"network={verdict.objective[0].value}"


def test_collecting_a_graded_folder_gives_a_line_for_each_run(tmp_path):
    lines = measured_gaps.collect(make_graded(tmp_path))
    assert {line.method for line in lines} > {measured_gaps.OPTIMUM}
    assert all(line.values for line in lines if line.status == "optimal")
    assert {line.status for line in lines} >= {"optimal", "infeasible"}


def test_text_between_markers_is_replaced_and_nothing_else():
    page = "a\n<!-- begin x -->\nold\n<!-- end -->\nb\n<!-- begin y -->\nkept\n<!-- end -->\n"
    new = marked.replaced(page, "x", "new")
    assert marked.blocks(new) == {"x": "new", "y": "kept"}
    assert new.startswith("a\n")
    with pytest.raises(KeyError, match="no markers"):
        marked.replaced(page, "z", "new")
