from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest

from slotwise.benchmarks.plan import Limits, make_plan
from slotwise.benchmarks.report import write_report
from slotwise.benchmarks.rows import COLUMNS, Row
from slotwise.benchmarks.run import Loader, outcome
from slotwise.benchmarks.sources import read_cases
from slotwise.benchmarks.store import Store
from slotwise.models.errors import InputError

EVIL = "<script>alert(1)</script>"


def instance(name: str, tasks: int = 3, memory: int = 1000) -> dict[str, object]:
    node = {"rack": "r1", "slots": 4, "resources": {"cpu": 100, "memory_mb": memory}}
    bolt = {"id": "<b>bolt", "kind": "bolt", "parallelism": tasks - 1}
    demand = {"resources": {"cpu": 40, "onheap_mb": 100}}
    spout = {"id": "spout", "kind": "spout", "parallelism": 1}
    return {
        "format": "slotwise.instance/1",
        "name": name,
        "cluster": {"nodes": [{"id": "n1", **node}, {"id": "n2", **node}]},
        "topologies": [
            {
                "id": EVIL,
                "components": [{**spout, **demand}, {**bolt, **demand}],
                "streams": [{"from": "spout", "to": "<b>bolt"}],
            }
        ],
        "objective": {"terms": ["overload", "network"], "soft": {"cpu": 1}},
    }


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """A folder with the rows of two methods on a feasible and an infeasible instance."""
    files = tmp_path / "in"
    files.mkdir()
    (files / "a.json").write_text(json.dumps(instance(f"{EVIL} & co")), encoding="utf-8")
    (files / "b.json").write_text(json.dumps(instance("tight", memory=100)), encoding="utf-8")
    cases = read_cases([str(files)], 0, None)
    store = Store(tmp_path / "out")
    store.prepare(cases)
    plan = make_plan(cases, ["round-robin", "r-storm"], "auto", Limits(20.0, 1, 0, None))
    blank: Row = dict.fromkeys(COLUMNS)
    load = Loader()
    rows = [{**blank, **run.columns(), **outcome(run, load)} for run in plan]
    store.append(pa.Table.from_pylist(rows))
    return store.folder


class _Page(HTMLParser):
    """Collects what a page would fetch, its visible text, and how many scripts it has."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.scripts = 0
        self.text = ""
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self._in_script = tag == "script"
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data") and not (value or "").startswith("#"):
                self.fetched.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if not self._in_script:
            self.text += data


def read_page(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def test_page_is_self_contained(graded: Path) -> None:
    path = write_report(graded)
    page = read_page(path)
    assert path == graded / "report.html"
    assert page.fetched == []
    assert "default-src 'none'" in path.read_text(encoding="utf-8")


def test_names_of_users_are_text(graded: Path) -> None:
    page = read_page(write_report(graded))
    assert page.scripts == 4, "plotly, two figures and ours"
    assert f"{EVIL} & co" in page.text


def test_page_tells_what_was_found(graded: Path) -> None:
    text = " ".join(read_page(write_report(graded)).text.split())
    for part in (
        "1 of 2 cases proven optimal",
        "1 proven infeasible",
        "auto: proven optimum",
        "gap = (value",
        "round-robin",
        "R-Storm as its authors ran it: tasks of neighbours",
        "Storm's even scheduler: executors dealt in turn",
        "git revision",
    ):
        assert part in text, part


def test_each_placement_is_drawn(graded: Path) -> None:
    text = write_report(graded).read_text(encoding="utf-8")
    rows = [row for row in Store(graded).rows() if row["placement"]]
    assert len(re.findall(r'<svg class="placement"', text)) == len(rows) >= 3


def test_report_is_the_same_again_and_leaves_nothing_behind(graded: Path) -> None:
    first = write_report(graded).read_bytes()
    assert write_report(graded).read_bytes() == first
    assert sorted(p.name for p in graded.iterdir()) == ["instances", "report.html", "rows"]


def test_rows_without_their_instance_are_reported_but_not_drawn(graded: Path) -> None:
    for path in (graded / "instances").iterdir():
        path.unlink()
    text = write_report(graded).read_text(encoding="utf-8")
    assert '<svg class="placement"' not in text
    assert "round-robin" in text


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_folder_without_rows_is_bad_input(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no rows") as caught:
        write_report(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_foreign_parquet_is_named(graded: Path) -> None:
    (graded / "rows" / "rows-00000009-x.parquet").write_bytes(b"no parquet")
    with pytest.raises(InputError, match="rows-00000009-x"):
        write_report(graded)


def test_page_of_a_family_says_what_differs_from_its_source(tmp_path: Path) -> None:
    cases = read_cases(["rstorm"], 0, 1)
    store = Store(tmp_path / "out")
    store.prepare(cases)
    plan = make_plan(cases, ["r-storm"], "auto", Limits(20.0, 1, 0, None))[1:]
    rows = [{**dict.fromkeys(COLUMNS), **r.columns(), **outcome(r, Loader())} for r in plan]
    store.append(pa.Table.from_pylist(rows))
    text = " ".join(read_page(write_report(store.folder)).text.split())
    assert "rstorm: R-Storm's nine benchmark topologies" in text
    assert "6 nodes for Linear and 7 for Diamond, as the article says" in text
