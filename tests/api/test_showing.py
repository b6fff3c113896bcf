"""Drawings and DataFrames of placements."""

from __future__ import annotations

import pandas as pd
import pytest

import slotwise

PLAN = {"wc": {"lines[0]": ("n1", 0), "split[3]": ("n2", 6)}}


@pytest.fixture(scope="module")
def instance(root):
    return slotwise.read_instance(root / "docs" / "examples" / "word-count.json")


@pytest.fixture(scope="module")
def result(instance):
    return slotwise.solve(instance, engine="exhaustive")


def test_results_and_placements_are_shown_with_their_names(instance, result):
    other = slotwise.place(instance, "r-storm")
    assert repr(slotwise.show(instance, result, other, PLAN)) == (
        "Drawing of word-count: exhaustive: optimal, placement 2, placement 3"
    )
    html = slotwise.show(instance, result, other, names=["best", "r-storm"])._repr_html_()
    assert 'aria-label="best"' in html
    assert "elsewhere than in best" in html


def test_a_drawing_is_written_as_a_page(instance, result, tmp_path):
    path = tmp_path / "page.html"
    slotwise.show(instance, result).write_page(path)
    text = path.read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert "Placements of word-count" in text
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")


@pytest.mark.parametrize(
    ("placements", "options", "said"),
    [
        ([], {}, "placements: needs one or more"),
        ([PLAN], {"names": ["a", "b"]}, "must be as many as placements (1)"),
        (["infeasible"], {}, "has no placement: infeasible"),
        ([slotwise.Placement((0,), (0,))], {}, "must be a placement of word-count"),
        ([{"wc": {"nothing[0]": ("n1", 0)}}], {}, "must be a task of the instance"),
    ],
)
def test_what_cannot_be_shown_is_said(instance, root, placements, options, said):
    if placements == ["infeasible"]:
        placements = [slotwise.solve(root / "docs" / "examples" / "too-big.json")]
    with pytest.raises(slotwise.InputError) as caught:
        slotwise.show(instance, *placements, **options)
    assert said in str(caught.value)


def test_a_frame_has_a_row_for_each_task(instance):
    placement = slotwise.Placement.from_dict(instance, PLAN)
    frame = placement.to_frame(instance)
    assert list(frame.columns) == [
        *("topology", "component", "index", "task", "node", "rack", "worker"),
    ]
    assert list(frame["task"]) == [task for _, task in instance.task_names()]
    placed = frame[frame["node"].notna()]
    assert placed[["task", "node", "rack", "worker"]].to_numpy().tolist() == [
        ["lines[0]", "n1", "r1", 0],
        ["split[3]", "n2", "r1", 6],
    ]
    assert frame["worker"].isna().sum() == 7


def test_frames_of_a_result(result, root):
    assert len(result.to_frame()) == 9
    terms = result.to_frame("terms")
    assert terms[["term", "value", "bound"]].to_numpy().tolist() == [
        ["overload", 0, 0],
        ["network", 23, 23],
    ]
    assert terms["proven"].all()
    none = slotwise.solve(root / "docs" / "examples" / "too-big.json").to_frame()
    assert isinstance(none, pd.DataFrame)
    assert none.empty
    assert list(none.columns) == list(result.to_frame().columns)


def test_frames_of_a_verdict(instance):
    verdict = slotwise.judge(instance, PLAN)
    assert verdict.to_frame().to_numpy().tolist() == [["overload", 0], ["network", 2]]
    assert verdict.to_frame("violations").to_numpy().tolist() == [
        ["placed", "topology wc", "tasks", 9, 2]
    ]
    nodes = verdict.to_frame("nodes").set_index("node")
    loads = {row["node"]: row["load"] for row in verdict.node_loads()}
    assert {
        node: {"cpu": row.load_cpu, "memory_mb": row.load_memory_mb}
        for node, row in nodes.iterrows()
    } == loads
    assert len(verdict.to_frame("tasks")) == 9
    with pytest.raises(
        slotwise.InputError, match="rows = 'term': is unknown; did you mean 'terms'"
    ):
        verdict.to_frame("term")
