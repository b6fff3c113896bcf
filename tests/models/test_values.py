"""Numbers at the door: what is read exactly, and what is refused wherever it stands."""

from __future__ import annotations

import json
import math
import shlex
import sys
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from assignments import document
from conftest import Cli
from malformed_cases import OUTSIZED, OUTSIZED_NUMBERS, good_text
from small_storm_cluster import SMALL

from slotwise.benchmarks.grade import grade
from slotwise.heuristics.registry import find_method
from slotwise.models.errors import InputError
from slotwise.models.formats.json_text import parse_json
from slotwise.models.formats.yaml_text import parse_yaml
from slotwise.models.instance.topology import Component
from slotwise.models.instance_file import read_instance
from slotwise.models.values import Outsized, as_decimal, exact, read_number, time_limit, whole
from slotwise.solver.solve import solve

READ = {
    "0": 0,
    "-0": 0,
    "12": 12,
    "1.50": Decimal("1.5"),
    "1e3": Decimal(1000),
    "-2.5E-3": Decimal("-0.0025"),
    "9" * 100: 10**100 - 1,
    "1e200": Decimal("1e200"),
    "1e-200": Decimal("1e-200"),
    "0.5e+0000007": Decimal(5_000_000),
    "-0." + "9" * 99: Decimal("-0." + "9" * 99),
    "9" * 101: None,
    "0." + "9" * 100: None,
    "1e201": None,
    "1e-201": None,
}


@pytest.mark.parametrize("text", READ)
def test_numbers_are_read_exactly(text: str) -> None:
    found = read_number(text)
    if READ[text] is None:
        assert found == Outsized(text)
    else:
        assert found == READ[text]
    assert parse_json(f"[{text}]") == parse_yaml(f"[{text}]") == [found]


@pytest.mark.parametrize("text", OUTSIZED_NUMBERS)
def test_outsized_numbers_are_kept_as_text(text: str) -> None:
    assert read_number(text) == Outsized(text)
    assert parse_json(text) == parse_yaml(text) == Outsized(text)
    for check in (lambda: exact(text, "f"), lambda: whole(Outsized(text), "f")):
        with pytest.raises(InputError, match=OUTSIZED):
            check()


def test_every_number_that_is_read_is_harmless() -> None:
    """Small as an integer and as a fraction, and within the range of a double."""
    for text in ("9" * 100 + "e200", "-" + "9" * 100 + "e200", "0." + "9" * 99 + "e-200"):
        number = Fraction(read_number(text))
        assert float(number) == float(text)
        assert len(str(number)) < 1000
        assert as_decimal(number) == Decimal(text)


@pytest.mark.parametrize(
    "text", ["1_000", "\u0663", " 5", "0x10", "1:30", "", ".", "e5", "1e", "--1"]
)
def test_words_are_no_numbers(text: str) -> None:
    with pytest.raises(InputError, match="must be a number"):
        exact(text, "f")


def test_a_number_of_python_may_be_of_any_size_and_is_named() -> None:
    for large in (10**5000, Decimal("1e999999"), 1e300):
        with pytest.raises(InputError, match=r"^cpu = .*must be at most"):
            exact(large, "cpu")
    with pytest.raises(InputError, match=r"parallelism = 1000.*must be at most"):
        Component("c", "bolt", 10**5000)


def test_where_nothing_reads_a_number_it_may_be_of_any_size(tmp_path: Path, cli: Cli) -> None:
    """Decoded Storm clusters hold more than is read, Java's largest double for one."""
    path = tmp_path / "storm.json"
    path.write_text(json.dumps(SMALL | {"unread": 1}).replace('"unread": 1', '"unread": 1e308'))
    answer = cli("place", path, "--with", "round-robin")
    assert answer.err == ""
    path.write_text(json.dumps(SMALL).replace('"priority": 29', '"priority": 1e308'))
    answer = cli("place", path, "--with", "round-robin")
    assert (answer.code, OUTSIZED in answer.err) == (2, True)
    assert "topologies[0].priority = 1e308" in answer.err


@pytest.mark.parametrize("number", OUTSIZED_NUMBERS)
def test_matrices_and_pools(examples: Path, cli: Cli, number: str) -> None:
    made = json.dumps(document(np.random.default_rng(0), 3, 2, 0.8))
    Path("matrix.json").write_text(made.replace('"linear": [[', f'"linear": [[{number}, ', 1))
    answer = cli("solve", "matrix.json")
    assert (answer.code, answer.out) == (2, "")
    assert "linear[0][0] = " in answer.err
    assert OUTSIZED in answer.err
    Path("pools.yaml").write_text(f"ann: {{cpu: {number}}}\n")
    answer = cli("schedule", "shared-cluster.yaml", "--pools", "pools.yaml")
    assert (answer.code, answer.out) == (2, "")
    assert "pools.yaml: ann.cpu = " in answer.err
    assert OUTSIZED in answer.err


@pytest.mark.parametrize("number", OUTSIZED_NUMBERS)
def test_an_answer_of_a_command_is_refused(tmp_path: Path, cli: Cli, number: str) -> None:
    instance, answer_file = tmp_path / "good.json", tmp_path / "answer.json"
    instance.write_text(good_text())
    assert cli("place", instance, "--with", "round-robin", "--out", answer_file).code == 0
    text = answer_file.read_text()
    answer_file.write_text(text.replace('"worker": 0', f'"worker": {number}', 1))
    program = f"print(open({str(answer_file)!r}).read())"
    command = shlex.join([sys.executable, "-c", program])
    answer = cli("place", instance, "--with", f"cmd:{command}", "--json")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert "its answer cannot be used: topologies.wc.spout[0].worker = " in answer.err
    assert OUTSIZED in answer.err


@pytest.mark.parametrize("number", [*OUTSIZED_NUMBERS, "nan", "-inf", "1_000", "1e16"])
def test_numbers_of_the_command_line(examples: Path, cli: Cli, number: str) -> None:
    options = ["--to", "lp", "--out", "model.lp", "--fix", f"overload={number}"]
    for words in (
        ["convert", "word-count.json", *options],
        ["solve", "word-count.json", f"--worker-min-cpu={number}"],
    ):
        answer = cli(*words)
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.count("\n") == 1
        assert " = " in answer.err
        assert "must be " in answer.err
    assert not Path("model.lp").exists()


@pytest.mark.parametrize("value", [1, 0.5, Fraction(1, 3), Decimal("0.1"), np.float64(2.0)])
def test_a_time_limit_is_seconds(value) -> None:
    assert time_limit(value, "time limit") == float(value)
    assert type(time_limit(value, "time limit")) is float


BAD_LIMITS = (
    0,
    -1.0,
    True,
    math.inf,
    math.nan,
    10**400,
    Decimal("NaN"),
    Decimal("Infinity"),
    "1",
    None,
)


@pytest.mark.parametrize("value", BAD_LIMITS)
def test_a_time_limit_is_finite_and_above_0_for_everyone(value, examples) -> None:
    instance = read_instance(examples / "word-count.json")
    calls = (
        partial(time_limit, value, "time limit"),
        partial(solve, instance, time_limit_s=value),
        partial(find_method, "cmd:true", time_limit_s=value),
        partial(find_method, "storm:ras-default", time_limit_s=value),
        partial(grade, ["infeasible"], time_limit_s=value),
    )
    for call in calls:
        with pytest.raises(
            InputError, match=r"time.limit(_s)? = .*must be a finite number of seconds"
        ):
            call()


def test_floats_of_numpy_are_read_as_floats() -> None:
    assert exact(np.float64(0.1), "x") == Decimal("0.1")
