"""`split_names`: commas between methods, and commas inside commands and parameters."""

from __future__ import annotations

import pytest

from slotwise.heuristics.method_names import split_names


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ((), []),
        (("a, b", "c"), ["a", "b", "c"]),
        (("cmd:./x --a=1,2,b",), ["cmd:./x --a=1,2", "b"]),
        (("cmd:./x,zzz,cmd:./y",), ["cmd:./x,zzz", "cmd:./y"]),
        (("a:key=1,2,b",), ["a:key=1,2", "b"]),
        (("a:key=1,zzz",), ["a:key=1", "zzz"]),
        (("a:key=1,other=2,storm:b",), ["a:key=1,other=2", "storm:b"]),
        (("a", "1"), ["a", "1"]),
    ],
)
def test_names(written, names) -> None:
    assert split_names(written, {"a", "b", "c"}) == names
