"""Charts and tables as files for a paper."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
from graded_folder import make_graded
from graded_rows import optimum, row

import slotwise
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report.graded_rows import graded_of, read_graded
from slotwise.benchmarks.report.paper import paper_files, tables, write_all, write_paper
from slotwise.benchmarks.report.paper_table import PaperTable, escaped, latex_table
from slotwise.models.errors import InputError

ROWS = [
    optimum("a", "0", "10", tasks=4),
    optimum("b", "0", "20", tasks=9),
    row("a", "r_50%", "valid", ("0", "12"), tasks=4),
    row("b", "r_50%", "valid", ("0", "20"), tasks=9),
    row("a", "other", "valid", ("0", "10"), tasks=4),
    row("b", "other", "refused", tasks=9),
]


def test_special_signs_are_escaped() -> None:
    assert escaped("a_b & 50 % of $x #1 {y}") == r"a\_b \& 50 \% of \$x \#1 \{y\}"
    assert escaped("~ ^ \\") == r"\textasciitilde{} \textasciicircum{} \textbackslash{}"
    assert escaped("\N{EN DASH} \N{MINUS SIGN}1 \N{INFINITY}") == r"-- $-$1 $\infty$"
    assert escaped("two\nlines") == "two lines"


def test_a_table_is_booktabs_with_caption_and_label() -> None:
    table = PaperTable(
        "t", "50 % of it", ("method", "gap"), (("a_b", "1.5 %"), ("c", "\N{EN DASH}"))
    )
    assert latex_table(table) == (
        "\\begin{table}\n\\centering\n\\caption{50 \\% of it}\\label{tab:t}\n"
        "\\begin{tabular}{lr}\n\\toprule\nmethod & gap \\\\\n\\midrule\n"
        "a\\_b & 1.5 \\% \\\\\nc & -- \\\\\n\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    )
    assert table.csv_text() == 'method,"gap, %"\na_b,1.5\nc,\n'


def test_a_long_table_goes_on_over_pages() -> None:
    text = latex_table(PaperTable("t", "x", ("n",), tuple((str(i),) for i in range(100))))
    assert text.startswith("\\begin{longtable}{r}")
    assert text.index("\\endhead") < text.index("\n0 ")


def test_tables_have_hand_computed_cells() -> None:
    found = {one.name: one for one in tables(graded_of(ROWS, lambda _: None, {"r_50%": "mine"}))}
    methods = {
        r[0]: dict(zip(found["methods"].columns, r, strict=True)) for r in found["methods"].rows
    }
    assert (methods["mine"]["placed"], methods["mine"]["optimal"]) == ("2 of 2", "1")
    assert (methods["other"]["placed"], methods["other"]["failed runs"]) == ("1 of 2", "1")
    assert methods["mine"]["network median"] == "10 %", "20 % and 0 %"
    table = found["gaps-network"]
    gaps = {r[0]: dict(zip(table.columns, r, strict=True)) for r in table.rows}
    assert (gaps["mine"]["greatest"], gaps["other"]["greatest"]) == ("20 %", "\N{INFINITY}")
    assert (gaps["mine"]["mean"], gaps["mine"]["common"]) == ("20 %", "1")
    assert "Compared on 2 instances." in table.caption
    assert found["failures"].rows == (("other", "refused", "1", "2", "b"),)
    assert [r[0] for r in found["instances"].rows] == ["a", "b"]


@pytest.mark.slow
def test_every_chart_and_table_is_a_file(tmp_path: Path) -> None:
    written = write_all(tmp_path / "new" / "figures", paper_files(graded_of(ROWS, lambda _: None)))
    names = {path.name for path in written}
    assert {path.name for path in (tmp_path / "new" / "figures").iterdir()} == names
    charts = {name.removesuffix(".svg") for name in names if name.endswith(".svg")}
    assert "gaps-ranked" in charts
    for name in charts:
        assert {f"{name}.pdf", f"{name}-table.csv", f"{name}-table.tex"} <= names
    for path in written:
        data = path.read_bytes()
        if path.suffix == ".pdf":
            assert data.startswith(b"%PDF")
        elif path.suffix == ".svg":
            assert ElementTree.fromstring(data).tag.endswith("svg")
            assert b"var(" not in data, "real colours in a file"
        elif path.suffix == ".csv":
            heads, *rows = csv.reader(io.StringIO(data.decode()))
            assert rows
            assert all(len(cells) == len(heads) for cells in rows)
    figures = (tmp_path / "new" / "figures" / "figures.tex").read_text(encoding="utf-8")
    captions = (tmp_path / "new" / "figures" / "captions.txt").read_text(encoding="utf-8")
    for name in charts:
        assert f"\\includegraphics[width=\\linewidth]{{{name}}}" in figures
        assert f"\n{name}: " in f"\n{captions}"


def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file", encoding="utf-8")
    with pytest.raises(InputError, match=r"^--figures = .*: cannot be written"):
        write_all(taken, {"a.csv": b"x"})
    assert taken.read_text(encoding="utf-8") == "a file"


def test_files_that_were_there_stay_where_one_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"old")
    with pytest.raises(InputError, match="cannot be written"):
        write_all(tmp_path, {"a.csv": b"new", "no/folder.csv": b"x"})
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_bytes() == b"old"
    with pytest.raises(InputError, match="cannot be written"):
        write_all(tmp_path / "fresh", {"no/folder.csv": b"x"})
    assert not (tmp_path / "fresh").exists()


def test_a_folder_in_the_way_of_a_file_is_named_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "b.csv").mkdir()
    (tmp_path / "a.csv").write_bytes(b"old")
    with pytest.raises(InputError, match=r"b\.csv: is a folder"):
        write_all(tmp_path, {"a.csv": b"new", "b.csv": b"x"})
    assert (tmp_path / "a.csv").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


@pytest.mark.slow
def test_a_folder_of_a_grading_is_written(tmp_path: Path) -> None:
    store = Store(make_graded(tmp_path))
    graded = read_graded(store, {"r-storm": "mine"})
    names = {path.name for path in write_paper(graded, tmp_path / "paper")}
    assert {"methods.csv", "methods.tex", "instances.csv", "failures.tex", "captions.txt"} <= names
    assert "\nmine," in (tmp_path / "paper" / "methods.csv").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="is not a folder of a grading"):
        slotwise.report(tmp_path / "nothing", figures=tmp_path / "x")
    with pytest.raises(InputError, match="was not graded"):
        slotwise.report(store.folder, methods=["mine=nosuch"], figures=tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_files_have_numbers_and_units_in_their_heads() -> None:
    cells = {
        "method": ("50 %", "1,000"),
        "placed": ("3 of 4", "2 proven, 1 open"),
        "mean": ("3.39 % [0.85, 6.8]", "\N{INFINITY}"),
        "gap": ("12 % to \N{INFINITY}", "1,200 %"),
        "tasks": ("7 to 42", "\N{EN DASH}"),
        "cut": ("\N{MINUS SIGN}1,234.5", "-"),
        "why": ("3 of 4", "it broke"),
    }
    table = PaperTable("t", "", tuple(cells), tuple(zip(*cells.values(), strict=True)))
    heads, *lines = csv.reader(io.StringIO(table.csv_text()))
    found = {head: list(column) for head, *column in zip(heads, *lines, strict=True)}
    assert found == {
        "method": ["50 %", "1,000"],
        "placed": ["3", ""], "placed of": ["4", ""],
        "placed proven": ["", "2"], "placed open": ["", "1"],
        "mean, %": ["3.39", "inf"],
        "mean 95 % interval from, %": ["0.85", ""], "mean 95 % interval to, %": ["6.8", ""],
        "gap from, %": ["12", "1200"], "gap to, %": ["inf", "1200"],
        "tasks from": ["7", ""], "tasks to": ["42", ""],
        "cut": ["-1234.5", ""],
        "why": ["3 of 4", "it broke"],
    }  # fmt: skip


def test_the_file_of_instances_has_the_numbers_of_the_download() -> None:
    (table,) = (one for one in tables(graded_of(ROWS, lambda _: None)) if one.name == "instances")
    first, second = csv.DictReader(io.StringIO(table.csv_text()))
    assert (first["best known network"], first["r_50% least gap, %"]) == ("10", "20")
    assert (second["bound network"], second["other"]) == ("20", "refused")
