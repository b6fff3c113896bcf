"""What counts as moved between two placements."""

from __future__ import annotations

from viewer_cases import fragment, moves, on, pane, problem, text

from slotwise.models.instance.placement import Placement


def test_moves_are_those_counted_by_hand():
    """The spout and two of split stay; the other two of split go from n1 to n2."""
    one = problem(5, nodes=3)
    page = fragment(one, on(0, 1, 1, 1, 1), on(0, 1, 1, 2, 2))
    assert moves(pane(page, "p1")) == [["split[2–3]", "n1/0", "n2/0"]]  # noqa: RUF001
    assert "2 tasks elsewhere than in p0" in text(pane(page, "p1"))
    assert moves(pane(page, "p0")) == []


def test_moved_tasks_are_marked_in_the_drawing():
    page = fragment(problem(5, nodes=3), on(0, 1, 1, 1, 1), on(0, 1, 1, 2, 2))
    assert pane(page, "p0").select("i.m") == []
    marked = pane(page, "p1").select("i.m")
    assert len(marked) == 2
    assert {text(chip.find_parent("li", class_="pv-n").select_one("p b")) for chip in marked} == {
        "n2"
    }


def test_equal_nodes_exchanged_are_no_move_and_stand_beside_each_other():
    page = fragment(problem(4, nodes=3), on(0, 0, 1, 2), on(2, 2, 1, 0))
    part = pane(page, "p1")
    assert "No task is elsewhere than in p0; equal nodes count as one another" in text(part)
    assert part.select("i.m") == []
    heads = [text(node) for node in part.select(".pv-n > p")]
    assert [head.split(" ")[0] for head in heads] == ["n2", "n1", "n0"]
    assert heads[0].endswith("in place of n0")


def test_equal_racks_exchanged_are_no_move():
    one = problem(4, nodes=4, racks=2)
    page = fragment(one, on(0, 2, 2, 2), on(1, 3, 3, 3))
    assert "No task is elsewhere" in text(pane(page, "p1"))
    assert "rack r1 2 nodes, 2 in use, 4 tasks, in place of r0" in text(pane(page, "p1"))


def test_equal_tasks_and_workers_exchanged_are_no_move():
    first = Placement((0, 0, 1, 1), (0, 1, 0, 1))
    second = Placement((0, 1, 1, 0), (0, 0, 1, 1))
    again = Placement((0, 0, 1, 1), (5, 3, 1, 0))
    page = fragment(problem(4), first, second, again)
    assert "No task is elsewhere" in text(pane(page, "p1"))
    assert "No task is elsewhere" in text(pane(page, "p2"))
    assert page.select("figure i.m") == []


def test_a_task_that_one_placement_lacks_moves_from_or_to_no_place():
    page = fragment(problem(3), on(0, 1, 1), on(0, 1, -1))
    assert moves(pane(page, "p1")) == [["split[1]", "n1/0", "no place"]]
