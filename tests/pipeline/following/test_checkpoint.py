"""A checkpoint is of one stream of lines, and of no other."""

from __future__ import annotations

import pytest

from slotwise.models.errors import InputError
from slotwise.pipeline.following.checkpoint import open_checkpoint

LOGS = {"source": "folder /logs", "zone": "UTC"}


def test_a_restart_finds_the_same_stream(tmp_path):
    first = open_checkpoint(tmp_path / "a" / "b", LOGS)
    assert open_checkpoint(tmp_path / "a" / "b", LOGS) == first
    assert open_checkpoint(tmp_path / "c", LOGS).stream != first.stream


def test_other_lines_are_refused(tmp_path):
    open_checkpoint(tmp_path / "a", LOGS)
    with pytest.raises(InputError, match=r"zone = 'Europe/Berlin': was 'UTC' when"):
        open_checkpoint(tmp_path / "a", LOGS | {"zone": "Europe/Berlin"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.txt", "x"),
        ("stream.json", "{}"),
        ("stream.json", "\xff"),
        ("stream.json", '{"format": "slotwise.stream/1"}'),
    ],
)
def test_a_folder_of_something_else_is_left_alone(tmp_path, name, text):
    (tmp_path / name).write_text(text, "latin-1")
    with pytest.raises(InputError):
        open_checkpoint(tmp_path, LOGS)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text("latin-1") == text


def test_a_crash_before_the_stream_began_leaves_a_folder_to_begin_in(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".stream.json.123.0a1b2c3d.tmp").write_text("{")
    assert open_checkpoint(tmp_path / "a", LOGS).advice == tmp_path / "a" / "advice.jsonl"
