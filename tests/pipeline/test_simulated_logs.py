"""Simulated logs say what their truth says, to a reader that knows nothing of the generator."""

from __future__ import annotations

import filecmp
import itertools
import json
import math
import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from log_cases import GROUPED, LINE, log_lines, make, read_json, read_storm

import slotwise
from slotwise.pipeline.simulated_logs import simulate as simulating

EXACT = {"noise": 0.0, "ghz": (2.0, 4.0, 2.5)}


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def same_bytes(one: Path, other: Path) -> bool:
    names = files(one)
    return names == files(other) and filecmp.cmpfiles(one, other, names, shallow=False)[0] == names


@pytest.mark.parametrize("options", [{}, {"gzip": True, "metrics": "v2", "restarts": 1}])
def test_the_same_seed_makes_the_same_bytes(tmp_path: Path, options: dict[str, Any]) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        make(tmp_path / name, seed=seed, faults=0.1, skew=3, files=2, **options)
    assert same_bytes(tmp_path / "a", tmp_path / "b")
    assert not same_bytes(tmp_path / "a", tmp_path / "c")


@pytest.mark.parametrize("metrics", ["v1", "v2"])
def test_how_many_buckets_are_drawn_at_once_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metrics: str
) -> None:
    make(tmp_path / "a", lines=2000, faults=0.05, restarts=3, metrics=metrics)
    monkeypatch.setattr(simulating, "VALUES_AT_ONCE", 1000)
    make(tmp_path / "b", lines=2000, faults=0.05, restarts=3, metrics=metrics)
    assert same_bytes(tmp_path / "a", tmp_path / "b")


def test_a_line_is_what_storm_prints(tmp_path: Path) -> None:
    make(tmp_path / "v1", noise=0)
    lines = log_lines(tmp_path / "v1", "storm")
    head = "2023-11-14 22:15:00,000 60000    1700000100\t             n1:6700\t"
    assert head + "  3:orders     \t__emit-count           \t{default=2700}" in lines
    assert f"{head} -1:__system   \tuptimeSecs             \t60.0" in lines
    make(tmp_path / "v2", noise=0, metrics="v2")
    lines = log_lines(tmp_path / "v2", "storm")
    assert head + "  3:orders     \t__emit-count-default   \t2700" in lines
    # The consumer cuts names at 23 characters.
    assert head + "  5:price      \t__execute-count-orders:\t1800" in lines
    assert head + "  5:price      \t__execute-count-orders:\t30.0" in lines


@pytest.mark.parametrize("metrics", ["v1", "v2"])
def test_every_line_has_the_form(tmp_path: Path, metrics: str) -> None:
    make(tmp_path / "logs", metrics=metrics, skew=2, restarts=1)
    assert [one for one in log_lines(tmp_path / "logs", "storm") if not LINE.fullmatch(one)] == []


def test_a_plain_reading_of_storm_s_lines_finds_the_truth(tmp_path: Path) -> None:
    truth = make(tmp_path / "logs", **EXACT)
    read = read_storm(tmp_path / "logs")
    shop = truth["topologies"]["shop"]
    for component, said in shop["components"].items():
        taken = "__ack-count" if component == "orders" else "__execute-count"
        assert read.counts[component, taken] == said["totals"]["tuples"]
        assert read.counts[component, "__emit-count"] == said["totals"]["emitted"]
    assert read.counts["total", "__transfer-count"] == 0
    sent = [one["totals"]["tuples"] for one in shop["streams"] if one["from"] == "price"]
    assert read.counts["price", "__transfer-count"] == sum(sent)
    for task in shop["tasks"].values():
        if task["component"] != "orders":
            assert set(read.latencies[task["storm_task"]]) == {task["ms_per_tuple"]}
    spent = sum(one["totals"]["cpu_ms"] for one in shop["components"].values())
    assert 0 <= spent - read.counts["", "cpu"] < 3  # whole milliseconds of each worker
    assert truth["lines"]["storm"] == len(log_lines(tmp_path / "logs", "storm"))


def test_a_plain_reading_of_the_json_lines_finds_the_truth(tmp_path: Path) -> None:
    truth = make(tmp_path / "logs", **EXACT)
    rows = read_json(tmp_path / "logs")
    shop = truth["topologies"]["shop"]
    for component, said in shop["components"].items():
        own = [row for row in rows if row.get("component") == component]
        assert sum(row["tuples"] for row in own) == said["totals"]["tuples"]
        assert math.fsum(row["cpu_ms"] for row in own) == pytest.approx(said["totals"]["cpu_ms"])
        cost = [row["cpu_ms"] * row["ghz"] / row["tuples"] for row in own]
        assert cost == pytest.approx([said["ghz_ms_per_tuple"]] * len(own), rel=1e-6)
    pairs = [row for row in rows if "from" in row]
    for target in ("price", "audit"):
        found = [row for row in pairs if row["to"].startswith(target)]
        said = next(one for one in shop["streams"] if one["to"] == target)
        assert sum(row["tuples"] for row in found) == said["totals"]["tuples"]
        assert sum(row["bytes"] for row in found) == said["totals"]["bytes"]
        assert all(row["bytes"] == row["tuples"] * said["tuple_bytes"] for row in found)
    assert json.loads((tmp_path / "logs" / "nodes.json").read_text()) == {
        "n1": 2.0,
        "n2": 4.0,
        "n3": 2.5,
    }


