"""Instance files: exact numbers, the round trip, the hash, what is recognised."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from malformed_cases import GOOD, GOOD_HASH, good_text

from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.json_text import canonical_json, parse_json, pretty_json
from slotwise.models.formats.yaml_text import parse_yaml, yaml_text
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Ackers, Component, Stream, Topology
from slotwise.models.instance_file import (
    instance_document,
    instance_from_text,
    instance_hash,
    instance_text,
    read_instance,
    write_instance,
)
from slotwise.models.schemas import json_schemas
from slotwise.models.values import exact_text
from slotwise.testing import instances

EVERYTHING = """
{"format": "slotwise.instance/1", "name": "everything",
 "cluster": {"distance": {"worker": 0, "node": 0.5, "rack": 2, "cluster": 3},
   "nodes": [{"id": "n1", "host": "h1", "rack": "r1", "slots": 4,
              "resources": {"cpu": 400, "memory_mb": 4096.5, "gpu": null}},
             {"id": "n2", "rack": "r2", "resources": {}}],
   "matrix": [[0, 1.25], [2, 0]]},
 "topologies": [{"id": "wc", "owner": "ann", "priority": 0, "launch_time": 7,
   "strategy": "ras-default", "worker_max_heap_mb": 768, "workers": 2,
   "favored_nodes": ["n1"], "unfavored_nodes": ["elsewhere"],
   "constraints": {"incompatible": [["split", "count"]], "max_per_node": {"count": 2}},
   "one_task_per_worker": false, "one_component_per_worker": true,
   "shared_memory": [{"id": "cache", "kind": "onheap", "mb": 100, "components": ["split"]}],
   "ackers": {"count": 1, "per_worker": 2, "resources": {"cpu": 0.1}},
   "components": [
     {"id": "spout", "kind": "spout", "parallelism": 2,
      "resources": {"cpu": 10, "onheap_mb": 128, "offheap_mb": 0}},
     {"id": "split", "kind": "bolt", "parallelism": 0},
     {"id": "count", "kind": "bolt", "parallelism": 1}],
   "streams": [{"from": "spout", "to": "split", "grouping": "global", "rate": 1e3,
                "tuple_bytes": 0.1},
               {"from": "split", "to": "count", "rate": 5}]}],
 "scheduler": {"worker_min_cpu": 0, "priority_strategy": "fifo",
               "pools": {"ann": {"cpu": 1000, "memory_mb": 8192}}},
 "running": {"wc": {"spout[0]": {"node": "n1", "worker": 6700}}},
 "linear": [["spout[1]", "n2", 0.000001], ["wc/count[0]", "n1", 3]], "flow": "rates",
 "objective": {"terms": ["moved", "overload", "network + linear"], "soft": {"cpu": 2}}}
