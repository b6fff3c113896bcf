"""Tables on stdout."""

from __future__ import annotations

import pytest

from slotwise.cli.render.tables import show, table

LONG = "a name of " + "x" * 100, "another of " + "y" * 100


@pytest.mark.parametrize("whole", [True, False])
def test_a_table_in_a_file_keeps_its_lines_whole_where_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show(table([LONG], ("first", "second")), "words " * 30, whole=whole)
    lines = capsys.readouterr().out.splitlines()
    assert any(all(name in line for name in LONG) for line in lines) == whole
    assert max(len(line) for line in lines if "words" in line) <= 80