def test_demands_and_rates_are_those_of_the_instance(tmp_path: Path) -> None:
    """At the reference clock rate, cpu time per second is what the instance demands."""
    truth = make(tmp_path / "logs", noise=0)
    shop = truth["topologies"]["shop"]
    for component in GROUPED["topologies"][0]["components"]:
        said = shop["components"][component["id"]]
        assert said["cpu_points"] == pytest.approx(component["resources"]["cpu"])
        busy = said["totals"]["cpu_ms"] / 1000 / truth["seconds"] / said["tasks"]
        assert busy * 100 == pytest.approx(component["resources"]["cpu"], rel=1e-4)
    assert [one["totals"]["tuples"] / truth["seconds"] for one in shop["streams"]] == [
        90,
        180,
        30,
        30,
    ]
    names = [one["stream"] for one in shop["streams"]]
    assert names == ["default", "default", "default", "stream2"]
    assert read_storm(tmp_path / "logs").used["memory/nonHeap"] <= {
        count * 64 * 2**20 for count in range(4)
    }


def test_groupings_decide_who_gets_what(tmp_path: Path) -> None:
    make(tmp_path / "logs", noise=0.1, seed=3)
    sums: dict[tuple[str, str], int] = {}
    for row in read_json(tmp_path / "logs"):
        if "from" in row:
            key = (row["from"], row["to"])
            sums[key] = sums.get(key, 0) + row["tuples"]
    for sender in ("orders[0]", "orders[1]"):
        shuffled = [sums[sender, f"price[{i}]"] for i in range(3)]
        assert max(shuffled) - min(shuffled) <= 20
        assert sums[sender, "audit[0]"] == sums[sender, "audit[1]"] == sum(shuffled)
    first, second = (sum(sums[f"price[{s}]", f"total[{r}]"] for s in range(3)) for r in (0, 1))
    assert first / second == pytest.approx(3, rel=0.1)  # half of `fields`, and all of `global`


def test_noise_keeps_the_mean(tmp_path: Path) -> None:
    truth = make(tmp_path / "logs", lines=30_000, noise=0.2, kind="storm")
    read = read_storm(tmp_path / "logs")
    for task in truth["topologies"]["shop"]["tasks"].values():
        if task["component"] != "orders":
            values = [one / task["ms_per_tuple"] for one in read.latencies[task["storm_task"]]]
            few = 4 * 0.2 / math.sqrt(len(values))
            assert statistics.fmean(values) == pytest.approx(1, abs=few)
            assert statistics.stdev(map(math.log, values)) == pytest.approx(0.2, rel=0.15)
    for name, rate in (("price", 90), ("audit", 180)):
        count = read.counts[name, "__execute-count"]
        assert count == pytest.approx(rate * truth["seconds"], rel=0.01)


def test_planted_faults_are_what_the_truth_counts(tmp_path: Path) -> None:
    truth = make(tmp_path / "logs", lines=6000, faults=0.1, seed=2, files=2)
    folder = tmp_path / "logs"
    rows = [json.loads(line) for line in (folder / "planted.txt").read_text().splitlines()]
    for kind in ("storm", "json"):
        lines = log_lines(folder, kind)
        own = [row for row in rows if row["kind"] == kind]
        for fault, count in truth["faults"][kind].items():
            assert count == sum(row["fault"] == fault for row in own) > 0
        assert len(lines) == truth["written"][kind]
        for row in own:
            assert row["line"] in (folder / row["file"]).read_text()
            if row["fault"] not in ("late", "out_of_order"):
                lines.remove(row["line"])
        assert len(lines) == truth["lines"][kind]
        assert len(set(lines)) == len(lines)
        broken = [row["line"] for row in own if row["fault"] == "malformed"]
        assert [line for line in broken if is_readable(line, kind)] == []
        assert all(is_readable(line, kind) for line in lines)


def is_readable(line: str, kind: str) -> bool:
    if kind == "storm":
        return LINE.fullmatch(line) is not None
    try:
        row = json.loads(line)
    except json.JSONDecodeError:
        return False
    return isinstance(row["time"], int) and isinstance(row["tuples"], int)


