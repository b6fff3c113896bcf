from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slotwise.api.reporting import report
from slotwise.benchmarks.grade import grade
from slotwise.benchmarks.grading.store import Store
from slotwise.models.families.sam import SAM

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_allocations_are_graded_from_family_to_page(spark: SparkSession, tmp_path: Path) -> None:
    summary = grade(["sam"], count=2, time_limit_s=20, out=tmp_path)
    assert summary.methods == ("lsa+dsm", "lsa+rsm", "mba+dsm", "mba+rsm", "mba+sam")
    assert (summary.instances, summary.planned, summary.skipped) == (2, 12, 0)
    assert summary.statuses == {"broken rule": 8, "optimal": 2, "valid": 2}
    rows = Store(tmp_path).rows()
    slots = {
        (row["instance"], row["method"]): row["terms"][0]["value"] for row in rows if row["terms"]
    }
    assert slots["sam-linear-50", "optimal"] == "3"
    assert slots["sam-linear-100", "mba+sam"] == "7"
    assert {row["workers"] for row in rows} == {1}
    again = grade(["sam"], count=2, time_limit_s=20, out=tmp_path)
    assert (again.planned, again.skipped) == (12, 12)
    page = report(tmp_path).read_text(encoding="utf-8")
    assert all(case.name in page for case in SAM.generate(2))
    assert "<p>No placements to draw.</p>" in page
