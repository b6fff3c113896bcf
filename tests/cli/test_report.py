"""``slotwise report``: the page, files for a paper, two gradings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from graded_folder import make_graded

from slotwise.cli.app import run


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_graded(tmp_path_factory.mktemp("graded"))


def test_figures_are_written_beside_the_page(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures"
    assert run(["report", str(graded), "--figures", str(out), "--methods", "mine=r-storm"]) == 0
    assert capsys.readouterr().out == f"{graded / 'report.html'}\n"
    assert "mine" in (out / "methods.csv").read_text(encoding="utf-8")
    assert (out / "figures.tex").exists()


def test_a_folder_that_cannot_be_written_is_one_line(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (graded / "report.html").unlink(missing_ok=True)
    assert run(["report", str(graded), "--figures", str(tmp_path / "file")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("slotwise: --figures = ")
    assert said.err.count("\n") == 1
    assert not (graded / "report.html").exists(), "nothing half-written"


def test_two_gradings_are_compared(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Path(shutil.copytree(graded, tmp_path / "other"))
    assert run(["report", str(graded), str(other)]) == 0
    text = capsys.readouterr().out
    assert "round-robin" in text
    assert (other / "comparison.html").exists()
    assert text.replace("\n", "").endswith("comparison.html")
    assert run(["report", str(graded), str(other), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["report"] == str(other / "comparison.html")
    counts = {one["method"]: one["counts"] for one in found["methods"]}
    assert counts["r-storm"]["unchanged"] == 1
    assert counts["r-storm"]["better"] == 0
    assert found["infeasible"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{other}", "--figures", "x"], "--figures = 'x': is for one grading, not two"),
        (["{other}", "--methods", "mine"], "--methods = 'mine': must be LABEL=METHOD"),
        (
            ["nowhere"],
            "DIR2 = 'nowhere': is not a folder of a grading; make one with: slotwise grade",
        ),
        (["--methods", "mine=hash"], "--methods = 'hash': was not graded"),
    ],
)
def test_bad_input_is_one_line(
    graded: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [one.replace("{other}", str(graded)) for one in arguments]
    assert run(["report", str(graded), *given]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.count("\n") == 1