def test_faults_lose_no_number(tmp_path: Path) -> None:
    """Without the planted copies, sums are those of the truth: late lines are there, too."""
    truth = make(tmp_path / "logs", lines=6000, faults=0.1, kind="json")
    lines = log_lines(tmp_path / "logs", "json")
    for text in (tmp_path / "logs" / "planted.txt").read_text().splitlines():
        row = json.loads(text)
        if row["fault"] not in ("late", "out_of_order"):
            lines.remove(row["line"])
    found = [json.loads(line) for line in lines]
    for component, said in truth["topologies"]["shop"]["components"].items():
        own = [row["tuples"] for row in found if row.get("component") == component]
        assert sum(own) == said["totals"]["tuples"]


def test_late_lines_are_late_and_others_are_not(tmp_path: Path) -> None:
    make(tmp_path / "logs", lines=6000, faults=0.1, late_by=600)
    delays = {}
    for text in (tmp_path / "logs" / "planted.txt").read_text().splitlines():
        row = json.loads(text)
        delays.setdefault(row["fault"], []).append(delay_s(row["line"], row["kind"]))
    assert min(delays["late"]) >= 600
    assert max(delays["late"]) <= 1201
    assert min(delays["out_of_order"]) >= 75
    assert max(delays["out_of_order"]) <= 151
    assert max(delays["duplicate"]) < 1
    for kind in ("storm", "json"):
        times = map(LOGGED[kind], log_lines(tmp_path / "logs", kind))
        known = [time for time in times if time is not None]
        assert known == sorted(known)  # lines stand in the order in which they were written


def storm_logged(line: str) -> float | None:
    found = LINE.fullmatch(line)
    if found is None:
        return None
    return (
        datetime.strptime(found["logged"], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC).timestamp()
    )


def json_logged(line: str) -> float | None:
    return json.loads(line)["received"] / 1000 if is_readable(line, "json") else None


LOGGED = {"storm": storm_logged, "json": json_logged}


def delay_s(line: str, kind: str) -> float:
    logged = LOGGED[kind](line)
    if logged is None:
        return 0.0
    time = json.loads(line)["time"] / 1000 if kind == "json" else int(LINE.fullmatch(line)["time"])
    return logged - time


def test_clocks_of_nodes_are_wrong_by_what_the_truth_says(tmp_path: Path) -> None:
    truth = make(tmp_path / "logs", skew=40, seed=4)
    wrong = {node: said["skew_s"] for node, said in truth["nodes"].items()}
    assert len(set(wrong.values())) == 3
    for line in log_lines(tmp_path / "logs", "storm"):
        found = LINE.fullmatch(line)
        assert round(-delay_s(line, "storm")) == wrong[found["node"]]
    for line in log_lines(tmp_path / "logs", "json"):
        assert round(-delay_s(line, "json")) == wrong[json.loads(line)["node"]]


def test_running_totals_fall_at_restarts_and_nowhere_else(tmp_path: Path) -> None:
    options = {"lines": 4000, "restarts": 4, "kind": "storm", "seed": 8, "files": 2}
    truth = make(tmp_path / "v2", metrics="v2", **options)
    series: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for line in log_lines(tmp_path / "v2", "storm"):
        found = LINE.fullmatch(line)
        is_count = found["name"].startswith("__") and found["value"].isdigit()
        if is_count or found["name"].startswith("CGroupCpu"):
            key = (found["node"], found["port"], found["task"], found["name"])
            series.setdefault(key, []).append((int(found["time"]), int(found["value"])))
    falls, total = 0, 0
    for (_, _, task, name), values in series.items():
        steps = [(0, 0), *sorted(values)]
        down = [later < before for (_, before), (_, later) in itertools.pairwise(steps)]
        falls += sum(down)
        if name == "__execute-count-orders:" and task in ("5", "6", "7"):
            total += steps[-1][1] + sum(steps[i][1] for i, fell in enumerate(down) if fell)
    counted = {key: n for key, n in truth["fallen_totals"].items() if not key.startswith("GC")}
    assert len(truth["restarts"]) == 4
    assert falls == sum(counted.values()) > 0
    assert total == truth["topologies"]["shop"]["components"]["price"]["totals"]["tuples"]


def test_generations_of_metrics_count_the_same(tmp_path: Path) -> None:
    one, other = (make(tmp_path / m, metrics=m, kind="storm", lines=1) for m in ("v1", "v2"))
    assert one["topologies"] == other["topologies"]


def test_a_load_shift_changes_the_cost_from_its_second_on(tmp_path: Path) -> None:
    truth = make(tmp_path / "logs", noise=0, scale={"price": 2.0}, scale_from=180, kind="json")
    start = truth["settings"]["start"]
    for row in read_json(tmp_path / "logs"):
        if "task" in row:
            said = truth["topologies"]["shop"]["components"][row["component"]]
            is_after = row["component"] == "price" and row["time"] / 1000 > start + 180
            cost = said["ms_per_tuple"] * (2 if is_after else 1)
            assert row["cpu_ms"] / row["tuples"] == pytest.approx(cost, rel=1e-5)


