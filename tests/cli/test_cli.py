"""Every command, for people and as JSON, with its exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hard_instances import hard_instance

import slotwise
from slotwise.cli.app import COMMANDS

SLOTWISE = (sys.executable, "-m", "slotwise")


def test_help_lists_every_command(cli):
    answer = cli("--help")
    assert answer.code == 0
    assert answer.err == ""
    for command in COMMANDS:
        assert f"\n  {command} " in answer.out


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(cli, command):
    answer = cli(command, "--help")
    assert answer.code == 0
    assert "--json" in answer.out


def test_version(cli):
    assert cli("--version").out == f"slotwise {slotwise.__version__}\n"


def test_the_version_is_the_package_s():
    import importlib.metadata

    assert slotwise.__version__ == importlib.metadata.version("slotwise")


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"]])
def test_without_a_command_it_prints_its_help(cli, words):
    answer = cli(*words)
    assert answer.code == 0
    assert answer.err == ""
    assert answer.out.startswith("Usage: slotwise")


def test_a_command_in_a_group_takes_a_short_help(cli):
    answer = cli("new", "scheduler", "-h")
    assert answer.code == 0
    assert answer.out.startswith("Usage: slotwise new scheduler")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from slotwise.cli.app import run; run(['--help'])\n"
        "heavy = {'numpy', 'pandas', 'pydantic', 'pyspark', 'ortools', 'highspy', 'pulp', "
        "'matplotlib', 'networkx', 'yaml', 'rich.table'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


# solve


def test_solve_proves_the_optimum(cli, examples):
    answer = cli("solve", "word-count.json")
    assert answer.code == 0
    assert "Proven optimal" in answer.out
    assert "network" in answer.out


def test_solve_json_is_one_object_and_nothing_else(cli, examples):
    answer = cli("solve", "word-count.json", "--json", "--seed", 7)
    assert answer.code == 0
    assert answer.err == ""
    assert len(answer.out.splitlines()) == 1
    found = answer.json
    assert found["status"] == "optimal"
    assert found["gap"] == 0
    assert found["seed"] == 7
    assert [term["term"] for term in found["objective"]] == ["overload", "network"]
    assert all(term["value"] == term["bound"] for term in found["objective"])
    assert found["instance"] == found["placement"]["instance"]
    assert len(found["placement"]["topologies"]["wc"]) == 9
    assert {"engine", "version", "seconds"} <= set(found)


def test_solve_reads_stdin(cli, examples):
    text = Path("word-count.json").read_text()
    by_stdin = cli("solve", "-", "--json", stdin=text).json
    by_file = cli("solve", "word-count.json", "--json").json
    assert by_stdin["objective"] == by_file["objective"]


@pytest.mark.parametrize("engine", ["cp-sat", "exhaustive"])
def test_each_engine_can_be_asked_for(cli, examples, engine):
    answer = cli("solve", "too-big.json", "--engine", engine, "--json")
    assert answer.code == 1
    assert answer.json["status"] == "infeasible"
    assert answer.json["engine"] == engine
    assert answer.json["placement"] is None


def test_infeasible_says_so_and_what_to_do(cli, examples):
    answer = cli("solve", "too-big.json")
    assert answer.code == 1
    assert "infeasible" in answer.out
    assert "20 short" in answer.out
    assert "slotwise explain" in answer.out


def test_infeasible_writes_no_plan(cli, examples):
    assert cli("solve", "too-big.json", "--out", "plan.json").code == 1
    assert not Path("plan.json").exists()


def test_a_plan_goes_round(cli, examples):
    """What solve writes, judge accepts, and solve takes as a hint."""
    solved = cli("solve", "word-count.json", "--out", "plan.json", "--json").json
    judged = cli("judge", "word-count.json", "plan.json", "--json")
    assert judged.code == 0
    values = [(t["term"], t["value"]) for t in solved["objective"]]
    assert [(t["term"], t["value"]) for t in judged.json["objective"]] == values
    again = cli("solve", "word-count.json", "--hint", "plan.json", "--json")
    assert again.code == 0
    assert again.json["objective"] == solved["objective"]
    assert json.loads(Path("plan.json").read_text()) == solved["placement"]


def test_the_same_seed_gives_the_same_answer(cli, examples):
    first, second = (cli("solve", "word-count.json", "--json", "--seed", 3).json for _ in "ab")
    for answer in (first, second):
        del answer["seconds"]
        for pick in answer["picked"]:
            del pick["seconds"]
    assert first == second


def test_stopped_with_no_answer(cli, examples):
    answer = cli("solve", "word-count.json", "--engine", "cp-sat", "--time-limit", 0.001, "--json")
    assert answer.code == 3
    assert answer.json["status"] == "unknown"
    assert answer.json["placement"] is None
    assert (
        "limit" in cli("solve", "word-count.json", "--engine", "cp-sat", "--time-limit", 0.001).out
    )


TELL_AT_ONCE = """
from slotwise.cli import app, progress
progress.PLAIN_EVERY_S = 0.0
app.main()
"""


def interrupted() -> tuple[int, str, str]:
    """Solve hard.json from the placement start.json and press Ctrl-C when it tells of a bound."""
    words = ("solve", "hard.json", "--hint", "start.json", "--time-limit", "60")
    process = subprocess.Popen(
        [sys.executable, "-c", TELL_AT_ONCE, *words, "--json", "--out", "kept.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    told = next(line for line in process.stderr if ", bound " in line)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, told + err


@pytest.mark.slow
def test_ctrl_c_keeps_the_incumbent(cli, examples):
    Path("hard.json").write_text(hard_instance())
    assert cli("place", "hard.json", "--with", "r-storm", "--out", "start.json").code == 0
    code, out, err = interrupted()
    assert code == 130, err
    assert err.splitlines()[-1].startswith("slotwise: interrupted")
    found = json.loads(out)
    assert found["status"] == "feasible"
    assert found["interrupted"]
    assert cli("judge", "hard.json", "kept.json").code == 0


def test_a_closed_pipe_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*SLOTWISE, "families"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


# place, judge


@pytest.mark.parametrize("method", ["round-robin", "r-storm"])
def test_place(cli, examples, method):
    answer = cli("place", "word-count.json", "--with", method, "--json", "--out", "plan.json")
    found = answer.json
    assert answer.err == ""
    assert found["method"] == method
    assert found["status"] in ("feasible", "violated", "refused")
    assert answer.code == (0 if found["status"] == "feasible" else 1)
    assert Path("plan.json").exists() == (found["status"] == "feasible")
    if found["placement"] is not None:
        assert all("bound" not in term for term in found["objective"])


def test_place_for_people(cli, examples):
    answer = cli("place", "word-count.json", "--with", "r-storm")
    assert "r-storm (seed 0)" in answer.out
    assert "network" in answer.out


def overloaded_plan() -> str:
    """All tasks of word-count in one worker of one node."""
    names = [f"{c}[{i}]" for c, n in (("lines", 2), ("split", 4), ("count", 3)) for i in range(n)]
    return json.dumps(
        {
            "format": "slotwise.placement/1",
            "instance": slotwise_hash("word-count.json"),
            "topologies": {"wc": {name: {"node": "n1", "worker": 0} for name in names}},
        }
    )


def slotwise_hash(file: str) -> str:
    from slotwise.models.instance_file import instance_hash

    return instance_hash(slotwise.read_instance(file))


def test_judge_lists_violations(cli, examples):
    Path("bad.json").write_text(overloaded_plan())
    answer = cli("judge", "word-count.json", "bad.json", "--json")
    assert answer.code == 1
    assert not answer.json["valid"]
    assert {v["rule"] for v in answer.json["violations"]} == {"capacity", "heap"}
    human = cli("judge", "word-count.json", "bad.json")
    assert human.code == 1
    assert "capacity: node n1, cpu: 350 needed, 200 available" in human.out


def test_judge_refuses_the_plan_of_another_instance(cli, examples):
    cli("solve", "word-count.json", "--out", "plan.json")
    answer = cli("judge", "too-big.json", "plan.json")
    assert answer.code == 2
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1


# lists, generate, schema


def test_methods(cli):
    found = cli("methods", "--json").json["methods"]
    names = {row["name"] for row in found}
    assert {"round-robin", "r-storm", "cp-sat", "exhaustive"} <= names
    assert {row["kind"] for row in found} == {"heuristic", "engine"}
    assert "r-storm" in cli("methods").out


def test_families(cli):
    found = cli("families", "--json").json["families"]
    assert found
    read_from_files = found.pop()
    assert (read_from_files["name"], read_from_files["count"]) == ("storm", None)
    assert all(row["count"] > 0 and row["description"] for row in found)
    assert found[0]["name"] in cli("families").out


def test_schema(cli):
    schemas = cli("schema", "--json").json
    assert schemas == cli("schema").json
    name = next(iter(schemas))
    assert cli("schema", name).json == schemas[name]


def test_generate_writes_readable_instances_and_overwrites_nothing_else(cli, tmp_path):
    family = cli("families", "--json").json["families"][0]["name"]
    folder = tmp_path / "new"
    words = ("generate", family, "--count", 2, "--seed", 5, "--out", folder)
    answer = cli(*words, "--json")
    assert answer.code == 0
    files = [Path(file) for file in answer.json["files"]]
    assert sorted(files) == sorted(folder.iterdir())
    assert len(files) == 2
    for file in files:
        slotwise.read_instance(file)
    before = [file.read_bytes() for file in files]
    assert cli(*words).code == 0, "the same files again"
    assert [file.read_bytes() for file in files] == before
    files[0].write_text("mine")
    files[1].unlink()
    refused = cli(*words)
    assert refused.code == 2
    assert files[0].name in refused.err
    assert files[0].read_text() == "mine"
    assert not files[1].exists(), "nothing is written when something stands in the way"


def test_ctrl_c_waits_while_native_modules_load():
    from slotwise.cli.exits import defer_interrupts

    loaded = []

    def load() -> None:
        with defer_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            loaded.append("whole")

    with pytest.raises(KeyboardInterrupt):
        load()
    assert loaded == ["whole"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_help_lists_options_of_decoded_clusters_last(cli):
    usual, _, decoded = cli("solve", "--help").out.partition("For a decoded Storm cluster:")
    assert "--topology" not in usual
    assert re.findall(r"^  (--[a-z-]+)", decoded, re.M) == [
        *("--topology", "--worker-min-cpu", "--submitters")
    ]
    assert "--instance FILE" in cli("measure", "--help").out.partition("For a decoded")[0]


def test_options_of_decoded_clusters_reach_the_file(cli, examples):
    for command in (["solve"], ["place", "--with", "r-storm"], ["rebalance"], ["convert"]):
        more = ["--to", "lp", "--out", "x.lp"] if command == ["convert"] else []
        answer = cli(*command, "word-count.json", "--topology", "wc", *more)
        assert answer.code == 2, command
        assert "topology" in answer.err
