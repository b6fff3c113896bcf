"""Random gradings: every place that shows a figure has the reference's, and the same one."""

from __future__ import annotations

import csv
import io
import math
import random

import numpy as np
import pytest
from graded_rows import TERMS, write_rows
from judged_reference import METHODS, figures, graded

import slotwise
from slotwise.benchmarks.judged.figures import quantile
from slotwise.benchmarks.judged.method_table import interval_text, method_tables
from slotwise.benchmarks.judged.plain_table import csv_text
from slotwise.benchmarks.judged.reading import judged_rows
from slotwise.benchmarks.judged.summary import summarise
from slotwise.benchmarks.report.answers import answers
from slotwise.cli.render.graded import latex_summary


@pytest.mark.parametrize("seed", range(20))
def test_every_place_has_the_figures_of_the_reference(seed):
    rows = graded(seed)
    summary = summarise(judged_rows(rows), "out")
    expected = figures(rows, METHODS, TERMS)
    gaps = summary.gaps[summary.gaps["group"] == 1].set_index(["method", "term"])
    methods = summary.methods[summary.methods["group"] == 1].set_index("method")
    printed = list(csv.DictReader(io.StringIO(csv_text(summary.methods))))
    text = {row[0]: dict(zip(table.heads, row, strict=True))
            for table in method_tables(summary)[:1] for row in table.rows}  # fmt: skip
    latex = latex_summary(summary)
    said = {one.method: one.text for one in answers(summary)[: len(METHODS)]}
    for method in METHODS:
        in_csv = next(line for line in printed if line["method"] == method)
        for term in TERMS:
            ends = []
            for end in ("low", "high"):
                want, told = expected[method, term, end], gaps.loc[(method, term)]
                assert (told["instances"], told["common"]) == (want["instances"], want["common"])
                mean = math.nan if want["mean"] is None else want["mean"]
                assert told[f"mean_{end}"] == pytest.approx(mean, nan_ok=True)
                for name, share in {"median": 0.5, "p95": 0.95}.items():
                    number = quantile(np.array(want["sorted"]), share)
                    assert told[f"{name}_{end}"] == pytest.approx(number)
                    assert methods.loc[method, f"{term}_{name}_{end}"] == told[f"{name}_{end}"]
                    assert float(in_csv[f"{term}_{name}_{end}"]) == pytest.approx(number)
                ends.append(told[f"mean_{end}"])
            shown = text[method].get(f"{term} mean")
            if shown is None:
                continue
            mean = interval_text(*(None if math.isnan(end) else end for end in ends))
            assert shown.startswith(mean)
            assert mean.replace("%", r"\%").replace("∞", r"$\infty$") in latex
            if (
                f": {term} " in said[method]
                and want["common"]
                and "at its optimum" not in said[method]
            ):
                assert f"{term} {mean} above the optimum" in said[method]


def test_instances_have_seeds_of_their_own_and_intervals_where_nothing_is_proven():
    rows = [row for seed in range(5) for row in graded(seed)]
    judged = judged_rows(rows[:150])
    differ = (judged.low < judged.high) & np.isfinite(judged.low)
    assert differ.any()
    assert (judged.low <= judged.high).all()


@pytest.mark.parametrize("split", [1, 7])
def test_another_order_and_split_of_the_rows_give_the_same(tmp_path, split):
    rows = graded(3)
    first = slotwise.summary(write_rows(tmp_path / "a", rows)).to_document()
    random.Random(split).shuffle(rows)
    parts = [rows[start::split] for start in range(split)]
    other = slotwise.summary(write_rows(tmp_path / "b", *parts)).to_document()
    assert first | {"folder": ""} == other | {"folder": ""}
