"""The five performance models of the article, as packaged data."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from importlib.resources import files

from slotwise.models.performance.model import Measurement, PerformanceModel


@cache
def article_models() -> dict[str, PerformanceModel]:
    """Return name -> model of the article's tasks ``blob``, ``table``, ``xml``, ``pi``, ``file``.

    Each measurement says where its figures come from: stated in the article, in the authors'
    public scripts, or reconstructed.
    """
    text = files("slotwise.models.performance").joinpath("data/sam.json").read_text("utf-8")
    data = json.loads(text, parse_float=str)
    return {
        name: PerformanceModel(
            name,
            tuple(
                Measurement(
                    row["threads"],
                    Fraction(row["peak_rate"]),
                    Fraction(row["cpu"]),
                    Fraction(row["memory"]),
                    row["source"],
                )
                for row in rows
            ),
        )
        for name, rows in data["models"].items()
    }
