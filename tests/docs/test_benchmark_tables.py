"""Tables of the README and of pages: from docs/_data/, and values of today."""

from __future__ import annotations

import benchmark_tables
import marked
import pytest

import slotwise
from slotwise.benchmarks.experiments.catalogue import EXPERIMENTS
from slotwise.models.families.registry import FAMILIES


@pytest.mark.parametrize("name", benchmark_tables.TABLES)
def test_tables_are_those_of_the_data(name):
    text = marked.blocks(benchmark_tables.page_of(name).read_text("utf-8"))[name]
    assert text == benchmark_tables.TABLES[name](benchmark_tables.documents(name))


def test_every_table_has_an_experiment():
    data = {benchmark_tables.DATA_OF.get(name, name) for name in benchmark_tables.TABLES}
    assert data == set(benchmark_tables.EXPERIMENTS)
    for words in benchmark_tables.EXPERIMENTS.values():
        assert words.split()[0] in EXPERIMENTS


def test_proven_values_are_those_of_today():
    """Of topologies that take less than a second."""
    told = {row["instance"]: row for row in benchmark_tables.documents("proofs-rstorm")[:-1]}
    for index in (1, 6, 7):
        instance = FAMILIES["rstorm"].make(index, 0)
        result = slotwise.solve(instance, time_limit_s=60)
        row = told[instance.name]
        assert (row["status"], result.status) == ("optimal", "optimal")
        assert [(t["term"], t["value"], t["bound"]) for t in row["objective"]] == [
            (t.term, float(t.value), float(t.bound)) for t in result.objective
        ]


def test_values_of_methods_are_those_of_today():
    told = benchmark_tables.documents("rstorm_table")
    instance = next(i for i in FAMILIES["rstorm"].generate() if i.name == "processing")
    for row in told:
        if row.get("instance") == "processing" and row.get("method") not in ("exact", None):
            verdict = slotwise.judge(instance, slotwise.place(instance, row["method"]))
            assert [float(term.value) for term in verdict.objective] == [
                row["overload"],
                row["network"],
            ], row["method"]
