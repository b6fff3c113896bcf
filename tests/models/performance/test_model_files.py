"""Performance model files: every format reads what another wrote; faults are named."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from slotwise.models.errors import InputError
from slotwise.models.performance.file import article_models, read_models, write_models

HEAD = "task,threads,peak_rate,cpu,memory\n"
JSON = '{"format": "slotwise.performance/1", "models": {"a": [%s]}}'
ROW = '{"threads": 1, "peak_rate": 5, "cpu": 1, "memory": 1}'


@pytest.mark.parametrize("ending", ["json", "yaml", "csv", "parquet"])
def test_what_is_written_is_read(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"models.{ending}"
    write_models(path, article_models())
    assert read_models(path) == article_models()


def test_a_task_named_like_a_formula_is_text_in_csv_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "models.csv"
    (model,) = list(article_models().values())[:1]
    write_models(path, {"=1+1": model, "'@a": model})
    names = [line.partition(",")[0] for line in path.read_text().splitlines()[1:]]
    assert set(names) == {"'=1+1", "''@a"}
    assert set(read_models(path)) == {"=1+1", "'@a"}


CASES = {
    "hole": (HEAD + "a,1,5,1,\n", "line 2.memory = '': is empty"),
    "short row": (HEAD + "a,1,5,1\n", "line 2: must have 5 cells"),
    "unit in the head": (
        HEAD.replace("cpu", "cpu_cores"),
        "cpu: is missing; the required columns are",
    ),
    "unknown column": ("unit," + HEAD, "columns = 'unit': is an unknown or duplicate column"),
    "duplicate row": (
        HEAD + "a,1,5,1,1\na,1,6,1,1\n",
        r"measurements\[1\].threads = 1: must be above 1",
    ),
    "falls below its peak": (
        HEAD + "a,1,5,1,1\na,2,3,1,1\na,4,9,1,1\n",
        r"models.a.measurements\[1\].peak_rate = 3: must be at least 5, the rate with fewer",
    ),
    "no single thread": (HEAD + "a,2,5,1,1\n", "the measurement of 1 thread is missing"),
    "no threads": (HEAD + "a,0,5,1,1\n", "line 2.threads = 0: must be 1 or more"),
    "negative": (HEAD + "a,1,-5,1,1\n", "line 2.peak_rate = -5: must be 0 or more"),
    "not finite": (HEAD + "a,1,5,inf,1\n", "line 2.cpu = 'inf': must be finite"),
    "no number": (HEAD + "a,1,5,1 GHz,1\n", "line 2.cpu = '1 GHz': must be a number"),
    "too fine": (HEAD + "a,1,0.0000001,1,1\n", "line 2.peak_rate = .*at most 6 decimals"),
    "empty": (HEAD, "models: has no models"),
    "empty name": (HEAD + ",1,5,1,1\n", "must be a text of one line"),
    "broken quotes": (HEAD + 'a,1,5,1,"1\n', "line .: is not valid CSV"),
}


@pytest.mark.parametrize(("content", "message"), CASES.values(), ids=CASES)
def test_faults_of_csv_are_named(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "models.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as raised:
        read_models(path)
    assert str(path) in str(raised.value)


JSON_CASES = {
    "units": (
        '{"format": "slotwise.performance/1", "units": {"cpu": "cores"}, "models": {}}',
        "units.cpu = 'cores': must be %",
    ),
    "format": ('{"format": "x", "models": {}}', "format = 'x': must be slotwise.performance/1"),
    "hole": (JSON % ROW.replace('"cpu": 1, ', ""), r"models.a\[0\].cpu: is missing"),
    "key": (JSON % ROW.replace("cpu", "cores"), r"models.a\[0\].cores = 1: is an unknown key"),
    "not finite": (JSON % ROW.replace("5", "NaN"), r"models.a\[0\].peak_rate = NaN: must be fin"),
}


@pytest.mark.parametrize(("content", "message"), JSON_CASES.values(), ids=JSON_CASES)
def test_faults_of_json_are_named(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_models(path)


def test_faults_of_parquet_are_named(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "models.parquet"
    columns: dict[str, list[object]] = {
        "task": ["a", "a"],
        "threads": [1, 2],
        "peak_rate": [1.5, 2.5],
        "cpu": [10, 20],
        "memory": [1.0, None],
    }
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InputError, match=r"row 2.memory: is empty"):
        read_models(path)
    columns["memory"] = [1.0, float("nan")]
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InputError, match=r"row 2.memory = nan: must be finite"):
        read_models(path)
    columns["memory"] = [1.0, 2.0]
    pq.write_table(pa.table(columns), path)
    assert read_models(path)["a"].measurements[1].peak_rate == Fraction(5, 2)
    path.write_text("no parquet")
    with pytest.raises(InputError, match="is not a Parquet file"):
        read_models(path)
