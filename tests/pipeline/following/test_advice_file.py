"""The advice file: each batch once, whatever a crash leaves behind."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slotwise
from slotwise.models.errors import InputError
from slotwise.models.formats.advice_schema import REASONS, STATUSES, AdviceFile
from slotwise.models.formats.json_text import parse_json
from slotwise.models.formats.validation import validated
from slotwise.pipeline.following.advice import Advice, Batch, advise, time_ms, time_text
from slotwise.pipeline.following.advice_file import append, mend
from slotwise.pipeline.following.hysteresis import State, Thresholds
from slotwise.pipeline.following.saving import Saving, Search, saving
from slotwise.solver.core.result import Status


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest) -> Saving:
    root = request.getfixturevalue("root")
    return saving(slotwise.read_instance(root / "docs" / "examples" / "running.json"), Search(2))


def advice(found: Saving, number: int, stream: str = "s", before: State | None = None) -> Advice:
    batch = Batch(stream, number, 1_000 * number, 10 * number)
    return advise(batch, found, before or State(), Thresholds())


def test_a_line_is_what_the_schema_says(found):
    document = advice(found, 3).to_document()
    line = validated(AdviceFile, parse_json(json.dumps(document)))
    assert (line.stream, line.batch, line.time) == ("s", 3, "1970-01-01T00:00:03.000+00:00")
    assert (line.pays, line.reason, line.since) == (True, "gain", line.time)
    assert [move.task for move in line.moves] == [move.name for move in found.moves]
    assert line.objective[-1].now == 38
    assert Fraction(line.gain).limit_denominator(1000) == found.gain


def test_the_schema_lists_every_status_and_reason():
    from slotwise.pipeline.following.hysteresis import Reason

    assert tuple(map(str, Status)) == STATUSES
    assert tuple(map(str, Reason)) == REASONS


@given(st.integers(0, 4 * 10**12))
def test_times_are_read_as_they_were_written(milliseconds):
    assert time_ms(time_text(milliseconds)) == milliseconds


def test_the_state_of_the_last_line_is_read_back(found, tmp_path):
    path = tmp_path / "advice.jsonl"
    assert mend(path, "s") is None
    append(path, advice(found, 0))
    append(path, advice(found, 7, before=State(pays=True, changed_ms=5)))
    written = mend(path, "s")
    assert (written.batch, written.state) == (7, State(pays=True, changed_ms=5))


def test_lines_of_another_stream_stay_and_count_nothing(found, tmp_path):
    path = tmp_path / "advice.jsonl"
    append(path, advice(found, 7, stream="other"))
    assert mend(path, "s") is None
    append(path, advice(found, 0))
    assert mend(path, "s").batch == 0
    assert len(path.read_text().splitlines()) == 2


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_line_that_was_cut_short_is_written_anew(found, tmp_path_factory, data):
    path: Path = tmp_path_factory.mktemp("advice") / "advice.jsonl"
    lines = data.draw(st.integers(1, 4))
    for number in range(lines):
        append(path, advice(found, number))
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    written = mend(path, "s")
    for number in range(0 if written is None else written.batch + 1, lines):
        append(path, advice(found, number))
    assert path.read_bytes() == whole


def test_long_lines_are_found_across_blocks(found, tmp_path, monkeypatch):
    monkeypatch.setattr("slotwise.pipeline.following.advice_file.BLOCK", 7)
    path = tmp_path / "advice.jsonl"
    for number in range(3):
        append(path, advice(found, number))
    with path.open("a") as file:
        file.write('{"format": "slotwise.adv')
    assert mend(path, "s").batch == 2
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    "text", ["[]\n", "hello\n", '{"format": "slotwise.instance/1"}\n', "\xff\n"]
)
def test_a_file_of_something_else_is_refused(tmp_path, text):
    path = tmp_path / "other.jsonl"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"other\.jsonl: last line"):
        mend(path, "s")
    assert path.read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize("since", ["yesterday", "2026-11-29T00:00:00"])
def test_a_time_that_is_none_is_refused(found, tmp_path, since):
    path = tmp_path / "advice.jsonl"
    append(path, advice(found, 0, before=State(pays=True, changed_ms=5)))
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"since": since}) + "\n")
    with pytest.raises(InputError, match=f"since = '{since}': must be a time of ISO 8601 with its"):
        mend(path, "s")


@pytest.mark.parametrize("before", ["", "line"])
def test_nothing_but_advice_is_removed(found, tmp_path, before):
    path = tmp_path / "notes.txt"
    if before:
        append(path, advice(found, 0))
    with path.open("a") as file:
        file.write("no line end")
    content = path.read_bytes()
    with pytest.raises(InputError, match="not advice; give another file"):
        mend(path, "s")
    assert path.read_bytes() == content


def test_a_folder_is_no_advice_file(tmp_path):
    with pytest.raises(InputError, match="cannot be used"):
        mend(tmp_path, "s")