"""

# What follows from the format alone: it must not change without a new format.
EVERYTHING_HASH = "sha256:03c5e8249147fecf53d65da3d8f7a1f5299996857696cac3d4dcb76506c84a15"


def test_every_key_is_read() -> None:
    instance = instance_from_text(EVERYTHING)
    topology = instance.topologies[0]
    assert instance.cluster.nodes[0].resources == {
        "cpu": 400,
        "memory_mb": Decimal("4096.5"),
        "gpu": None,
    }
    assert instance.cluster.nodes[1].host == "n2"
    assert instance.cluster.nodes[1].slots is None
    assert instance.cluster.matrix == ((0, Decimal("1.25")), (2, 0))
    assert topology.ackers is not None
    assert topology.ackers.resources == {"cpu": Decimal("0.1")}
    assert topology.streams[0].rate == 1000
    assert topology.shared_memory[0].components == ("split",)
    assert instance.running is not None
    assert instance.running["wc"]["spout[0]"].worker == 6700
    assert instance.linear[0].cost == Decimal("0.000001")
    assert instance.objective.terms == ("moved", "overload", "network+linear")
    assert instance_hash(instance) == EVERYTHING_HASH


def test_defaults_are_those_of_the_nouns() -> None:
    instance = instance_from_text(good_text())
    assert instance.objective.terms == ("overload", "network")
    assert instance.topologies[0].worker_max_heap_mb is None
    assert instance.topologies[0].priority == 29
    assert instance.flow == "pairs"


@pytest.mark.parametrize("suffix", [".json", ".yaml", ".yml"])
def test_written_files_read_as_the_same_instance(tmp_path: Path, suffix: str) -> None:
    instance = instance_from_text(EVERYTHING)
    path = tmp_path / f"one{suffix}"
    write_instance(path, instance)
    again = read_instance(path)
    assert again == instance
    assert instance_hash(again) == EVERYTHING_HASH


WORKLOAD = """
{"format": "slotwise.instance/1", "name": "workload",
 "cluster": {"delay_ms": {"node": 0.05, "cluster": 2}, "serialise_ms": {"rack": 0.02},
   "uplink_mbit_s": {"r1": 1000},
   "nodes": [{"id": "n1", "rack": "r1", "resources": {"cpu": 400}, "cores": 4,
              "bandwidth_in_mbit_s": 100, "bandwidth_out_mbit_s": 50.5}]},
 "topologies": [{"id": "wc", "window": 20, "acked": false,
   "ackers": {"count": 1, "service_ms": 0.01, "service_scv": 1, "message_bytes": 20},
   "components": [
     {"id": "spout", "kind": "spout", "parallelism": 2, "rate": 1000, "service_ms": 0.000001,
      "service_scv": 0},
     {"id": "split", "kind": "bolt", "parallelism": 1, "service_ms": 0.25}],
   "streams": [{"from": "spout", "to": "split", "selectivity": 7.5, "tuple_bytes": 100}]}]}
