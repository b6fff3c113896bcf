"""Shares as people write them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from slotwise.models.errors import InputError
from slotwise.pipeline.following.hysteresis import Thresholds
from slotwise.pipeline.following.settings import Following, share


@pytest.mark.parametrize(
    ("text", "value"), [("5%", Fraction(1, 20)), (" 0.5 % ", Fraction(1, 200)), ("1", Fraction(1))]
)
def test_a_share(text, value):
    assert share(text, "min_gain") == value


@pytest.mark.parametrize("text", ["", "%", "half", "1/3", "nan", "1e400", "1e999999999"])
def test_what_is_no_share(text):
    with pytest.raises(InputError, match=r"min_gain = .*: must be a share such as 5% or 0\.05"):
        share(text, "min_gain")


@pytest.mark.parametrize("text", ["0", "101%", "1e200"])
def test_a_gain_that_cannot_be(tmp_path, text):
    with pytest.raises(InputError, match="must be above 0 and at most 1"):
        Following(tmp_path, thresholds=Thresholds(share(text, "min_gain"), 0))
