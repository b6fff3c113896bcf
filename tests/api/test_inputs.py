"""What the public functions take: nouns, paths, dicts and text; anything else is refused."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import slotwise
from slotwise.api.inputs import is_text
from slotwise.models.errors import InputError
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.instance_file import instance_from_data
from slotwise.testing.random_instances.tiny import tiny_instance

FILE = "word-count.json"
BAD_NAME = (
    '{"format": "slotwise.instance/1", "name": 3, "cluster": {"nodes": []}, "topologies": []}'
)


@pytest.fixture
def data(examples):
    return json.loads(Path(FILE).read_text())


@pytest.fixture
def instance(examples):
    return slotwise.read_instance(FILE)


def yaml_text():
    from slotwise.models.formats.yaml_text import yaml_text
    from slotwise.models.instance_file import instance_document

    return yaml_text(instance_document(slotwise.read_instance(FILE)))


def test_all_ways_to_give_an_instance(instance, data):
    text = Path(FILE).read_text()
    ways = (Path(FILE), data, text, json.dumps(data), "\n" + text, yaml_text())
    assert [slotwise.read_instance(way) == instance for way in ways] == [True] * len(ways)


def test_dicts_may_hold_tuples_and_numbers_of_numpy(instance, data):
    data["topologies"] = tuple(data["topologies"])
    data["cluster"]["nodes"][0]["slots"] = np.int64(4)
    data["cluster"]["nodes"][0]["resources"] = {"cpu": Decimal(200), "memory_mb": np.float64(2048)}
    assert slotwise.read_instance(data) == instance


def test_a_path_object_is_never_text(examples):
    odd = Path("{odd}.json")
    odd.write_text(Path(FILE).read_text())
    assert slotwise.read_instance(odd).name == "word-count"
    with pytest.raises(InputError, match="text"):
        slotwise.read_instance(str(odd))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (3, ["instance: must be a path, a dict, text or an Instance, not an int"]),
        (None, ["instance", "not None"]),
        ("", ["instance = ''", "not empty"]),
        ("  ", ["instance", "not empty"]),
        ("missing.json", ["missing.json"]),
        ({}, ["format: is missing"]),
        ({1: 2}, ["'1': must be text, because it is a key"]),
        ({"format": "slotwise.instance/1", "name": object()}, ["name: must be", "not an object"]),
        ({"format": "slotwise.instance/2"}, ["format = 'slotwise.instance/2'"]),
        ("{", ["text:"]),
        ("a: [1,\n", ["text: line"]),
        (BAD_NAME, ["text: name = 3: must be text"]),
    ],
)
def test_bad_input_names_field_and_rule(examples, source, words):
    with pytest.raises(InputError) as caught:
        slotwise.read_instance(source)
    assert [word for word in words if word not in str(caught.value)] == []
    assert "\n" not in str(caught.value)


def test_data_that_contain_themselves_are_refused(data):
    data["topologies"].append(data)
    with pytest.raises(InputError, match="topologies: is nested too deeply"):
        slotwise.read_instance(data)


def test_a_field_deep_in_a_dict_is_named(data):
    data["topologies"][0]["components"][1]["resources"]["cpu"] = -1
    with pytest.raises(InputError, match=r"topologies\[0\].components\[1\].resources.cpu = -1"):
        slotwise.solve(data)


@pytest.mark.parametrize("text", ["a.json", "-", "[odd].yaml", "/x/y z.json", "C:\\x.json"])
def test_these_are_paths(text):
    assert not is_text(text)


@pytest.mark.slow
def test_every_function_takes_every_way(instance, data):
    problem = slotwise.compile_problem(instance)
    expected = slotwise.place(instance, "r-storm")
    for given_as in (instance, problem, FILE, Path(FILE), data, Path(FILE).read_text()):
        assert slotwise.place(given_as, "r-storm") == expected
        plans = (expected, expected.to_dict(instance))
        verdicts = [slotwise.judge(given_as, plan) for plan in plans]
        assert [int(verdict.objective[1].value) for verdict in verdicts] == [28, 28]
        result = slotwise.solve(given_as, engine="exhaustive", hint=expected.to_dict(instance))
        assert result.status == "optimal"
        certificate = slotwise.certify(given_as, result)
        assert slotwise.verify(given_as, certificate).status == "placement verified"
        assert slotwise.convert(given_as, "lp").term == "overload"
    assert len(slotwise.schedule(data).done.refused) == 0


@pytest.mark.slow
def test_plans_and_certificates_in_files_and_dicts(instance):
    result = slotwise.solve(instance, engine="exhaustive")
    slotwise.write_placement("plan.json", instance, result.placement)
    document = json.loads(Path("plan.json").read_text())
    for plan in ("plan.json", Path("plan.json"), document, json.dumps(document)):
        assert slotwise.read_placement(plan, FILE) == result.placement
    certificate = slotwise.certify(FILE, result, slotwise.crosscheck(FILE, result))
    assert len(certificate.proofs) == 2
    slotwise.write_certificate("c.json", certificate)
    document = json.loads(Path("c.json").read_text())
    for claim in ("c.json", Path("c.json"), document, json.dumps(document)):
        assert slotwise.verify(FILE, claim).status == "placement verified"


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"wc": {"lines[0]": {"node": "n9", "worker": 0}}}, "n9"),
        ({"wc": {"lines[7]": ("n1", 0)}}, "lines[7]"),
        ({"wx": {"lines[0]": ("n1", 0)}}, "wx"),
        ({"wc": {"lines[0]": "n1"}}, "placement.wc.lines[0] = 'n1': must be {'node'"),
        ({"wc": {"lines[0]": ("n1", -1)}}, "placement.wc.lines[0].worker = -1"),
        ({"wc": {"lines[0]": (1, 0)}}, "placement.wc.lines[0].node = '1'"),
        ({"wc": 3}, "placement.wc = '3': must be a dict of tasks"),
        ({"refused": "too big"}, "is a refusal"),
        ({"format": "slotwise.instance/1"}, "must be slotwise.placement/1"),
        (7, "placement: must be a path, a dict, text or a Placement, not an int"),
    ],
)
def test_bad_placements_name_field_and_rule(instance, plan, words):
    with pytest.raises(InputError) as caught:
        slotwise.judge(instance, plan)
    assert words in str(caught.value)


@given(seed=st.integers(0, 40), data=st.data())
def test_placements_go_round_by_names(seed, data):
    instance = tiny_instance(np.random.default_rng(seed))
    count, nodes = len(instance.task_names()), len(instance.cluster.nodes)
    place = st.one_of(
        st.just((UNPLACED, UNPLACED)), st.tuples(st.integers(0, nodes - 1), st.integers(0, 9000))
    )
    places = data.draw(st.lists(place, min_size=count, max_size=count))
    placement = Placement(tuple(n for n, _ in places), tuple(w for _, w in places))
    by_name = placement.to_dict(instance)
    assert Placement.from_dict(instance, by_name) == placement
    assert Placement.from_dict(instance, json.loads(json.dumps(by_name))) == placement


def test_a_placement_of_another_instance_has_no_names(instance):
    for wrong in (Placement((0,), (0,)), Placement((7,) * 9, (0,) * 9)):
        with pytest.raises(InputError, match="must be a placement of word-count"):
            wrong.to_dict(instance)


def test_options_of_storm_clusters_need_a_file(instance):
    for given_as in (instance, FILE):
        with pytest.raises(InputError, match="topology = 'a': applies to decoded Storm clusters"):
            slotwise.solve(given_as, topology="a")


def test_a_limit_of_moves(data):
    plan = slotwise.solve(data).places["wc"]
    data["running"] = {"wc": {t: {"node": "n3", "worker": p.worker} for t, p in plan.items()}}
    moved = slotwise.solve(data, max_moved=6)
    assert moved.verdict.parts["moved"] <= 6
    certificate = slotwise.certify(data, moved, max_moved=6)
    assert slotwise.verify(data, certificate, max_moved=6).status == "placement verified"
    with pytest.raises(InputError, match="max_moved = 1: needs an instance"):
        slotwise.solve(FILE, max_moved=1)


def test_parameters_as_texts(instance):
    result = slotwise.solve(instance, engine="cp-sat", parameters=["cp-sat.max_counts=40000"])
    assert result.parameters["cp-sat"].max_counts == 40_000
    with pytest.raises(InputError, match=r"must be ENGINE\.NAME=VALUE"):
        slotwise.solve(instance, parameters="nonsense")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["file", "instance"])
@pytest.mark.parametrize(
    "call",
    [
        lambda given: slotwise.solve(given, time_limit_s=10),
        lambda given: slotwise.place(given, "round-robin"),
        lambda given: slotwise.explain(given, time_limit_s=2),
    ],
    ids=["solve", "place", "explain"],
)
def test_a_resource_that_no_node_offers_is_a_warning(data, call, form):
    for node in data["cluster"]["nodes"]:
        node["resources"]["memory"] = node["resources"].pop("memory_mb", 1000)
    data["topologies"][0]["components"][0]["resources"] = {"onheap_mb": 10}
    Path("misspelt.json").write_text(json.dumps(data))
    asked = "misspelt.json" if form == "file" else instance_from_data(data)
    with pytest.warns(UserWarning, match="is 'memory' of the nodes meant") as warned:
        call(asked)
    assert len(warned) == 1


def test_resources_that_nodes_offer_are_no_warning(instance, recwarn):
    slotwise.place(instance, "round-robin")
    slotwise.place(FILE, "round-robin")
    assert not [one for one in recwarn if one.category is UserWarning]
