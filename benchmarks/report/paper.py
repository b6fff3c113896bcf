"""Every chart and every table of a grading as files for a paper, all of them or none."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from slotwise.benchmarks.judged.edge_cuts import edge_cut_table
from slotwise.benchmarks.judged.method_table import (
    TextTable,
    definition,
    method_tables,
    term_tables,
)
from slotwise.benchmarks.report.case_table import CaseLine, case_lines, plain_columns
from slotwise.benchmarks.report.failures import failures
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.canvas import image
from slotwise.benchmarks.report.graded_rows import Graded
from slotwise.benchmarks.report.labels import label_of
from slotwise.benchmarks.report.page import compared_methods, facts
from slotwise.benchmarks.report.paper_table import PaperTable, latex_figure, latex_table
from slotwise.benchmarks.report.text import DASH, number
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


def tables(graded: Graded) -> tuple[PaperTable, ...]:
    """Return the tables of a grading that have a line."""
    cuts = edge_cut_table(graded.rows, graded.comparisons, graded.labels)
    summed = [*method_tables(graded.summary, graded.labels)]
    summed += term_tables(graded.summary, graded.labels)
    built = (
        *(_paper(one, definition(graded.summary)) for one in summed),
        *(() if cuts is None else (_paper(cuts, BALANCE),)),
        _failures(graded),
        _instances(graded),
    )
    return tuple(table for table in built if table.rows)


BALANCE = (
    "Ratios of edge cuts, means over the instances that all compared methods placed. Balance: most "
    "tasks on a node over the average of all nodes."
)


def _paper(text_table: TextTable, text: str) -> PaperTable:
    basis = " ".join(text_table.basis.splitlines())
    return PaperTable(text_table.name, f"{text} {basis}", tuple(text_table.heads), text_table.rows)


def _failures(graded: Graded) -> PaperTable:
    names: Mapping[str, str] = graded.labels
    return PaperTable(
        "failures",
        "Runs without a valid placement. Not among them: proofs that there is none, refusals where "
        "that is proven, and methods that do not apply to the instance.",
        ("method", "what went wrong", "runs", "of", "for example"),
        tuple(
            (
                *(label_of(failure.method, names), group.kind, str(group.count), str(failure.runs)),
                group.examples[0].instance if group.examples else DASH,
            )
            for failure in failures(graded.rows, graded.judged)
            for group in failure.groups
        ),
    )


def _instances(graded: Graded) -> PaperTable:
    methods = compared_methods(graded.summary)
    lines = case_lines(graded.rows, graded.judged, methods, most=len(graded.rows))
    label = partial(label_of, labels=graded.labels)
    terms = graded.judged.terms
    heads = (
        *("instance", "family", "tasks", "nodes", "tightness", "status"),
        *(f"{what} {term}" for what in ("best known", "bound") for term in terms),
        *("seconds", *(label(one) + what for one in methods for what in plain_columns(terms))),
    )
    return PaperTable(
        "instances",
        "Every instance: its size, what is known of it, and the gap of each method in the first "
        "term that is not at its optimum; from the gap to the best known value to the gap to the "
        "bound where the optimum is not proven.",
        (
            *("instance", "family", "tasks", "nodes", "tightness"),
            *("status", "best known", "bound", "seconds", *map(label, methods)),
        ),
        tuple(
            (
                *(line.name, line.family, str(line.tasks), number(line.nodes), line.tightness),
                *(line.status, line.value, line.bound, line.seconds),
                *(cell.gap for cell in line.cells),
            )
            for line in lines
        ),
        (heads, tuple(map(_plain_line, lines))),
    )


def _plain_line(line: CaseLine) -> tuple[str, ...]:
    return (
        *(line.name, line.family, str(line.tasks), number(line.nodes), line.tightness),
        *(line.status, *line.values, *line.bounds, line.seconds),
        *(text for cell in line.cells for text in cell.plain),
    )