"""


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_workload_is_written_and_read(tmp_path: Path, suffix: str) -> None:
    instance = instance_from_text(WORKLOAD)
    (topology,), (node,) = instance.topologies, instance.cluster.nodes
    assert instance.cluster.delay_ms.levels == (None, Decimal("0.05"), None, 2)
    assert instance.cluster.serialise_ms.rack == Decimal("0.02")
    assert instance.cluster.uplink_mbit_s == {"r1": 1000}
    assert (node.cores, node.bandwidth_in_mbit_s) == (4, 100)
    assert (topology.window, topology.acked) == (20, False)
    assert topology.streams[0].selectivity == Decimal("7.5")
    spout, _, acker = topology.placed_components
    assert (spout.rate, spout.service_ms, spout.service_scv) == (1000, Decimal("0.000001"), 0)
    assert (acker.service_ms, acker.service_scv) == (Decimal("0.01"), 1)
    path = tmp_path / f"one{suffix}"
    write_instance(path, instance)
    assert read_instance(path) == instance


def _keys(data: Any) -> set[str]:
    """Return every key in the data of a file."""
    if isinstance(data, dict):
        return set(data).union(*map(_keys, data.values()))
    return set().union(*map(_keys, data)) if isinstance(data, list) else set()


WORKLOAD_KEYS = {
    *("cores", "bandwidth_in_mbit_s", "bandwidth_out_mbit_s"),
    *("delay_ms", "serialise_ms", "uplink_mbit_s"),
    *("window", "acked", "service_ms", "service_scv", "message_bytes", "selectivity"),
}


def test_a_workload_counts_in_the_hash_and_is_not_written_where_there_is_none() -> None:
    workload, bare = instance_from_text(WORKLOAD), instance_from_text(good_text())
    assert _keys(instance_document(workload)) >= WORKLOAD_KEYS
    assert not _keys(instance_document(bare)) & WORKLOAD_KEYS
    assert instance_hash(bare) == GOOD_HASH
    changed = instance_from_text(WORKLOAD.replace('"service_scv": 0', '"service_scv": 0.5'))
    assert instance_hash(changed) != instance_hash(workload)


@pytest.mark.slow
@given(instances(wide_numbers=True))
def test_round_trip_of_any_instance(instance: Instance) -> None:
    as_json = instance_from_text(instance_text(instance))
    as_yaml = instance_from_text(yaml_text(instance_document(instance)))
    assert as_json == as_yaml == instance
    assert instance_hash(as_json) == instance_hash(as_yaml) == instance_hash(instance)
    assert instance_text(as_json) == instance_text(instance)


numbers = st.decimals(min_value=0, max_value=10**15, places=6) | st.integers(0, 10**15)
texts = st.text(st.characters(exclude_categories=["Cs"]))
data = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
)


@given(data)
def test_json_is_exact(value: Any) -> None:
    assert parse_json(pretty_json(value)) == value
    assert parse_json(canonical_json(value)) == value
    json.loads(pretty_json(value))  # and other readers of JSON take it


@given(data)
@example({"\x85": "\u2028a\x85 b\ufeff\t\r\n", "": " "})
def test_yaml_is_exact_and_plain(value: Any) -> None:
    assert parse_yaml(yaml_text(value)) == value
    yaml.safe_load(yaml_text(value))  # and other readers of YAML take it


@pytest.mark.parametrize("text", ["1", "1.0", "1e0", "10e-1", "1.000000", "0.1E+1"])
def test_equal_numbers_are_written_the_same(text: str) -> None:
    assert canonical_json(parse_json(text)) == "1"


def test_numbers_are_plain_text() -> None:
    assert exact_text(Decimal("1E+3")) == "1000"
    assert exact_text(Decimal("0.10")) == "0.1"
    assert exact_text(Decimal("-0")) == "0"


REWRITES: dict[str, Callable[[str], str]] = {
    "other name": lambda text: text.replace('"good"', '"better"'),
    "spelling of numbers": lambda text: text.replace("400", "4.00e2").replace("4096", "4096.0"),
    "keys in another order": lambda text: json.dumps(json.loads(text), sort_keys=True, indent=3),
    "a default written out": lambda text: text.replace(
        '"format"', '"flow": "pairs", "running": null, "linear": [], "scheduler": {}, "format"'
    ),
    "a default left out": lambda text: text.replace(
        '"distance": {"worker": 0, "node": 1, "rack": 2, "cluster": 3}, ', ""
    ),
    "host written out": lambda text: text.replace('"id": "n1"', '"id": "n1", "host": "n1"'),
    "a demand of nothing": lambda text: text.replace(
        '"onheap_mb": 128', '"onheap_mb": 128, "x": 0.0'
    ),
    "a capacity of nothing": lambda text: text.replace('"cpu": 400', '"cpu": 400, "gpu": 0'),
    "all defaults": lambda text: instance_text(instance_from_text(text)),
    "yaml": lambda text: yaml_text(json.loads(text)),
}


@pytest.mark.parametrize("name", REWRITES)
def test_hash_does_not_see(name: str) -> None:
    text = REWRITES[name](good_text())
    assert text != good_text()
    assert instance_hash(instance_from_text(text)) == instance_hash(instance_from_text(good_text()))


EDITS = [
    ('"cpu": 400', '"cpu": 400.000001'),
    ('"parallelism": 2', '"parallelism": 3'),
    ('"rack": "r1"', '"rack": "r2"'),
    ('"slots": 2', '"slots": null'),
    ('"kind": "bolt"', '"kind": "spout"'),
    ('"to": "count"', '"to": "spout"'),
    ('"format"', '"objective": {"soft": {"cpu": 1}}, "format"'),
]


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_hash_sees(old: str, new: str) -> None:
    assert old in good_text()
    edited = instance_from_text(good_text().replace(old, new, 1))
    assert instance_hash(edited) != instance_hash(instance_from_text(good_text()))


def test_yaml_scalars_are_those_of_yaml_1_2() -> None:
    text = "a: 1e3\nb: on\nc: 1:30\nd: 2020-01-01\ne: 0.1\nf: ~\ng: '5'\nh: &x [1]\ni: *x\n"
    assert parse_yaml(text) == {
        "a": 1000,
        "b": "on",
        "c": "1:30",
        "d": "2020-01-01",
        "e": Decimal("0.1"),
        "f": None,
        "g": "5",
        "h": [1],
        "i": [1],
    }


def test_reads_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(good_text().encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read_instance("-") == instance_from_text(good_text())


def test_stdin_is_named_in_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    with pytest.raises(InputError, match=r"^stdin: format: is missing"):
        read_instance("-")


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "bom.json"
    path.write_text(good_text(), encoding="utf-8-sig")
    assert read_instance(path).name == "good"


def test_options_of_other_formats_are_refused() -> None:
    with pytest.raises(InputError, match="applies to decoded Storm clusters only"):
        read_instance_with_topology()


def read_instance_with_topology() -> Instance:
    from slotwise.models.instance_file import instance_from_data

    return instance_from_data(GOOD, topology="wc")


def test_schemas_name_every_key_and_limit() -> None:
    schemas = json_schemas()
    own = {"instance", "placement", "refusal", "certificate", "pools"}
    assert set(schemas) == own | {
        "performance",
        "dataflow",
        "vms",
        "allocation-case",
        "advice",
        "assumptions",
        "plan",
    }
    instance = json.loads(json.dumps(schemas["instance"]))
    assert set(instance["required"]) == {"format", "name", "cluster", "topologies"}
    stream = instance["$defs"]["Stream"]
    assert set(stream["required"]) == {"from", "to"}
    assert "global" in stream["properties"]["grouping"]["enum"]
    for part in instance["$defs"].values():
        assert part["additionalProperties"] is False


def test_writing_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    write_atomically(path, "old")
    write_atomically(path, "new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert [p.name for p in tmp_path.iterdir()] == ["one.txt"]


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.txt"
    write_atomically(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"one\.txt: cannot be written: No space left on device"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["one.txt"]


@pytest.mark.parametrize("target", ["missing/one.json", "."])
def test_what_cannot_be_written_is_named(tmp_path: Path, target: str) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_instance(tmp_path / target, instance_from_text(good_text()))


def test_the_nouns_need_no_file_libraries() -> None:
    code = (
        "import sys, slotwise.models.judge.judge, slotwise.models.instance.placement\n"
        "print([m for m in ('pydantic', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_estimated_weights_are_marked_and_the_hash_does_not_count_the_marks() -> None:
    component = Component("a", "spout", 1, {"cpu": Decimal(5)}, ("onheap_mb", "cpu"))
    stream = Stream("a", "a", "shuffle", Decimal(1), None, ("tuple_bytes",))
    ackers = Ackers(1, estimated=("cpu",))
    marked = Instance(
        "i",
        Cluster((Node("n", "r"),)),
        (Topology("t", (component,), (stream,), ackers=ackers),),
    )
    assert instance_from_text(instance_text(marked)) == marked
    plain = replace(
        marked,
        topologies=(
            replace(
                marked.topologies[0],
                components=(replace(component, estimated=()),),
                streams=(replace(stream, estimated=()),),
                ackers=replace(ackers, estimated=()),
            ),
        ),
    )
    assert "estimated" not in instance_text(plain)
    assert instance_hash(plain) == instance_hash(marked)
    assert component.estimated == ("cpu", "onheap_mb")


@pytest.mark.parametrize("names", [["weight"], ["rate", "rate"], [""]])
def test_marks_of_streams_are_names_of_weights(names: list[str]) -> None:
    with pytest.raises(InputError, match="estimated"):
        Stream("a", "b", estimated=tuple(names))
