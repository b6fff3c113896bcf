"""Labels of methods."""

from __future__ import annotations

import pytest

from slotwise.benchmarks.report.labels import check_labels, label_of, parse_labels
from slotwise.models.errors import InputError


def test_labels_are_read_from_texts_and_mappings() -> None:
    labels = parse_labels(["mine=cmd:./x --fast", "tuned=r-storm:weights=1,1,2"])
    assert labels == {"cmd:./x --fast": "mine", "r-storm:weights=1,1,2": "tuned"}
    assert parse_labels({"mine": "cmd:./x"}) == {"cmd:./x": "mine"}
    assert label_of("cmd:./x --fast", labels) == "mine"
    assert label_of("hash", labels) == "hash"


@pytest.mark.parametrize("text", ["r-storm", "=r-storm", "mine=", "r-storm:weights=1,1,2", ""])
def test_what_is_no_label_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="must be LABEL=METHOD"):
        parse_labels([text])


def test_labels_that_do_not_tell_methods_apart_are_refused() -> None:
    with pytest.raises(InputError, match="has two labels"):
        parse_labels(["a=x", "b=x"])
    with pytest.raises(InputError, match="the name of two methods"):
        check_labels({"x": "y"}, ["x", "y"])
    with pytest.raises(InputError, match="did you mean 'r-storm'"):
        check_labels({"r-strom": "mine"}, ["r-storm", "hash"])
    check_labels({"x": "y", "y": "x"}, ["x", "y"])
