"""The columns of a run's row."""

from __future__ import annotations

import re

from slotwise.benchmarks.grading.rows import (
    COLUMNS,
    KEY,
    MEASURED,
    SCHEMA,
    Planned,
    Row,
    RunOutcome,
)


def test_the_schema_names_the_columns_of_a_row_in_their_order() -> None:
    top = re.sub(r"<.*?>>", "", SCHEMA.replace("\n", " ").replace("array<string>", "array"))
    assert tuple(column.split()[0] for column in top.split(",")) == COLUMNS


def test_a_row_is_what_was_planned_and_what_came_of_it() -> None:
    assert set(Row.__annotations__) == set(COLUMNS)
    assert not set(Planned.__annotations__) & set(RunOutcome.__annotations__)
    assert set(KEY) <= set(Planned.__annotations__)
    assert set(MEASURED) <= set(RunOutcome.__annotations__)
