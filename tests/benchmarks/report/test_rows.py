"""Reports of damaged rows: one line that names file, row and column, and no page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Cli
from graded_folder import make_graded

from slotwise.benchmarks.grading.rows import COLUMNS, KEY, Row
from slotwise.benchmarks.grading.store import Store
from slotwise.models.errors import InputError

OUTSIZED = "must be at most 100 digits long"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_graded(tmp_path_factory.mktemp("graded"))


@pytest.fixture
def graded(once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(once, tmp_path / "out"))


def file_of(folder: Path) -> Path:
    (path,) = (folder / "rows").iterdir()
    return path


def rewrite(folder: Path, change: Callable[[list[Row]], object]) -> Path:
    path = file_of(folder)
    rows = pq.read_table(path).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def cell(column: str, value: Any, row: int = 0) -> Callable[[list[Row]], object]:
    return lambda rows: rows[row].update({column: value})


def term(key: str, value: Any) -> Callable[[list[Row]], object]:
    return lambda rows: rows[0]["terms"][1].update({key: value})


CELLS: dict[str, tuple[Callable[[list[Row]], object], str]] = {
    "no instance": (cell("instance", None), "row 1, column instance = null: must not be null"),
    "another meaning": (
        cell("version", "slotwise 0.1.0, rows 1"),
        "row 1, column version = 'slotwise 0.1.0, rows 1': must name rows 3, as this slotwise "
        "writes them; grade into another folder",
    ),
    "third row": (cell("method", None, 2), "row 3, column method = null"),
    "engine's parameters": (
        cell("engine_parameters", "[1]"),
        "column engine_parameters = '[1]': must be a JSON object",
    ),
    "empty versions": (cell("versions", ""), "row 1, column versions"),
    "versions no object": (cell("versions", "[1]"), "column versions = '[1]': must be a JSON obj"),
    "placement empty": (cell("placement", "{}"), "column placement = '{}': must be a JSON object"),
    "placement without workers": (
        cell("placement", '{"nodes":[0,0,0]}'),
        "row 1, column placement = '{\"nodes\":[0,0,0]}': must be a JSON object with nodes and",
    ),
    "placement of texts": (
        cell("placement", '{"nodes":["0"],"workers":[0]}'),
        "column placement.nodes[0] = '0': must be a whole number",
    ),
    "placement uneven": (cell("placement", '{"nodes":[0],"workers":[]}'), "as long as nodes (1)"),
    "placement too short": (
        cell("placement", '{"nodes":[0],"workers":[0]}'),
        "row 1, column placement.placement: must have one entry per task of the instance (3)",
    ),
    "placement elsewhere": (
        cell("placement", '{"nodes":[0,0,9],"workers":[0,0,0]}'),
        "row 1, column placement.placement.nodes = 9: must be below the number of nodes",
    ),
    "placement outsized": (
        cell("placement", '{"nodes":[1e999999999],"workers":[0]}'),
        OUTSIZED,
    ),
    "outsized value": (
        term("value", "1e999999999"),
        f"row 1, column terms[1].value = 1e999999999: {OUTSIZED}",
    ),
    "outsized bound": (term("bound", "9" * 9000), f"999...: {OUTSIZED}"),
    "value no number": (term("value", "1/3"), "column terms[1].value = '1/3': must be a number"),
    "value NaN": (term("value", "NaN"), "column terms[1].value = 'NaN': must be finite"),
    "value null": (term("value", None), "row 1, column terms[1].value = null: must be a number"),
    "value negative": (term("value", "-1"), "must be 0 or more"),
    "term null": (term("term", None), "column terms[1]"),
    "no terms": (cell("terms", []), "row 1, column terms = []: must have values"),
    "other terms": (term("term", "nodes"), "as in other rows of this instance"),
    "term twice": (term("term", "overload"), "must name each term once"),
    "unknown status": (cell("status", "fine"), "column status = 'fine': must be one of"),
    "unknown kind": (cell("kind", ""), "column kind = '': must be one of"),
    "hash that is a path": (cell("instance_hash", "sha256:../../x"), "64 hexadecimal digits"),
    "infinite seconds": (cell("wall_s", float("inf")), "column wall_s = inf: must be finite"),
    "negative seconds": (cell("wall_s", -1.0), "column wall_s = -1.0: must be finite and 0 or"),
    "tightness NaN": (cell("tightness", float("nan")), "column tightness = nan: must be 0 or"),
    "negative seed": (cell("seed", -1), "column seed = -1: must be 0 or more"),
    "text for number": (
        lambda rows: [row.update(seed="1") for row in rows],
        "column seed = string: must be of type long",
    ),
    "number for text": (
        lambda rows: [row.update(instance=1) for row in rows],
        "column instance = int64: must be of type string",
    ),
    "terms of numbers": (
        lambda rows: [row.update(terms=[1.5]) for row in rows],
        "must be of type array of struct",
    ),
    "missing column": (
        lambda rows: [row.pop("status") for row in rows],
        "column status: is missing",
    ),
}


def test_a_bad_placement_is_named_before_figures_are_written(
    graded: Path, cli: Cli, tmp_path: Path
) -> None:
    change, message = CELLS["placement too short"]
    path = rewrite(graded, change)
    answer = cli("report", graded, "--figures", tmp_path / "figures")
    assert answer.code == 2
    assert answer.err.startswith(f"slotwise: {path}: ")
    assert message in answer.err
    assert not (tmp_path / "figures").exists()


@pytest.mark.slow
@pytest.mark.parametrize("what", CELLS)
def test_bad_cells_are_named(graded: Path, cli: Cli, what: str) -> None:
    change, message = CELLS[what]
    path = rewrite(graded, change)
    answer = cli("report", graded)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"slotwise: {path}: ")
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert not (graded / "report.html").exists()


def test_untouched_rows_make_a_page(graded: Path, cli: Cli) -> None:
    rewrite(graded, lambda rows: None)
    assert cli("report", graded).code == 0


def test_truncated_files_are_named(graded: Path) -> None:
    path = file_of(graded)
    content = path.read_bytes()
    for size in range(0, len(content), len(content) // 40):
        path.write_bytes(content[:size])
        with pytest.raises(InputError, match="does not hold rows of a grading") as caught:
            Store(graded).rows()
        assert caught.value.file == str(path)


@pytest.mark.slow
def test_damaged_files_are_read_or_named(graded: Path) -> None:
    """Whatever byte is broken: rows, or one error with the file's name."""
    path = file_of(graded)
    content = path.read_bytes()
    named = []
    for place in range(0, len(content), 97):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            Store(graded).rows()
        except InputError as error:
            named.append(error.file)
    assert set(named) == {str(path)}
    assert len(named) > 10