def test_rates_follow_from_those_of_sources(tmp_path: Path) -> None:
    """Without rates, a component emits what it takes in; a stream of a cycle carries `rate`."""
    streams = [
        {"from": "a", "to": "b", "grouping": "all"},
        {"from": "b", "to": "c"},
        {"from": "c", "to": "d"},
        {"from": "d", "to": "c"},
        {"from": "d", "to": "e"},
    ]
    components = [
        {"id": name, "kind": "spout" if name == "a" else "bolt", "parallelism": 2}
        for name in "abcde"
    ]
    instance = {
        **GROUPED,
        "flow": "pairs",
        "topologies": [{"id": "t", "components": components, "streams": streams}],
    }
    truth = make(tmp_path / "logs", instance, rate=10, noise=0)
    found = [one["tuples_per_s"] for one in truth["topologies"]["t"]["streams"]]
    assert found == [10, 20, 10, 10, 10]


def test_where_tasks_run_is_the_placement_given(tmp_path: Path) -> None:
    plan = slotwise.place(GROUPED, "r-storm").to_dict(slotwise.read_instance(GROUPED))
    plan["shop"]["total[1]"] = {"node": "n3", "worker": 2}
    truth = make(tmp_path / "logs", placement=plan)
    task = truth["topologies"]["shop"]["tasks"]["total[1]"]
    assert (task["node"], task["port"]) == ("n3", 6702)
    del plan["shop"]["total[1]"]
    with pytest.raises(slotwise.InputError, match=r"start = 10+: must be at most 10+"):
        make(tmp_path / "logs", lines=1, start=10**12)
    with pytest.raises(slotwise.InputError, match="they end after the year 9999"):
        make(tmp_path / "late", lines=10**10, start=10**11, bucket_seconds=86_400)
    with pytest.raises(slotwise.InputError, match="must place every task"):
        make(tmp_path / "other", placement=plan)


def test_topology_ids_stay_in_the_folder(tmp_path: Path) -> None:
    topology = {**GROUPED["topologies"][0], "id": "../../shop"}
    make(tmp_path / "logs", {**GROUPED, "topologies": [topology]})
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    assert (tmp_path / "logs" / "workers-artifacts" / "______shop-1-1700000040").is_dir()


def test_nothing_is_left_of_logs_that_were_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []

    def interrupt(*words: Any) -> None:
        written.extend(tmp_path.rglob("worker.log.metrics"))
        raise KeyboardInterrupt

    monkeypatch.setattr(simulating, "truth_document", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path / "logs")
    assert len(written) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(slotwise.InputError, match="new or empty"):
        make(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--lines", 0], "--lines = 0"),
        (["--kind", "xml"], "--kind = 'xml'"),
        (["--metrics", "v3"], "--metrics = 'v3'"),
        (["--faults", 2], "--faults = 2.0"),
        (["--noise", "nan"], "--noise"),
        (["--ghz", "2,fast"], "--ghz"),
        (["--ghz", "0"], "--ghz"),
        (["--scale", "split"], "--scale"),
        (["--scale", "splt=2"], "did you mean 'split'"),
        (["--restarts", 1000], "choose more --lines"),
        (["--method", "nobody"], "nobody"),
        (["--method", "r-storm", "--placement", "plan.json"], "--method"),
        (["--bucket-seconds", 0], "--bucket-seconds"),
        (["--faults", 0.1, "--late-by", 100], "--late-by = 100"),
    ],
)
def test_bad_input_is_one_line(cli: Any, tmp_path: Path, words: list[Any], said: str) -> None:
    out = tmp_path / "logs"
    base = ["generate", "logs", "docs/examples/word-count.json", "--out", out]
    lines = [] if "--lines" in words else ["--lines", 100]
    answer = cli(*base, *lines, *words)
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_what_the_function_writes(cli: Any, tmp_path: Path) -> None:
    words = ["--lines", 300, "--seed", 3, "--scale", "split=1.5", "--ghz", "2,3", "--faults", 0.1]
    path = "docs/examples/word-count.json"
    answer = cli("generate", "logs", path, "--out", tmp_path / "a", *words, "--json")
    assert answer.code == 0
    options = {"seed": 3, "scale": {"split": 1.5}, "ghz": (2.0, 3.0), "faults": 0.1, "lines": 300}
    truth = slotwise.generate_logs(path, tmp_path / "b", **options)
    assert json.loads(answer.out) == json.loads(json.dumps(truth))
    assert same_bytes(tmp_path / "a", tmp_path / "b")
