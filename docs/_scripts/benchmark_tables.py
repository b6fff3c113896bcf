"""The tables of docs/benchmarks.md and of the pages below, from what experiments print.

python docs/_scripts/benchmark_tables.py run NAME...   # runs experiments; makes docs/_data/
python docs/_scripts/benchmark_tables.py write         # the tables of the pages from it
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import marked

DOCS = Path(__file__).parents[1]
PAGE, DATA = DOCS / "benchmarks.md", DOCS / "_data"
OTHER_PAGES = {
    "rstorm_table": DOCS / "r-storm.md",
    "storm_like_fit": DOCS / "families.md",
    "rstorm_excess": DOCS.parent / "README.md",
    "storm_throughput": DOCS.parent / "benchmarks" / "README.md",
}
"""Name of a table -> its page, where that is not `PAGE`."""

EXPERIMENTS = {
    "proofs-rstorm": "proofs --family rstorm --time-limit 60 --textbook",
    "proofs-random": "proofs --family random --count 12 --time-limit 30 --textbook",
    "rstorm_table": "rstorm_table",
    "storm_like_fit": "storm_like_fit --count 300",
    "storm_throughput": "storm_throughput --runs 3",
}
"""Name of the data -> the words after ``python -m slotwise.benchmarks``; --json comes on top."""
DATA_OF = {"rstorm_excess": "rstorm_table"}
"""Name of a table -> name of its data, where that is another."""

Document = dict[str, Any]


def _terms(row: Document, key: str) -> str:
    parts = [f"{term['term']} {_number(term[key])}" for term in row["objective"]]
    return ", ".join(parts) or "-"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:,g}"


def proofs(rows: Sequence[Document]) -> str:
    """Return one row for each instance."""
    head = ("instance", "engine", "status", "value", "bound", "tasks", "nodes", "s", "MB")
    cells = [
        (
            row["instance"],
            row["by"],
            row["status"],
            _terms(row, "value"),
            _terms(row, "bound"),
            str(row["tasks"]),
            str(row["nodes"]),
            f"{row['seconds']:.2f}",
            f"{row['memory_mb']:.0f}",
        )
        for row in rows
        if "instance" in row
    ]
    return marked.table(head, cells, text_columns=5)


def rstorm_table(rows: Sequence[Document]) -> str:
    """Return one row for each topology: nodes, cost and gap of each method."""
    found = {(row["instance"], row["method"]): row for row in rows if "gap" in row}
    methods = list(dict.fromkeys(method for _, method in found))
    cells = [
        (name, *(_cell(found.get((name, method))) for method in methods))
        for name in dict.fromkeys(name for name, _ in found)
    ]
    return marked.table(("topology", *(f"`{m}`" for m in methods)), cells)


def rstorm_excess(rows: Sequence[Document]) -> str:
    """Return the optimum of each topology whose cpu suffices, and how far above it methods are."""
    found = {(row["instance"], row["method"]): row for row in rows if "gap" in row}
    methods = ("round-robin", "r-storm", "r-storm-1.0")
    cells = [
        (
            name,
            _number(optimum["network"]),
            *(_excess(found[name, method], optimum) for method in methods),
        )
        for (name, by), optimum in found.items()
        if by == "exact" and not optimum["overload"]
    ]
    return marked.table(("topology", "optimum", *(f"`{m}`" for m in methods)), cells)


def _excess(row: Document, optimum: Document) -> str:
    return f"+{(row['network'] - optimum['network']) / optimum['network']:.1%}".replace("%", " %")


def _cell(row: Document | None) -> str:
    if row is None or row.get("network") is None:
        return "refuses"
    overload = f", overload {_number(row['overload'])}" if row["overload"] else ""
    gap = "" if row["gap"] in ("optimal", "") else f" ({row['gap'].split(' network')[0]})"
    return f"{row['nodes']}: {_number(row['network'])}{overload}{gap}"


def storm_like_fit(rows: Sequence[Document]) -> str:
    """Return one row for each statistic: quantiles in the clusters and in the draw, distance."""
    head = ("topologies", "statistic", "clusters", "drawn", "distance", "5 %")
    cells = [
        (
            row["of"],
            f"`{row['statistic']}`",
            _quantiles(row["clusters"]),
            _quantiles(row["drawn"]),
            f"{row['distance']:.2f}",
            "" if row["five_percent"] is None else f"{row['five_percent']:.2f}",
        )
        for row in rows
        if "statistic" in row
    ]
    return marked.table(head, cells, text_columns=2)


def _quantiles(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.3g}" if value < 1000 else f"{value:.0f}" for value in values)


def storm_throughput(rows: Sequence[Document]) -> str:
    """Return one row for each placement: what was predicted, simulated and measured."""
    head = (
        "topology", "placement", "network", "predicted", "simulated", "measured", "spread",
        "predicted ms", "simulated ms", "measured ms", "bytes", "cpu",
    )  # fmt: skip
    cells = [_throughput(row) for row in rows if "placement" in row]
    return marked.table(head, cells, text_columns=2)


def _throughput(row: Document) -> tuple[str, ...]:
    runs = row["runs"]
    latencies = [run["latency_ms"] for run in runs]
    sent = fmean(sum(v for k, v in run["sent_mbit_s"].items() if k[0] == "n") for run in runs)
    return (
        row["topology"],
        row["placement"],
        str(row["network"]),
        *(f"{row[key]:.1f}" for key in ("predicted", "simulated", "measured")),
        f"{100 * row['spread']:.1f} %",
        *(f"{row[key]:.0f}" for key in ("predicted_ms", "simulated_ms")),
        f"{fmean(latencies):.0f} ± {stdev(latencies):.1f}",
        f"{sent / (row['tuple_mbit'] * row['measured']):.2f}",
        f"{100 * fmean(run['own_cpu'] for run in runs):.0f} %",
    )


TABLES: dict[str, Callable[[Sequence[Document]], str]] = {
    "proofs-rstorm": proofs,
    "proofs-random": proofs,
    "rstorm_table": rstorm_table,
    "storm_like_fit": storm_like_fit,
    "rstorm_excess": rstorm_excess,
    "storm_throughput": storm_throughput,
}


def documents(name: str) -> list[Document]:
    """Return what the experiment of a table printed, one document for each line."""
    text = (DATA / f"{DATA_OF.get(name, name)}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def page_of(name: str) -> Path:
    """Return the page that a table is on."""
    return OTHER_PAGES.get(name, PAGE)


def run(name: str) -> None:
    """Run an experiment and keep what it prints; nothing is kept of one that fails."""
    words = [
        sys.executable,
        "-m",
        "slotwise.benchmarks.experiments",
        *EXPERIMENTS[name].split(),
        "--json",
    ]
    printed = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    DATA.mkdir(exist_ok=True)
    (DATA / f"{name}.jsonl").write_text(printed, encoding="utf-8")


def main(words: list[str]) -> None:
    """Run as a program."""
    match words:
        case ["run", *names] if names and set(names) <= set(EXPERIMENTS):
            for name in names:
                run(name)
        case ["write"]:
            for name, table in TABLES.items():
                marked.write(page_of(name), name, table(documents(name)))
        case _:
            raise SystemExit(f"{__doc__}\nNAME is one of {', '.join(EXPERIMENTS)}.")


if __name__ == "__main__":
    main(sys.argv[1:])
