"""Bad input and bad usage: exit code 2, one line on stderr, nothing else anywhere."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from malformed_cases import CASES, Case, good_text

from slotwise.cli import app as command_line
from slotwise.cli.options import as_options
from slotwise.models.errors import InputError


def refused(answer, *fragments: str) -> None:
    """Check that `answer` is one line on stderr that holds all `fragments`."""
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("slotwise: ")
    assert answer.err.endswith("\n")
    assert len(answer.err.splitlines()) == 1
    assert "Traceback" not in answer.err
    for fragment in fragments:
        assert fragment in answer.err


def commands_on(case: Case, path: Path, good: Path) -> list[list[str]]:
    """Return the commands that read the malformed file."""
    if case.kind == "placement":
        return [
            ["judge", str(good), str(path)],
            ["judge", str(good), str(path), "--json"],
            ["solve", str(good), "--hint", str(path), "--out", "out/plan.json"],
        ]
    found = [
        ["solve", str(path), "--out", "out/plan.json"],
        ["solve", str(path), "--json"],
        ["place", str(path), "--with", "r-storm", "--out", "out/plan.json"],
        ["judge", str(path), str(path)],
    ]
    if path.is_file():  # where there is none, grade takes the path for a family or a folder
        found.append(["grade", str(path), "--out", "out/graded"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_malformed_files(case, cli, tmp_path, monkeypatch):
    path = case.put(tmp_path)
    good = tmp_path / "good.json"
    good.write_text(good_text())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    for words in commands_on(case, path, good):
        refused(cli(*words), path.name, *case.fragments)
        assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["sovle", "x.json"], ["sovle", "solve"]),
        (["solve"], ["INSTANCE"]),
        (["solve", "word-count.json", "--nope"], ["--nope"]),
        (["solve", "nowhere.json"], ["nowhere.json"]),
        (["solve", "word-count.json", "--engine", "cpsat"], ["cpsat", "did you mean 'cp-sat'"]),
        (["solve", "word-count.json", "--time-limit", "-1"], ["--time-limit", "-1", "above 0"]),
        (["solve", "word-count.json", "--time-limit", "0"], ["--time-limit", "above 0"]),
        (["solve", "word-count.json", "--time-limit", "nan"], ["--time-limit", "nan", "finite"]),
        (["solve", "word-count.json", "--time-limit", "inf"], ["--time-limit", "inf", "finite"]),
        (["solve", "word-count.json", "--time-limit", "soon"], ["--time-limit"]),
        (["solve", "word-count.json", "--workers", "0"], ["--workers", "0", "from 1"]),
        (["solve", "word-count.json", "--workers", "1.5"], ["--workers"]),
        (["solve", "word-count.json", "--seed", "-1"], ["--seed", "-1", "from 0"]),
        (["solve", "word-count.json", "--out", "no/such/plan.json"], ["--out", "no/such"]),
        (["solve", "word-count.json", "--out", "."], ["--out", "folder"]),
        (["solve", "word-count.json", "--hint", "nowhere.json"], ["nowhere.json"]),
        (["solve", "word-count.json", "--topology", "wc"], ["topology", "Storm"]),
        (["solve", "word-count.json", "--worker-min-cpu", "-3"], ["--worker-min-cpu", "-3"]),
        (["place", "word-count.json"], ["--with"]),
        (["place", "word-count.json", "--with", "r-strom"], ["r-strom", "r-storm"]),
        (["place", "word-count.json", "--with", "cmd:"], ["cmd:"]),
        (["judge", "word-count.json"], ["PLAN"]),
        (["judge", "-", "-"], ["stdin"]),
        (["generate", "rstrom", "--out", "new"], ["rstrom", "did you mean 'rstorm'"]),
        (["generate", "rstorm", "--out", "new", "--count", "0"], ["--count", "0"]),
        (["generate", "rstorm", "--out", "word-count.json"], ["--out", "word-count.json"]),
        (["generate", "rstorm"], ["--out"]),
        (["place", "word-count.json", "--with", "r-strom"], ["--with = 'r-strom'"]),
        (["solve", "word-count.json", "--set", "nope"], ["--set = 'nope'"]),
        (
            ["generate", "logs", "word-count.json", "--lines", "9", "--out", "logs"],
            ["--out = 'logs'", "another --out"],
        ),
        (["schema", "instnace"], ["instnace", "did you mean 'instance'"]),
        (["grade", "rstrom"], ["rstrom", "rstorm"]),
        (["grade", "rstorm", "--methods", "r-strom"], ["r-strom", "r-storm"]),
        (["grade", "rstorm", "--engine", "cpsat"], ["cpsat"]),
        (["report", "nowhere"], ["nowhere"]),
    ],
    ids=" ".join,
)
def test_usage_errors(cli, examples, words, fragments):
    before = sorted(examples.rglob("*"))
    refused(cli(*words), *fragments)
    assert sorted(examples.rglob("*")) == before


def test_control_characters_reach_no_terminal(cli, examples):
    for words in (["solve", "\x1b[2J.json"], ["sovle\x1b[2J"], ["report", "\x1b[2J"]):
        answer = cli(*words)
        assert answer.code == 2
        assert answer.err[:-1].isprintable()
        assert r"\x1b[2J" in answer.err


def test_a_folder_that_cannot_be_written_to(cli, examples, monkeypatch):
    """Asked of the system, for the superuser may write everywhere."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    refused(cli("solve", "word-count.json", "--out", "plan.json"), "--out", "written")


