"""Another sample each day: engines on random instances, and mutated files through the commands.

`.ci/run` sets SLOTWISE_DAILY_SEED; a failure tells the seed, and the same seed repeats it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from mutated_files import Mutations

from slotwise.benchmarks.experiments.agreement.engines_agree import Sweep

pytestmark = pytest.mark.daily

COUNTS = {"tiny": 16, "presolve": 10, "widely-scaled": 10}
"""Family -> instances, for some twenty seconds in all; as many mutated files take ten."""
FILES = 40


@pytest.mark.parametrize("family", COUNTS)
def test_engines_agree_today(family: str, daily_seed: int, tmp_path: Path, note: list[str]) -> None:
    sweep = Sweep(family, daily_seed, range(1, COUNTS[family] + 1), time_s=5.0, faults=tmp_path)
    tally = sweep.run()
    note += [f"{family}: {line}" for line in list(tally.lines())[-1:]]
    assert tally.mismatches == [], f"seed {daily_seed}; the instances are in {tmp_path}"
    assert tally.settled["", "exhaustive"] == tally.instances == COUNTS[family]


def test_mutated_files_today(daily_seed: int, tmp_path: Path) -> None:
    mutations = Mutations(tmp_path, daily_seed)
    try:
        found = mutations.run(range(FILES))
    finally:
        mutations.close()
    assert not found, "\n".join([f"seed {daily_seed}", *map(str, found)])
