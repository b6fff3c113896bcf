"""Every chart and every table of a grading as files in a folder, all of them or none."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from slotwise.benchmarks.judged.method_table import method_tables
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.canvas import image
from slotwise.benchmarks.report.graded_rows import Graded
from slotwise.benchmarks.report.page import facts
from slotwise.benchmarks.report.paper.paper_table import PaperTable, latex_figure, latex_table
from slotwise.benchmarks.report.paper.tables import tables
from slotwise.models.errors import InputError

OPTION = "--figures"

ALL_FIGURES, CAPTIONS = "figures.tex", "captions.txt"
"""All charts as LaTeX figures with captions; the same captions and descriptions as text."""

HOW_MADE = "how-made.txt"
"""What is needed to make the figures again."""

PREAMBLE = "% Needs in the preamble: \\usepackage{booktabs, graphicx, longtable}\n\n"


def write_paper(graded: Graded, folder: str | Path) -> tuple[Path, ...]:
    """Write charts and tables of a grading into `folder` and return their paths.

    Of each chart ``NAME.svg``, ``NAME.pdf`` and the table behind it, ``NAME-table.csv`` and
    ``.tex``; of each other table ``NAME.csv`` and ``NAME.tex``; `ALL_FIGURES`, `CAPTIONS` and
    `HOW_MADE`.

    Parameters
    ----------
    graded
        What to write about.
    folder
        Where the files go; it is made where there is none.

    Raises
    ------
    InputError
        When a file cannot be written: then none is.
    """
    return write_all(Path(folder), paper_files(graded))


def paper_files(graded: Graded) -> dict[str, bytes]:
    """Return the files by name; see `write_paper`."""
    drawn = graded.charts
    behind = [
        PaperTable(
            f"{drawn_table.name}-table", drawn_table.caption, drawn_table.columns, drawn_table.rows
        )
        for drawn_table in drawn
    ]
    files: dict[str, bytes] = {}
    for drawn_table in drawn:
        files[f"{drawn_table.name}.svg"] = drawn_table.svg
        files[f"{drawn_table.name}.pdf"] = image(drawn_table.drawn, "pdf")
    for table in (*tables(graded), *behind):
        files[f"{table.name}.csv"] = table.csv_text().encode()
        files[f"{table.name}.tex"] = latex_table(table).encode()
    shown = "\n".join(latex_figure(drawn_table.name, drawn_table.caption) for drawn_table in drawn)
    files[ALL_FIGURES] = (PREAMBLE + shown).encode()
    files[CAPTIONS] = "\n".join(map(_words, drawn)).encode()
    files[HOW_MADE] = _how_made(graded).encode()
    return files


def _how_made(graded: Graded) -> str:
    """Return how the rows were made and what the figures are of, a line each."""
    hashes = "\n".join(graded.judged.instances.index)
    lines = {
        "figures": "slotwise report DIR --figures FIGURES",
        "methods": ", ".join(dict.fromkeys(row["method"] for row in graded.rows)),
        **facts(graded.rows, graded.commands),
        "instances": f"{len(graded.judged.instances)}, sha256 of their hashes "
        f"{hashlib.sha256(hashes.encode()).hexdigest()}",
        **{
            f"basis of {table.name}": " ".join(table.basis.splitlines())
            for table in method_tables(graded.summary)
        },
    }
    return "".join(f"{name}: {text}\n" for name, text in lines.items())


def _words(chart: Chart) -> str:
    return f"{chart.name}: {chart.title}\n\n{chart.caption}\n\nWhat one sees: {chart.alt}\n"


def write_all(folder: Path, files: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write the files into `folder`, which is made where there is none, and return their paths.

    Raises
    ------
    InputError
        When one cannot be written; files of the same names that were there are kept then.
    """
    for path in (folder / name for name in files):
        if path.is_dir():  # or some files would be there before the rename of this one fails
            raise InputError(
                "is a folder where a file is to go; remove it", file=str(path), has_value=False
            )
    is_new = not folder.exists()
    mark = f".{os.getpid()}.{secrets.token_hex(4)}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            for name, content in files.items():
                (folder / f".{name}{mark}").write_bytes(content)
            for name in files:
                (folder / f".{name}{mark}").replace(folder / name)
        finally:
            for path in folder.glob(f".*{mark}"):
                path.unlink()
            if is_new and not any(folder.iterdir()):
                folder.rmdir()
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}", field=OPTION, value=str(folder)
        ) from error
    return tuple(folder / name for name in files)
