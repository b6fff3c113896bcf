"""The command ``explain``: every question, as text, JSON and page, with its exit code."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser

import pytest

import slotwise
from slotwise.models.instance_file import instance_hash
from slotwise.solver.core.result import Status


@pytest.fixture
def plans(cli, examples):
    """Two valid placements of word-count, and a broken one of tight."""
    cli("solve", "word-count.json", "--out", "best.json")
    cli("place", "word-count.json", "--with", "r-storm", "--out", "r-storm.json")
    answer = cli("place", "tight.json", "--with", "round-robin", "--json")
    (examples / "broken.json").write_text(json.dumps(answer.json["placement"]))
    return examples


@pytest.fixture
def shared(examples):
    """Two topologies, and a placement with both in one worker."""
    nodes = [{"id": name, "rack": "r", "resources": {"cpu": 100}} for name in ("n1", "n2")]
    component = {"id": "a", "kind": "spout", "parallelism": 1, "resources": {"cpu": 10}}
    instance = {
        "format": "slotwise.instance/1",
        "name": "shared",
        "cluster": {"nodes": nodes},
        "topologies": [{"id": name, "components": [component]} for name in "tu"],
    }
    (examples / "instance.json").write_text(json.dumps(instance))
    places = {name: {"a[0]": {"node": "n1", "worker": 0}} for name in "tu"}
    placement = {
        "format": "slotwise.placement/1",
        "instance": instance_hash(slotwise.read_instance("instance.json")),
        "topologies": places,
    }
    (examples / "shared.json").write_text(json.dumps(placement))
    return examples


def flat(text):
    return " ".join(text.split())


def test_a_feasible_instance_says_so_with_its_cost(cli, examples):
    answer = cli("explain", "word-count.json")
    assert answer.code == 0
    assert "Feasible: a valid placement exists, overload 0, network 23" in answer.out
    document = cli("explain", "word-count.json", "--json").json
    assert document["status"] == "optimal"
    assert sum(one["cost"] for one in document["cost"]["streams"]) == 23


def test_an_infeasible_instance_says_why_and_how_to_mend_it(cli, examples):
    answer = cli("explain", "too-big.json")
    assert answer.code == 1
    assert "No placement exists" in answer.out
    assert "raise cpu of node" in flat(answer.out)
    document = cli("explain", "too-big.json", "--json").json
    assert document["status"] == "infeasible"
    assert document["infeasible"]["conflicts"]


def test_a_topology_that_is_left_out_is_explained(cli, examples):
    document = json.loads((examples / "too-big.json").read_text())
    document["objective"] = {"terms": ["rejected", "network"]}
    (examples / "rejecting.json").write_text(json.dumps(document))
    answer = cli("explain", "rejecting.json", "--time-limit", "5")
    assert answer.code == 0
    text = flat(answer.out)
    assert "No placement has all topologies" in text
    assert "raise cpu of node" in text
    found = cli("explain", "rejecting.json", "--time-limit", "5", "--json").json
    assert found["infeasible"]["conflicts"]


@pytest.mark.slow
def test_the_first_mistake_of_a_method(cli, examples):
    answer = cli("explain", "tight.json", "--with", "r-storm", "--out", "missed.json")
    assert answer.code == 1
    text = flat(answer.out)
    assert "After its first decision (wc/lines[0]) everything could still be placed." in text
    assert "Decision 2 made it impossible: wc/split[0] on n1, worker 0." in text
    assert cli("judge", "tight.json", "missed.json").code == 0
    document = cli("explain", "tight.json", "--with", "r-storm", "--json").json
    mistake = document["first_mistake"]
    assert (mistake["possible"], mistake["impossible"], mistake["settled"]) == (1, 2, True)
    assert document["status"] == "refused"
    assert document["missed"]["topologies"]["wc"]["lines[0]"] == {"node": "n1", "worker": 0}


def test_a_method_that_breaks_a_rule_has_a_nearest_placement(cli, examples):
    answer = cli("explain", "tight.json", "--with", "round-robin")
    assert answer.code == 1
    text = flat(answer.out)
    assert "round-robin breaks a rule: node n1 needs 1200 memory_mb and has 1000." in text
    assert "It moves 2 tasks" in text


def test_a_method_that_does_not_fail(cli, examples):
    answer = cli("explain", "word-count.json", "--with", "r-storm")
    assert answer.code == 0
    assert "nothing went wrong" in answer.out


def test_a_method_that_rightly_refuses(cli, examples):
    answer = cli("explain", "too-big.json", "--with", "r-storm-pseudocode")
    assert answer.code == 1
    assert "as any method must" in answer.out


def test_a_method_that_does_not_apply(cli, examples):
    answer = cli("explain", "tight.json", "--with", "stromax-reassign")
    assert answer.code == 1
    assert "does not apply to this instance" in flat(answer.out)


def test_a_command_does_not_tell_its_decisions(cli, examples):
    document = json.loads((examples / "tight.json").read_text())
    components = document["topologies"][0]["components"]
    components.sort(key=lambda one: one["id"] != "split")  # first fit puts 500 beside its 400
    (examples / "split-first.json").write_text(json.dumps(document))
    answer = cli("explain", "split-first.json", "--with", "cmd:python first_fit.py")
    assert answer.code == 1
    assert "does not record the order of its decisions" in flat(answer.out)


def test_a_valid_placement(cli, plans):
    answer = cli("explain", "word-count.json", "r-storm.json", "--optimal")
    assert answer.code == 0
    assert "Valid: every hard rule holds. Cost: overload 0, network 28." in answer.out
    assert re.search(r"network +28 +23 +\+5 +proven", answer.out)
    document = cli("explain", "word-count.json", "r-storm.json", "--json").json
    assert document["optimal"] is None
    assert sum(one["cost"] for one in document["cost"]["streams"]) == 28


def test_a_broken_placement(cli, plans):
    answer = cli("explain", "tight.json", "broken.json", "--out", "mended.json")
    assert answer.code == 1
    text = flat(answer.out)
    assert "Not valid: it breaks 1 hard rule." in text
    assert "It moves 2 tasks" in text
    assert "fewer moves do not suffice" in text
    assert cli("judge", "tight.json", "mended.json").code == 0


def test_two_topologies_in_one_worker(cli, shared):
    answer = cli("explain", "instance.json", "shared.json", "--out", "mended.json")
    assert answer.code == 1
    assert "It moves 1 task (t/a[0]); fewer moves do not suffice." in flat(answer.out)
    assert cli("judge", "instance.json", "mended.json").code == 0
    (mending,) = cli("explain", "instance.json", "shared.json", "--json").json["mendings"]
    assert mending["meaning"] == "node n1 worker 0 holds tasks of t and u"
    assert mending["remedy"] == "give each topology a worker of its own"


def test_a_method_that_numbers_the_workers_of_each_topology(cli, shared):
    text = (shared / "first_fit.py").read_text().replace('"worker": number', '"worker": 0')
    (shared / "from_zero.py").write_text(text)
    answer = cli("explain", "instance.json", "--with", "cmd:python from_zero.py")
    assert answer.code == 1
    text = flat(answer.out)
    assert "breaks a rule: node n1 worker 0 holds tasks of t and u." in text
    assert "It moves 1 task (t/a[0]); fewer moves do not suffice." in text


@pytest.fixture
def rejecting(examples):
    """An instance that may leave topologies out, and a placement for which that moves the least.

    On n1 half of t beside the whole of u: all of t goes there only with three moves.
    """
    sizes = {"t": ("a", 4, 25), "u": ("b", 1, 100)}
    instance = {
        "format": "slotwise.instance/1",
        "name": "rejecting",
        "cluster": {
            "nodes": [{"id": name, "rack": "r", "resources": {"cpu": 100}} for name in ("n1", "n2")]
        },
        "topologies": [
            {
                "id": topology,
                "components": [
                    {"id": name, "kind": "spout", "parallelism": count, "resources": {"cpu": cpu}}
                ],
            }
            for topology, (name, count, cpu) in sizes.items()
        ],
        "objective": {"terms": ["rejected", "network"]},
    }
    (examples / "instance.json").write_text(json.dumps(instance))
    places = {f"a[{i}]": {"node": f"n{1 + i // 2}", "worker": 0} for i in range(4)}
    placement = {
        "format": "slotwise.placement/1",
        "instance": instance_hash(slotwise.read_instance("instance.json")),
        "topologies": {"t": places, "u": {"b[0]": {"node": "n1", "worker": 1}}},
    }
    (examples / "crowded.json").write_text(json.dumps(placement))
    (examples / "crowded.py").write_text("print(open('crowded.json').read())")
    return examples


def test_a_method_missed_a_placement_of_all_tasks(cli, rejecting):
    words = ("explain", "instance.json", "--with", "cmd:python crowded.py")
    answer = cli(*words, "--out", "missed.json")
    assert answer.code == 1
    assert "Yet a valid placement of all tasks exists (rejected 0, network 0)." in flat(answer.out)
    assert "-1" not in answer.out
    assert cli("judge", "instance.json", "missed.json", "--json").json["parts"]["rejected"] == 0


def test_the_nearest_placement_says_what_it_leaves_out(cli, rejecting):
    answer = cli("explain", "instance.json", "crowded.json")
    assert answer.code == 1
    said = "It leaves out u, whose tasks count as moved; fewer moves do not suffice."
    assert said in flat(answer.out)
    nearest = cli("explain", "instance.json", "crowded.json", "--json").json["nearest"]
    assert nearest["moved"] == nearest["left_out"] == ["u/b[0]"]


def test_two_placements(cli, plans):
    answer = cli("explain", "word-count.json", "r-storm.json", "best.json")
    assert answer.code == 0
    assert re.search(r"network +28 +23 +-5", answer.out)
    document = cli("explain", "word-count.json", "r-storm.json", "best.json", "--json").json
    changes = [one["second"] - one["first"] for one in document["streams"]]
    assert sum(changes) == -5
    assert document["steps_from"] == "first"
    turned = cli("explain", "word-count.json", "best.json", "r-storm.json", "--json").json
    assert turned["steps_from"] == "second"
    same = cli("explain", "word-count.json", "best.json", "best.json")
    assert "The two are the same" in same.out


def test_a_task(cli, plans):
    answer = cli("explain", "word-count.json", "r-storm.json", "--task", "wc/split[1]")
    assert answer.code == 0
    assert "wc/split[1] is on n2, worker 0." in answer.out
    assert "node n1 needs 240 cpu and has 200" in flat(answer.out)
    bare = cli("explain", "word-count.json", "r-storm.json", "--task", "split[1]", "--json").json
    assert bare["task"] == "wc/split[1]"
    assert [place["node"] for place in bare["places"] if place["here"]] == ["n2"]


def test_a_task_in_a_worker_of_another_topology(cli, shared):
    words = ("explain", "instance.json", "shared.json", "--task", "u/a[0]")
    answer = cli(*words)
    assert answer.code == 1
    assert "u/a[0] is on n1, worker 0." in answer.out
    assert "Moving it alone to n1 mends that (no change)." in answer.out
    here = [place for place in cli(*words, "--json").json["places"] if place["here"]]
    assert [(place["node"], place["worker"], place["fresh"]) for place in here] == [
        ("n1", 0, False)
    ]
    explained = slotwise.explain("instance.json", "shared.json", task="u/a[0]")
    assert "ExplainedTask u/a[0]: on n1, worker 0" in repr(explained)


class Tags(HTMLParser):
    """The tags of a page, each closed in its turn, and its text."""

    EMPTY = ("meta", "rect", "br")

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)
        for key, value in attrs:
            assert key not in ("src", "href"), (tag, key, value)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_a_task_of_a_broken_placement_is_not_allowed_where_a_rule_stays_broken(cli, plans):
    places = cli("explain", "tight.json", "broken.json", "--task", "wc/split[0]", "--json").json[
        "places"
    ]
    stays = [one for one in places if one["also_before"] and not one["forbidden_by"]]
    assert stays
    text = flat(cli("explain", "tight.json", "broken.json", "--task", "wc/split[0]").out)
    assert "also broken before: node n1 needs 1200 memory_mb and has 1000" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "drawings", "said"),
    [
        (["word-count.json"], 1, "Feasible: a valid placement exists"),
        (["too-big.json"], 0, "The cheapest repairs"),
        (["tight.json", "--with", "r-storm"], 2, "Decision 2 made it impossible"),
        (["word-count.json", "r-storm.json"], 1, "Cost by stream"),
        (["tight.json", "broken.json"], 2, "The nearest valid placement"),
        (["word-count.json", "r-storm.json", "best.json"], 2, "Tasks in different places"),
        (["word-count.json", "r-storm.json", "--task", "split[1]"], 1, "is on n2, worker 0"),
    ],
    ids=["feasible", "infeasible", "method", "valid", "broken", "two", "task"],
)
def test_the_page_says_the_same_and_needs_nothing_else(cli, plans, words, drawings, said):
    cli("explain", *words, "--html", "page.html")
    page = Tags()
    page.feed((plans / "page.html").read_text())
    assert page.open == []
    assert page.seen.count("figure") == drawings
    assert said in flat("".join(page.text))


def test_names_are_escaped_in_the_page(cli, examples):
    text = (examples / "word-count.json").read_text().replace('"n1"', '"<b>n1</b>"')
    (examples / "odd.json").write_text(text)
    assert cli("explain", "odd.json", "--html", "page.html").code == 0
    page = (examples / "page.html").read_text()
    assert "<b>n1" not in page
    assert "&lt;b&gt;n1" in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tight.json", "best.json"], "is the hash of another instance"),
        (["word-count.json", "best.json", "broken.json"], "is the hash of another instance"),
        (["word-count.json", "best.json", "--task", "splt[1]"], "did you mean"),
        (
            ["word-count.json", "--task", "split[1]"],
            "--task = 'split[1]': needs one placement that it is in, and no other",
        ),
        (["word-count.json", "best.json", "r-storm.json", "--task", "split[1]"], "needs one"),
        (
            ["word-count.json", "best.json", "--with", "r-storm"],
            "--with = 'r-storm': explains its own run, so it takes no placement",
        ),
        (["word-count.json", "--with", "r-strom"], "did you mean"),
        (
            ["word-count.json", "--optimal"],
            "--optimal: needs one placement, and no other and no task",
        ),
        (["word-count.json", "nothing.json"], "nothing.json"),
        (["-", "-"], "stdin"),
        (["too-big.json", "--price", "nod=3"], "--price = 'nod': is unknown; did you mean 'node'"),
        (["too-big.json", "--price", "node"], "--price = 'node': must be NAME=PRICE"),
        (["too-big.json", "--price", "node=-1"], "--price.node = '-1': must be 0 or more"),
        (["word-count.json", "best.json", "--price", "node=3"], "--price: takes no PLACEMENT"),
        (["word-count.json", "--html", "nowhere/page.html"], "does not exist"),
    ],
)
def test_bad_input_is_one_line(cli, plans, words, said):
    answer = cli("explain", *words)
    assert answer.code == 2
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1
    assert said in answer.err


def test_a_task_without_a_place(cli, plans):
    document = json.loads((plans / "best.json").read_text())
    del document["topologies"]["wc"]["split[1]"]
    (plans / "part.json").write_text(json.dumps(document))
    answer = cli("explain", "word-count.json", "part.json", "--task", "split[1]")
    assert (answer.code, len(answer.err.splitlines())) == (2, 1)
    partial = cli("explain", "word-count.json", "part.json")
    assert partial.code == 1
    assert "1 task of topology wc has no place" in flat(partial.out)
    assert "places 1 task that had no place (wc/split[1])" in flat(partial.out)


def test_every_document_names_its_instance(cli, plans):
    hashed = instance_hash(slotwise.read_instance("word-count.json"))
    for words in ([], ["best.json"], ["best.json", "r-storm.json"], ["--with", "round-robin"]):
        assert cli("explain", "word-count.json", *words, "--json").json["instance"] == hashed


def test_ctrl_c_ends_the_whole_explanation(cli, examples, monkeypatch):
    """The search takes the press; what comes after it must not start searches of its own."""
    import slotwise.solver.explain.first_mistake as module
    from slotwise.solver.solve import solve

    def interrupted(problem, **options):
        found = solve(problem, **options)
        return replace(found, status=Status.UNKNOWN, placement=None, interrupted=True)

    monkeypatch.setattr(module, "solve", interrupted)
    answer = cli("explain", "tight.json", "--with", "r-storm")
    assert (answer.code, answer.out) == (130, "")


@pytest.mark.parametrize("words", [["too-big.json"], ["word-count.json", "best.json"]])
def test_out_says_that_nothing_is_written(cli, plans, words):
    answer = cli("explain", *words, "--out", "none.json")
    assert "--out = 'none.json': not written: no valid placement" in answer.err
    assert not (plans / "none.json").exists()


def test_prices_decide_which_repair_comes_first(cli, examples):
    words = ("--price", "upgrade=100", "--price", "task=0.5")
    by_command = cli("explain", "fragmented.json", *words, "--json").json["infeasible"]
    assert by_command["repairs"][0]["text"] == "run 2 tasks of count instead of 3 (wc)"
    for prices in ({"upgrade": 100, "task": "0.5"}, ["upgrade=100", "task=0.5"]):
        answer = slotwise.explain("fragmented.json", prices=prices)
        assert answer.infeasible.repairs[0].price == Decimal("0.5")
    dear = slotwise.explain("fragmented.json", prices={"resource.memory_mb": 1})
    assert all(one.price > 1 for one in dear.infeasible.repairs)


@pytest.mark.slow
def test_the_headline_has_the_whole_shortage_beside_the_least_conflict(cli, examples):
    instance = json.loads((examples / "too-big.json").read_text())
    instance["cluster"]["nodes"] = [
        {"id": f"n{n}", "rack": "r0", "resources": {"cpu": 100}, "slots": 9} for n in range(3)
    ]
    parts = [{"id": c, "kind": "spout", "parallelism": 4, "resources": {"cpu": 60}} for c in "ab"]
    instance["topologies"] = [{"id": t, "components": parts} for t in "tu"]
    (examples / "rack-gone.json").write_text(json.dumps(instance))
    answer = cli("explain", "rack-gone.json", "--time-limit", "3")
    assert "All tasks need 960 cpu, but all nodes have 300: 660 short." in flat(answer.out)
    document = cli("explain", "rack-gone.json", "--time-limit", "3", "--json").json["infeasible"]
    (whole,) = document["contradictions"]
    assert (whole["kind"], whole["required"], whole["available"]) == ("resource_short", 960, 300)
    assert document["conflicts"][0]["cause"] in ("shortage", "fragmentation")


@pytest.mark.slow
@pytest.mark.parametrize("command", [("explain",), ("solve",), ("place", "--with", "r-storm")])
def test_a_resource_that_no_node_offers_is_a_note_with_the_nearest_name(cli, examples, command):
    instance = json.loads((examples / "word-count.json").read_text())
    for node in instance["cluster"]["nodes"]:
        node["resources"]["memory"] = node["resources"].pop("memory_mb", 1000)
    instance["topologies"][0]["components"][0]["resources"] = {"onheap_mb": 10}
    (examples / "misspelt.json").write_text(json.dumps(instance))
    name, *options = command
    answer = cli(name, "misspelt.json", *options)
    assert "resource 'memory_mb'" in answer.err
    assert "is 'memory' of the nodes meant?" in answer.err
    assert "no node offers it" not in cli(name, "word-count.json", *options).err


def test_an_error_stands_without_the_notes_before_it(cli, examples):
    instance = json.loads((examples / "word-count.json").read_text())
    instance["topologies"][0]["components"][0]["resources"] = {"memory": 10}
    (examples / "misspelt.json").write_text(json.dumps(instance))
    answer = cli("solve", "misspelt.json", "--max-moved", "1")
    assert answer.code == 2
    assert answer.err == "slotwise: --max-moved = 1: needs an instance with `running`\n"