def test_text_that_is_no_utf8_is_named(graded: Path) -> None:
    path = file_of(graded)
    rows = pq.read_table(path)
    texts = pa.array([b"ok", b"\xff\xfe", *[b"x"] * (rows.num_rows - 2)], pa.binary())
    column = rows.schema.get_field_index("error")
    broken = pa.Array.from_buffers(pa.string(), len(texts), texts.buffers())
    pq.write_table(rows.set_column(column, "error", broken), path)
    with pytest.raises(InputError, match="row 2, column error: cannot be read"):
        Store(graded).rows()


def test_a_folder_in_the_place_of_a_file_is_named(graded: Path) -> None:
    (graded / "rows" / "rows-00000009-x.parquet").mkdir()
    with pytest.raises(InputError, match=r"rows-00000009-x.parquet: .*is not a file"):
        Store(graded).rows()


def test_another_instance_in_the_place_of_one_is_named(graded: Path, cli: Cli) -> None:
    one, other = sorted((graded / "instances").iterdir())
    shutil.copy(other, one)
    shutil.copy(other, other.with_suffix(".bak"))
    answer = cli("report", graded)
    assert answer.code == 2
    assert answer.err.startswith(f"slotwise: {one}: ")
    assert "must be of the instance sha256:" in answer.err


def test_only_the_columns_that_are_asked_for_must_be_there(graded: Path) -> None:
    path = file_of(graded)
    pq.write_table(pq.read_table(path, columns=[*KEY, "batch"]), path)
    assert len(Store(graded).rows(KEY)) == 6
    with pytest.raises(InputError, match="is missing"):
        Store(graded).rows(COLUMNS)


def test_the_rows_of_exact_runs_have_the_parameters_of_their_engines(graded: Path) -> None:
    rows = Store(graded).rows()
    assert {row["engine_parameters"] for row in rows if row["kind"] == "heuristic"} == {None}
    exact = [row for row in rows if row["kind"] == "exact"]
    assert {row["status"] for row in exact} == {"optimal", "infeasible"}
    for row in exact:
        parameters = json.loads(row["engine_parameters"] or "")
        assert parameters["auto"]["rack_fraction"] == 0.4
        # A contradiction is found before any engine runs.
        assert ("baseline" in parameters) == (row["status"] == "optimal")
