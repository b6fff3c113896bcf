"""Rows in a file of JSON lines: killed at any byte, a run loses no whole row and goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise.models.errors import InputError
from slotwise.models.formats.row_file import RowFile


@dataclass(frozen=True, slots=True)
class Row:
    """A row."""

    number: int
    name: str
    share: float | None = None


ROWS = st.lists(st.builds(Row, st.integers(), st.text(), st.none() | st.floats(0, 1)), min_size=1)


@given(rows=ROWS, cut=st.integers(0, 200), head=st.sampled_from(["", '{"task": "a"}']))
def test_a_run_that_is_killed_while_it_writes_goes_on(rows: list[Row], cut: int, head: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        RowFile(path, Row, head).append(*rows)
        data = path.read_bytes()
        path.write_bytes(data[: max(0, len(data) - cut)])
        left = RowFile(path, Row, head)
        whole = data[: len(data) - cut].count(b"\n") - bool(head) if cut < len(data) else 0
        assert left.rows == rows[: max(0, whole)]
        left.append(*rows[len(left.rows) :])
        assert path.read_bytes() == data
        assert RowFile(path, Row, head).rows == rows


def test_rows_may_be_kept_in_memory_only() -> None:
    file = RowFile(None, Row)
    file.append(Row(1, "a"))
    assert file.rows == [Row(1, "a")]


@pytest.mark.parametrize(
    ("text", "head", "message"),
    [
        ("{}\n", "", r"rows.jsonl: line 1: is not a row \(number: is missing\); remove the line"),
        ("nonsense\n", "", "line 1: is not a row"),
        ('{"number": 1, "name": "a"}\n[]\n', "", "line 2: is not a row"),
        ("no end of a line", "", "line 1: is not a row that was cut short; name another file"),
        ("no end of a line", '{"task": "a"}', "line 1: is not a row that was cut short"),
        ('{"number": 1, "name": "a"}\nmore', "", "line 2: is not a row that was cut short"),
        ("one\n", "another", "line 1: holds rows of something else, or with other settings"),
    ],
)
def test_other_content_is_refused(tmp_path: Path, text: str, head: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        RowFile(path, Row, head)
    assert path.read_text() == text


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file"):
        RowFile(tmp_path / "none" / "rows.jsonl", Row).append(Row(1, "a"))
