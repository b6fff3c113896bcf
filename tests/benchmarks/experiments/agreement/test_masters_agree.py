"""What counts as a difference between the rows of two masters."""

from __future__ import annotations

import argparse
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from slotwise.benchmarks.experiments.agreement import masters_agree
from slotwise.benchmarks.experiments.agreement.masters_agree import Outcome, Reached, differences
from slotwise.benchmarks.grading.rows import COLUMNS, KEY


def row(**other: Any) -> Any:
    blank = dict.fromkeys(COLUMNS)
    return {**blank, **dict.fromkeys(KEY, "x"), "instance": "i", "method": "m", **other}


def test_what_is_measured_may_differ() -> None:
    other = row(wall_s=2.0, cpu_s=2.0, peak_memory_mb=9.0, cpu_model="b", batch="2")
    assert differences([row(wall_s=1.0)], [other]) == []


def test_anything_else_may_not() -> None:
    one, two = row(status="valid", placement="[1]"), row(status="broken rule", placement="[2]")
    assert differences([one], [two]) == [
        "i, m: status = valid and broken rule",
        "i, m: placement = [1] and [2]",
    ]


def test_files_must_be_the_same_to_the_last_byte() -> None:
    one, two = (Outcome(1, 1.0, files={"a": "x", "b": text}) for text in ("y", "y "))
    assert (one.differences(one), two.differences(one)) == ([], ["b"])


def test_the_runs_must_be_the_same() -> None:
    assert differences([row()], []) == ["other runs: 1 rows, and 0"]
    assert differences([row()], [row(seed=1)]) == ["other runs: 1 rows, and 1"]


@pytest.mark.parametrize("statuses", [("valid", "valid"), ("valid", "broken rule")])
def test_a_difference_is_an_error(
    statuses: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = dict(zip(("local[1]", "connect"), statuses, strict=True))

    def graded(options: object, master: str, reached: Reached, out: Path) -> Outcome:
        return Outcome(1, 1.0, [row(status=ended[master])])

    monkeypatch.setattr(masters_agree, "_graded", graded)
    monkeypatch.setattr(
        masters_agree, "_started", lambda master, folder: nullcontext(Reached(master))
    )
    parser = argparse.ArgumentParser()
    masters_agree.add_options(parser)
    options = parser.parse_args(["--masters", "local[1]", "connect", "--json"])
    differs = statuses[0] != statuses[1]
    with pytest.raises(SystemExit) if differs else nullcontext():
        masters_agree.run(options)
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last == {"summary": {"agree": not differs}}