def test_an_internal_error_is_no_bad_input(cli, examples, monkeypatch):
    from slotwise.models.errors import InternalError

    def broken(*words: object, **options: object) -> None:
        raise InternalError("claims 1, the judge finds 2")

    monkeypatch.setattr(command_line, "_command", lambda: SimpleNamespace(main=broken))
    answer = cli("solve", "word-count.json")
    assert answer.code == 1
    assert answer.err == (
        "slotwise: internal error, please report it: claims 1, the judge finds 2\n"
    )


def test_errors_of_the_library_name_options() -> None:
    def raised(field, rule, **more):
        with pytest.raises(InputError) as caught, as_options(rate="--rate", slots="--slots"):
            raise InputError(rule, field=field, value=1, **more)
        return str(caught.value)

    assert raised("rate", "goes without `slots`") == "--rate = 1: goes without --slots"
    assert raised("rate, slots", "are two") == "--rate, --slots = 1: are two"
    assert raised("rate one", "is wrong") == "--rate one = 1: is wrong"
    assert raised("rates", "`rate`") == "rates = 1: `rate`"
    assert raised("rate", "is wrong", file="a.json") == "a.json: rate = 1: is wrong"


def test_import_does_not_overwrite_what_it_reads(cli, tmp_path):
    source = tmp_path / "storm.yaml"
    source.write_text("supervisor.slots.ports: [6700]\n")
    refused(cli("import", f"h1={source}", "--out", str(source)), "--out", "command reads")
    assert source.read_text() == "supervisor.slots.ports: [6700]\n"


def test_the_first_word_of_commands_alone(cli):
    for words in (["storm"], ["storm", "--help"]):
        shown = cli(*words)
        assert shown.code == 0
        assert "storm apply" in shown.out
        assert "storm rollback" in shown.out
    refused(cli("storm", "snapshot"), "storm snapshot", "storm apply, ")


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("allocate linear --rate 10 --vms FILE --out FILE", "vms.json"),
        ("schedule shared-cluster.yaml --pools FILE --out FILE", "storm.yaml"),
        ("predict word-count.json swap.json --assume FILE --page FILE", "assumptions.json"),
        ("predict word-count.json swap.json --compare FILE --page FILE", "swap-now.json"),
        (
            "partition FILE --parts 2 --with auto --out same --certificate ./same",
            "two-squares.graph",
        ),
    ],
)
def test_no_output_replaces_what_an_option_names(cli, examples, words, read):
    before = (examples / read).read_bytes()
    answer = cli(*words.replace("FILE", read).split())
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    rule = "also the file of --out" if "same" in words else "a file that the command reads"
    assert f"is {rule}; name another one" in answer.err
    assert (examples / read).read_bytes() == before
    assert not (examples / "same").exists()


@pytest.mark.parametrize("words", [["predict", "PLAN", "--page"], ["solve", "--out"]])
def test_an_instance_is_not_overwritten_by_what_is_made_of_it(cli, words, tmp_path):
    instance, plan = tmp_path / "instance.json", tmp_path / "plan.json"
    instance.write_text(good_text())
    cli("place", str(instance), "--with", "round-robin", "--out", str(plan))
    first, *rest = [str(plan) if word == "PLAN" else word for word in words]
    refused(cli(first, str(instance), *rest, str(instance)), rest[-1], "command reads")
    assert instance.read_text() == good_text()
    # A plan may be improved in place.
    assert cli("solve", str(instance), "--hint", str(plan), "--out", str(plan)).code == 0


def test_a_value_too_long_for_a_file_name_is_none_that_the_command_reads(cli, examples):
    method = f"cmd:python first_fit.py {'x' * 300}"
    for _ in ("new", "existing"):
        answer = cli("place", "tight.json", "--with", method, "--out", "plan.json")
        assert (answer.code, answer.err) == (0, "")


def test_the_option_with_a_bad_time_is_named(cli):
    words = ["snapshot.json", "plan.json", "--nimbus", "nimbus://x", "--plans", ".", "--max-age"]
    refused(cli("storm", "apply", *words, "0"), "--max-age = 0.0")
