"""The five performance models of the article, as packaged data."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from slotwise.models.formats.json_text import parse_json
from slotwise.models.performance.file import models_from_data
from slotwise.models.performance.rows import Models


@cache
def article_models() -> Models:
    """Return name -> model of the article's tasks ``blob``, ``table``, ``xml``, ``pi``, ``file``.

    Each measurement says where its figures come from: stated in the article, in the authors'
    public scripts, or reconstructed.
    """
    data = files("slotwise.models.performance").joinpath("data/sam.json")
    return models_from_data(parse_json(data.read_text("utf-8")))
