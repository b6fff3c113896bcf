from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import Cli

from slotwise.models.allocation.case import (
    case_from_text,
    case_hash,
    case_text,
    read_allocation_case,
)
from slotwise.models.errors import InputError
from slotwise.models.families.sam import FEWEST_TASKS, MICRO, MOST_TASKS, SAM
from slotwise.models.micro_dags import MICRO_DAGS
from slotwise.models.performance.file import article_models

CASES = list(SAM.generate(60))


def test_the_micro_cases_come_first_whatever_the_seed() -> None:
    nine = [(case.dataflow, case.rate) for case in SAM.generate(9, seed=5)]
    assert nine == [(dag, rate) for dag in MICRO_DAGS.values() for rate in (50, 100, 200)]
    assert all(case.models == article_models() for case in SAM.generate(9))


def test_random_cases_are_of_all_sizes_and_kinds() -> None:
    drawn = CASES[len(MICRO) :]
    sizes = {len(case.dataflow.allocated) for case in drawn}
    assert sizes == set(range(FEWEST_TASKS, MOST_TASKS + 1))
    selectivities = {one.selectivity for case in drawn for one in case.dataflow.streams}
    assert min(selectivities) < 1 < max(selectivities)
    peaks = {
        max(model.measurements, key=lambda point: point.peak_rate).threads
        for case in drawn
        for model in case.models.values()
    }
    assert 1 in peaks
    assert max(peaks) > 20


def test_every_task_of_a_random_case_gets_tuples_and_sends_them_on() -> None:
    for case in CASES:
        graph = case.dataflow.graph()
        assert [name for name in graph if graph.in_degree(name) == 0] == ["source"]
        assert [name for name in graph if graph.out_degree(name) == 0] == ["sink"]


def test_names_and_hashes_are_distinct_and_files_keep_the_case() -> None:
    assert len({case.name for case in CASES}) == len({case_hash(case) for case in CASES}) == 60
    for case in CASES:
        read = case_from_text(case_text(case))
        assert case_hash(read) == case_hash(case)
        assert (read.name, read.rate, read.dataflow) == (case.name, case.rate, case.dataflow)


def test_the_seed_decides_in_any_process() -> None:
    assert case_hash(SAM.make(12, 0)) != case_hash(SAM.make(12, 1))
    code = (
        "from slotwise.models.allocation.case import case_hash\n"
        "from slotwise.models.families.sam import SAM\n"
        "print(case_hash(SAM.make(12, 3)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == case_hash(SAM.make(12, 3))


def test_an_index_below_0_is_refused() -> None:
    with pytest.raises(InputError, match="has indices from 0"):
        SAM.make(-1, 0)


def test_rates_are_positive_tenths() -> None:
    assert all(case.rate > 0 and (10 * case.rate).denominator == 1 for case in CASES)
    assert len({case.rate for case in CASES[len(MICRO) :]}) > 40
    assert isinstance(CASES[-1].rate, Fraction)


def test_generate_writes_cases_that_can_be_read(cli: Cli, tmp_path: Path) -> None:
    answer = cli("generate", "sam", "--count", 10, "--out", tmp_path, "--json")
    paths = [Path(name) for name in answer.json["files"]]
    assert [path.stem for path in paths] == [case.name for case in CASES[:10]]
    assert [case_hash(read_allocation_case(path)) for path in paths] == [
        case_hash(case) for case in CASES[:10]
    ]


def test_the_lists_have_it(cli: Cli) -> None:
    listed = {one["name"]: one for one in cli("families", "--json").json["families"]}
    assert listed["sam"]["count"] == SAM.count
    schema = cli("schema", "allocation-case").json
    assert schema["properties"]["format"]["const"] == "slotwise.allocation-case/1"
