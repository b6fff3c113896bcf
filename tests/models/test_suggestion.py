"""`suggestion`: close names, best first, else the names there are."""

from __future__ import annotations

import pytest

from slotwise.models.errors import suggestion

NAMES = ("r-storm", "r-storm-1.0", "round-robin")


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("rstorm", NAMES, "did you mean 'r-storm' or 'r-storm-1.0'?"),
        ("round-robbin", ["round-robin", "x"], "did you mean 'round-robin'?"),
        ("fofi", ["default", "fifo", "generic"], "did you mean 'fifo'?"),
        ("zzz", NAMES, "must be one of r-storm, r-storm-1.0, round-robin"),
        ("", dict.fromkeys("ab"), "must be one of a, b"),
        ("-", map(str, range(40)), f"must be one of {', '.join(map(str, range(30)))}, ..."),
    ],
)
def test_what_is_said(name, known, said) -> None:
    assert suggestion(name, known) == said
