"""Malformed inputs and what the one-line message about each must say.

The table serves the readers' own test and the command line's. Inputs of some size, and those that
editors would mend, stand as files in ``malformed/``; the others are changes to a good text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parent / "malformed"

Kind = Literal["instance", "placement"]

GOOD: dict[str, Any] = {
    "format": "slotwise.instance/1",
    "name": "good",
    "cluster": {
        "distance": {"worker": 0, "node": 1, "rack": 2, "cluster": 3},
        "nodes": [
            {"id": "n1", "rack": "r1", "slots": 2, "resources": {"cpu": 400, "memory_mb": 4096}},
            {"id": "n2", "rack": "r1", "slots": 2, "resources": {"cpu": 400, "memory_mb": 4096}},
        ],
    },
    "topologies": [
        {
            "id": "wc",
            "components": [
                {
                    "id": "spout",
                    "kind": "spout",
                    "parallelism": 2,
                    "resources": {"cpu": 10, "onheap_mb": 128},
                },
                {"id": "count", "kind": "bolt", "parallelism": 1, "resources": {"cpu": 10}},
            ],
            "streams": [{"from": "spout", "to": "count"}],
        }
    ],
}

GOOD_HASH = "sha256:3218d3d4d82bec61329e66dc71bc2454add07098710bcb1325713a0f715f542f"
"""Hash of `GOOD`; the test holds it to what the project computes."""


OUTSIZED = "must be at most 100 digits long, with an exponent of at most 200"
"""The rule for numbers that are not even read."""

OUTSIZED_NUMBERS = (
    "1e5000",
    "-1e5000",
    "1e-999999",
    "1e9999999",
    "1e99999999999999999999",
    "1e-99999999999999999999",
    "9" * 9000,
    "0." + "1" * 9000,
    "1e" + "9" * 9000,
)
"""Beyond exponent or digits; the fifth and sixth are beyond what `Decimal` can hold."""


@dataclass(frozen=True, slots=True)
class Case:
    """One malformed input.

    Parameters
    ----------
    name
        Of the case; its file is ``<name><suffix>``.
    kind
        Whether it stands where an instance or where a placement of `GOOD` is expected.
    content
        Of the file; a `Path` = copied from there; `FOLDER` = a folder stands there;
        ``None`` = there is nothing.
    fragments
        What the message must contain, besides the file's name: field, value, rule.
    suffix
        Of the file.
    """

    name: str
    kind: Kind
    content: str | bytes | Path | None
    fragments: tuple[str, ...]
    suffix: str = ".json"

    def put(self, folder: Path) -> Path:
        """Make the input in `folder` and return its path."""
        path = folder / f"{self.name}{self.suffix}"
        if isinstance(self.content, bytes):
            path.write_bytes(self.content)
        elif isinstance(self.content, str):
            path.write_text(self.content, encoding="utf-8")
        elif self.content == FOLDER:
            path.mkdir()
        elif isinstance(self.content, Path):
            path.write_bytes(self.content.read_bytes())
        return path


def good_text() -> str:
    """Return the instance that the placements of the table belong to."""
    return json.dumps(GOOD)


Change = Callable[[dict[str, Any]], object]


def _changed(good: dict[str, Any], change: Change) -> str:
    document = json.loads(json.dumps(good))
    change(document)
    return json.dumps(document)


def _instance(name: str, change: Change, *fragments: str) -> Case:
    return Case(name, "instance", _changed(GOOD, change), fragments)


def _swapped(name: str, old: str, new: str, *fragments: str) -> Case:
    """Return a case by text: for what `json.dumps` would not write."""
    text = good_text()
    assert old in text, old
    return Case(name, "instance", text.replace(old, new, 1), fragments)


def _set(path: str, value: Any) -> Change:
    """Return a change that sets the field at ``a.0.b`` to `value`."""
    *parents, last = path.split(".")

    def change(document: dict[str, Any]) -> None:
        spot: Any = document
        for key in parents:
            spot = spot[int(key)] if isinstance(spot, list) else spot.setdefault(key, {})
        if isinstance(spot, list):
            spot[int(last)] = value
        else:
            spot[last] = value

    return change


def _drop(path: str) -> Change:
    """Return a change that removes the field at ``a.0.b``."""
    *parents, last = path.split(".")

    def change(document: dict[str, Any]) -> None:
        spot: Any = document
        for key in parents:
            spot = spot[int(key)] if isinstance(spot, list) else spot[key]
        del spot[last]

    return change


_T = "topologies.0"
_C = f"{_T}.components.0"
_N = "cluster.nodes.0"
T, C, N = "topologies[0]", "topologies[0].components[0]", "cluster.nodes[0]"

_LONG = f"spout[{'9' * 4000}]"
_INSTANCES = [
    # What is long is cut.
    _instance(
        "long-task",
        _set("running", {"wc": {_LONG: {"node": "n1", "worker": 0}}}),
        "running.wc.spout[999",
        "...: must be a task of the instance",
    ),
    # Missing and unknown keys.
    _instance("no-format", _drop("format"), "format: is missing", "slotwise.instance/1"),
    _instance("no-name", _drop("name"), "name: is missing"),
    _instance("no-cluster", _drop("cluster"), "cluster: is missing"),
    _instance("no-parallelism", _drop(f"{_C}.parallelism"), f"{C}.parallelism: is missing"),
    _instance("no-rack", _drop(f"{_N}.rack"), f"{N}.rack: is missing"),
    _instance(
        "misspelt-key", _set(f"{_C}.paralelism", 3), f"{C}.paralelism = 3", "is an unknown key"
    ),
    _instance("unknown-top-key", _set("nodes", []), "nodes = []", "is an unknown key", "known are"),
    _instance(
        "key-with-line-break", _set("a\nb\u001b[31m", 1), "a b\\x1b[31m = 1", "is an unknown key"
    ),
    # Formats.
    _instance(
        "newer-format",
        _set("format", "slotwise.instance/2"),
        "format = 'slotwise.instance/2'",
        "must be slotwise.instance/1",
    ),
    _instance("format-of-a-placement", _set("format", "slotwise.placement/1"), "format = "),
    # Types.
    _instance("text-for-number", _set(f"{_N}.resources.cpu", "3"), f"{N}.resources.cpu = '3'"),
    _instance("true-for-number", _set(f"{_N}.resources.cpu", True), ".cpu = true", "a number"),
    _instance("list-for-number", _set(f"{_N}.resources.cpu", [1]), ".cpu = [1]", "a number"),
    _instance("null-demand", _set(f"{_C}.resources.cpu", None), ".cpu = null", "a number"),
    _instance("text-parallelism", _set(f"{_C}.parallelism", "3"), "= '3'", "a whole number"),
    _instance("true-parallelism", _set(f"{_C}.parallelism", True), "= true", "a whole number"),
    _swapped(
        "parallelism-2.0",
        '"parallelism": 2',
        '"parallelism": 2.0',
        f"{C}.parallelism = 2.0",
        "must be a whole number",
    ),
    _instance("number-for-id", _set(f"{_C}.id", 7), f"{C}.id = 7", "must be text"),
    _instance("one-for-true", _set(f"{_T}.one_task_per_worker", 1), "= 1", "true or false"),
    _instance("object-for-list", _set("topologies", {}), "topologies = {}", "must be a list"),
    _instance("list-for-object", _set("cluster", []), "cluster = []", "must be an object"),
    _instance(
        "pair-of-three",
        _set(f"{_T}.constraints.incompatible", [["a", "b", "c"]]),
        f"{T}.constraints.incompatible[0]",
        "2",
    ),
    _instance(
        "pair-of-one",
        _set(f"{_T}.constraints.incompatible", [["spout"]]),
        f"{T}.constraints.incompatible[0][1]: is missing",
    ),
    _instance("empty-id", _set(f"{_C}.id", ""), f"{C}.id = ''", "not empty"),
    _instance("id-of-two-lines", _set(f"{_N}.id", "a\nb"), f"{N}.id = 'a\\nb'", "one line"),
    _instance("unknown-kind", _set(f"{_C}.kind", "sink"), f"{C}.kind = 'sink'", "spout, bolt"),
    _instance(
        "unknown-grouping",
        _set(f"{_T}.streams.0.grouping", "random"),
        f"{T}.streams[0].grouping = 'random'",
        "must be one of",
    ),
    # Numbers.
    _instance("negative", _set(f"{_C}.resources.cpu", -1), f"{C}.resources.cpu = -1", "0 or more"),
    _instance("negative-parallelism", _set(f"{_C}.parallelism", -2), "= -2", "0 or more"),
    _swapped("nan", '"cpu": 400', '"cpu": NaN', f"{N}.resources.cpu = NaN", "must be finite"),
    _swapped("infinite", '"cpu": 400', '"cpu": Infinity', "= Infinity", "must be finite", "null"),
    _swapped("minus-infinite", '"cpu": 400', '"cpu": -Infinity', "= -Infinity", "must be finite"),
    _swapped("huge", '"cpu": 400', '"cpu": 1e200', "cpu = 1E+200", "must be at most 1E+15"),
    _swapped(
        "long", '"cpu": 400', '"cpu": ' + "9" * 9000, f"{N}.resources.cpu = 9999", "must be at most"
    ),
    _swapped("seven-decimals", '"cpu": 400', '"cpu": 0.1234567', "= 0.1234567", "6 decimals"),
    _swapped("tiny", '"cpu": 400', '"cpu": 1e-199', f"{N}.resources.cpu = 1E-199", "6 decimals"),
    *(
        _swapped(
            f"outsized-{i}", '"cpu": 400', f'"cpu": {number}', f"{N}.resources.cpu = ", OUTSIZED
        )
        for i, number in enumerate(OUTSIZED_NUMBERS)
    ),
    *(
        Case(
            f"outsized-yaml-{i}",
            "instance",
            good_text().replace('"cpu": 400', f'"cpu": {number}', 1),
            (f"{N}.resources.cpu = ", OUTSIZED),
            ".yaml",
        )
        for i, number in enumerate(OUTSIZED_NUMBERS)
    ),
    _swapped(
        "outsized-parallelism",
        '"parallelism": 2',
        f'"parallelism": {"9" * 9000}',
        f"{C}.parallelism = 999",
        OUTSIZED,
    ),
    _swapped("outsized-text", '"wc"', "1e5000", f"{T}.id = 1e5000", "must be text"),
    _swapped("outsized-key", '"name": "good"', '"name": "good", "x": 1e5000', "x = 1e5000"),
    _swapped(
        "million-tasks",
        '"parallelism": 2',
        '"parallelism": 1000001',
        f"{C}.parallelism = 1000001",
        "more than 1000000 tasks",
    ),
    _instance("no-workers", _set(f"{_T}.workers", 0), f"{T}.workers = 0", "1 or more"),
    # References and sets.
    _instance("twin-nodes", _set(f"{_N}.id", "n2"), "cluster.nodes[].id = 'n2'", "unique"),
    _instance("twin-components", _set(f"{_C}.id", "count"), f"{T}.components[].id = 'count'"),
    _instance(
        "twin-topologies",
        lambda d: d["topologies"].append(d["topologies"][0]),
        "topologies[].id = 'wc'",
        "must be unique, but occurs 2 times",
    ),
    _instance(
        "dangling-stream",
        _set(f"{_T}.streams.0.to", "sink"),
        f"{T}.streams[0].to = 'sink'",
        "must be a component of topology 'wc'",
    ),
    _instance(
        "constraint-on-nobody",
        _set(f"{_T}.constraints.max_per_node", {"sink": 1}),
        f"{T}.constraints.max_per_node = 'sink'",
        "must be a component",
    ),
    _instance("empty-cluster", _set("cluster.nodes", []), "cluster.nodes", "at least one node"),
    _instance(
        "soft-that-nobody-offers",
        _set("objective", {"soft": {"gpu": 1}}),
        "objective.soft = 'gpu'",
        "must be a resource that some node offers",
    ),
    _instance(
        "unknown-term",
        _set("objective", {"terms": ["overload", "speed"]}),
        "objective.terms[1] = 'speed'",
        "must be one of",
    ),
    _instance("no-term", _set("objective", {"terms": []}), "objective.terms", "at least one"),
    _instance(
        "term-twice",
        _set("objective", {"terms": ["network", "nodes+network"]}),
        "objective.terms = 'network'",
        "must be unique",
    ),
    _instance(
        "moved-without-running",
        _set("objective", {"terms": ["moved"]}),
        "objective.terms = 'moved'",
        "needs `running`",
    ),
    # What only predictions read.
    _instance("no-window", _set(f"{_T}.window", 0), f"{T}.window = 0", "must be 1 or more"),
    _instance("no-cores", _set(f"{_N}.cores", 0), f"{N}.cores = 0", "must be 1 or more"),
    _instance(
        "no-bandwidth",
        _set(f"{_N}.bandwidth_in_mbit_s", 0),
        f"{N}.bandwidth_in_mbit_s = 0",
        "must be above 0",
    ),
    _instance(
        "negative-bandwidth",
        _set(f"{_N}.bandwidth_out_mbit_s", -1),
        f"{N}.bandwidth_out_mbit_s = -1",
        "must be 0 or more",
    ),
    _instance(
        "no-uplink",
        _set("cluster.uplink_mbit_s", {"r1": 0}),
        "cluster.uplink_mbit_s.r1 = 0",
        "must be above 0",
    ),
    _instance(
        "uplink-of-no-rack",
        _set("cluster.uplink_mbit_s", {"r9": 1}),
        "cluster.uplink_mbit_s.r9 = 1",
        "must be the rack of a node",
    ),
    _instance(
        "negative-delay",
        _set("cluster.delay_ms", {"rack": -0.5}),
        "cluster.delay_ms.rack = -0.5",
        "must be 0 or more",
    ),
    _instance(
        "level-that-is-none",
        _set("cluster.serialise_ms", {"host": 1}),
        "cluster.serialise_ms.host = 1",
        "is an unknown key; known are worker, node, rack, cluster",
    ),
    _instance(
        "negative-service",
        _set(f"{_C}.service_ms", -1),
        f"{C}.service_ms = -1",
        "must be 0 or more",
    ),
    _instance(
        "text-for-selectivity",
        _set(f"{_T}.streams.0.selectivity", "2"),
        f"{T}.streams[0].selectivity = '2'",
        "must be a number, not text",
    ),
    _instance(
        "rate-of-a-bolt",
        _set(f"{_T}.components.1.rate", 5),
        f"{T}.components[1].rate = 5",
        "only a spout has one",
    ),
    _instance(
        "acked-by-nobody",
        _set(f"{_T}.acked", True),
        f"{T}.acked = true",
        "needs `ackers` that track the tuples",
    ),
    _swapped(
        "nan-service",
        '"kind": "spout"',
        '"kind": "spout", "service_ms": NaN',
        f"{C}.service_ms = NaN",
        "must be finite",
    ),
    _instance(
        "falling-distance",
        _set("cluster.distance.rack", 0.5),
        "cluster.distance.rack = 0.5",
        "at least the level below",
    ),
    _instance(
        "matrix-with-few-rows",
        _set("cluster.matrix", [[0, 1]]),
        "cluster.matrix = '1 rows'",
        "one row per node (2)",
    ),
    _instance(
        "matrix-not-square",
        _set("cluster.matrix", [[0, 1], [1]]),
        "cluster.matrix[1] = '1 entries'",
        "one entry per node (2)",
    ),
    _instance(
        "memory-on-a-task",
        _set(f"{_C}.resources.memory_mb", 5),
        f"{C}.resources.memory_mb = 5",
        "onheap_mb and offheap_mb",
    ),
    _instance("rate-needed", _set("flow", "rates"), f"{T}.streams[0].rate = null", "'rates'"),
    _instance(
        "linear-of-nobody",
        _set("linear", [["spout[9]", "n1", 1]]),
        "linear[0][0] = 'spout[9]'",
        "must be a task",
    ),
    _instance("linear-nowhere", _set("linear", [["spout[0]", "n9", 1]]), "linear[0][1] = 'n9'"),
    _instance(
        "running-nobody",
        _set("running", {"wc": {"spout[7]": {"node": "n1", "worker": 0}}}),
        "running.wc.spout[7]",
        "must be a task of the instance",
    ),
    # Texts.
    Case("missing", "instance", None, ("cannot be read: No such file or directory",)),
    Case("folder", "instance", FOLDER, ("cannot be read: Is a directory",)),
    Case("empty", "instance", "", ("is empty",)),
    Case("blank", "instance", " \n\n", ("is empty",)),
    Case("only-a-comment", "instance", "# nothing\n", ("null", "must be an object"), ".yaml"),
    Case("list", "instance", "[1, 2]", ("[1, 2]", "must be an object")),
    Case("words", "instance", "hello world", ("'hello world'", "must be an object")),
    Case("binary", "instance", bytes(range(128, 256)), ("byte 0", "is not UTF-8 text")),
    Case("zeros", "instance", b"\0" * 64, ("is not valid YAML",)),
    Case("cut-off", "instance", good_text()[:-40], ("line 1 column", "is not valid JSON")),
    Case(
        "broken-json",
        "instance",
        '{"format":\n "slotwise.instance/1",\n oops}',
        ("line 3 column 2 = 'oops}'", "is not valid JSON"),
    ),
    Case("trailing-text", "instance", good_text() + "}", ("= '}'", "is not valid JSON")),
    Case("deep-json", "instance", "[" * 200_000, ("is nested too deeply",)),
    Case(
        "deep-but-parsed",
        "instance",
        good_text().replace('"good"', "[" * 200 + "]" * 200, 1),
        ("is nested too deeply", "at most 100"),
    ),
    Case(
        "lone-surrogate",
        "instance",
        good_text().replace('"wc"', '"\\ud800"', 1),
        (f"{T}.id", "must be Unicode text, without surrogates"),
    ),
    Case(
        "lone-surrogate-key",
        "instance",
        good_text().replace('"cpu"', '"\\ud800"', 1),
        ("\\ud800", "must be Unicode text, without surrogates"),
    ),
    Case(
        "key-twice",
        "instance",
        good_text().replace('"name"', '"name": "x", "name"', 1),
        ("name = 'good'", "is a duplicate key"),
    ),
    Case(
        "broken-yaml",
        "instance",
        "format: slotwise.instance/1\nname: [a\ncluster: b\n",
        ("line 3 column", "is not valid YAML"),
        ".yaml",
    ),
    Case(
        "tabs",
        "instance",
        "format: slotwise.instance/1\ncluster:\n\tnodes: []\n",
        ("line 3 column 1", "is not valid YAML"),
        ".yaml",
    ),
    Case("deep-yaml", "instance", "- " * 200_000, ("line 1 column", "at most 100 deep"), ".yaml"),
    Case(
        "python-tag",
        "instance",
        "format: !!python/object/apply:os.system ['true']\n",
        ("line 1 column 9", "must have no tag"),
        ".yaml",
    ),
    Case(
        "yaml-key-twice",
        "instance",
        "name: a\nname: b\n",
        ("line 2 column 1 = 'name'", "is a duplicate key"),
        ".yaml",
    ),
    Case(
        "yaml-number-key",
        "instance",
        "name: a\n1: b\n",
        ("line 2 column 1 = 1", "must be text, because it is a key"),
        ".yaml",
    ),
    Case(
        "yaml-nan",
        "instance",
        FOLDER / "nan.yaml",
        ("cluster.nodes[0].resources.cpu = NaN", "must be finite"),
        ".yaml",
    ),
    Case(
        "alias-bomb",
        "instance",
        FOLDER / "alias-bomb.yaml",
        ("line", "values, aliases unfolded"),
        ".yaml",
    ),
    Case(
        "alias-of-itself",
        "instance",
        "format: &a [*a]\n",
        ("= '*a'", "must follow its anchor"),
        ".yaml",
    ),
    Case(
        "two-documents", "instance", "--- {}\n--- {}\n", ("must hold only one document",), ".yaml"
    ),
]

GOOD_PLACEMENT: dict[str, Any] = {
    "format": "slotwise.placement/1",
    "instance": GOOD_HASH,
    "topologies": {
        "wc": {
            "spout[0]": {"node": "n1", "worker": 0},
            "spout[1]": {"node": "n1", "worker": 0},
            "count[0]": {"node": "n2", "worker": 3},
        }
    },
}


def _placement(name: str, change: Change, *fragments: str) -> Case:
    return Case(name, "placement", _changed(GOOD_PLACEMENT, change), fragments)


def _place(task: str, value: Any) -> Change:
    def change(document: dict[str, Any]) -> None:
        document["topologies"]["wc"][task] = value

    return change


_PLACEMENTS = [
    _placement("plan-of-another", _set("instance", "sha256:0"), "instance = 'sha256:0'", "'good'"),
    _placement("plan-without-format", _drop("format"), "format: is missing"),
    _placement(
        "plan-newer", _set("format", "slotwise.placement/9"), "must be slotwise.placement/1"
    ),
    _placement("plan-unknown-key", _set("cost", 3), "cost = 3", "is an unknown key"),
    _placement(
        "plan-unknown-topology",
        _set("topologies.xx", {"a[0]": {"node": "n1", "worker": 0}}),
        "topologies.xx = 'a[0]'",
        "must be a task",
    ),
    _placement(
        "plan-unknown-task",
        _place("spout[2]", {"node": "n1", "worker": 0}),
        "topologies.wc = 'spout[2]'",
        "must be a task of the instance",
    ),
    _placement(
        "plan-unknown-node",
        _place("spout[0]", {"node": "n7", "worker": 0}),
        "topologies.wc.spout[0].node = 'n7'",
        "must be a node of the instance",
    ),
    _placement(
        "plan-negative-worker",
        _place("spout[0]", {"node": "n1", "worker": -1}),
        "topologies.wc.spout[0].worker = -1",
        "0 or more",
    ),
    _placement(
        "plan-text-worker",
        _place("spout[0]", {"node": "n1", "worker": "0"}),
        "worker = '0'",
        "must be a whole number",
    ),
    _placement(
        "plan-without-node",
        _place("spout[0]", {"worker": 0}),
        "topologies.wc.spout[0].node: is missing",
    ),
    _placement("plan-null-place", _place("spout[0]", None), "= null", "must be an object"),
    _placement(
        "plan-outsized-worker",
        _place("spout[0]", {"node": "n1", "worker": 10**4000}),
        "topologies.wc.spout[0].worker = 1000",
        OUTSIZED,
    ),
    Case(
        "answer-without-a-placement",
        "placement",
        '{"status": "infeasible", "placement": null}',
        ("placement: is missing from this answer", "'infeasible'"),
    ),
    Case(
        "answer-of-another",
        "placement",
        json.dumps({"status": "optimal", "placement": {**GOOD_PLACEMENT, "instance": "sha256:0"}}),
        ("placement.instance = 'sha256:0'", "'good'"),
    ),
    Case("plan-is-a-list", "placement", "[]", ("must be an object",)),
    Case("plan-is-an-instance", "placement", good_text(), ("format = 'slotwise.instance/1'",)),
    Case("plan-missing", "placement", None, ("cannot be read",)),
    Case("plan-empty", "placement", "", ("is empty",)),
    Case("plan-refusal-without-words", "placement", '{"refused": 3}', ("refused = 3", "text")),
]

CASES: list[Case] = _INSTANCES + _PLACEMENTS
