"""What tells series that are thinned from an interval that is longer."""

from __future__ import annotations

import pytest

from slotwise.pipeline.statistics.schema import JSON, STORM
from slotwise.pipeline.statistics.weights.collected import Signs
from slotwise.pipeline.statistics.weights.coverage import thinned

WORKERS = ("n1:6700", "n2:6700", "n3:6700", "n4:6700")


def at(*seconds: int) -> dict[str, int]:
    return dict(zip(WORKERS, seconds, strict=False))


@pytest.mark.parametrize(
    ("source", "interval", "signs", "likely"),
    [
        (STORM, 60, Signs({60: 100}, phases=at(0, 0, 0)), None),
        (STORM, 60, Signs({60: 90, 120: 10}, phases=at(3, 17, 41)), None),
        # Nothing says whether each fourth report is there, or Storm's interval was changed.
        (STORM, 240, Signs({240: 100}), 60),
        (STORM, 240, Signs({240: 100}, uptimes=at(12)), 60),
        # By a chance of 1 in 256, all four workers report within the first minute of 240 s.
        (STORM, 240, Signs({240: 100}, uptimes=at(12, 9, 14, 11)), None),
        (STORM, 240, Signs({240: 100}, uptimes=at(12, 72, 14, 132)), 60),
        (STORM, 240, Signs({240: 100}, phases=at(7, 67, 127)), 60),
        (JSON, 120, Signs({120: 100}, phases=at(5, 35, 65, 95)), 30),
        # On one grid, whichever worker is looked at first.
        *(
            (JSON, 240, Signs({240: 100}, phases=at(*three)), 60)
            for three in ((0, 61, 122), (61, 0, 122), (122, 61, 0))
        ),
        # Two of four consumers.
        (STORM, 180, Signs({60: 49, 180: 51}), 60),
        (STORM, 120, Signs({120: 99, 60: 1}, uptimes=at(12)), 60),
        # An interval that is not made of Storm's own is what somebody has set.
        (STORM, 90, Signs({90: 100}, phases=at(1, 50, 77)), None),
        (JSON, 240, Signs({240: 100}), None),
        (JSON, 240, Signs({240: 100}, phases=at(0, 60, 120)), 60),
        (JSON, 30, Signs({30: 10, 90: 10}, {30: 3000, 90: 9000}), None),
        (JSON, 60, Signs({60: 49, 180: 51}, {60: 4900, 180: 5100}), 60),
        (JSON, 180, Signs({60: 49, 180: 51}, {60: 4900, 180: 5100}), 60),
        (JSON, 60, Signs({60: 90, 120: 10}, {60: 9000, 120: 1000}), None),
        (JSON, 60, Signs({}), None),
    ],
)
def test_thinned(source: str, interval: float, signs: Signs, likely: float | None) -> None:
    found = thinned(source, interval, signs)
    assert (None if found is None else found[1]) == likely
