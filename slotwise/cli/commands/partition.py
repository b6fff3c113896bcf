"""The command ``partition``: a graph file dealt to parts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError

MOST_PARTS = 2**20


def _balance(value: float) -> float:
    if not 1 <= value <= MOST_PARTS:
        raise InputError(f"must be from 1 to {MOST_PARTS}", field="--balance", value=value)
    return value


def _check_not_the_graph(graph: str, out: Path | None) -> None:
    if out is not None and out.exists() and Path(graph).exists() and out.samefile(graph):
        raise InputError("is GRAPH itself; name another file", field="--out", value=str(out))


def partition(
    graph: Annotated[
        str, typer.Argument(metavar="GRAPH", help="METIS .graph, edge list, GraphML or GML.")
    ],
    parts: Annotated[
        int,
        typer.Option(
            "--parts",
            metavar="K",
            callback=options.whole_number("--parts", 1, MOST_PARTS),
            help="Number of parts.",
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="METHOD",
            help="hash, ldg, fennel, ldg-re, fennel-re (:passes=N), metis or kahip.",
        ),
    ],
    balance: Annotated[
        float,
        typer.Option(
            callback=_balance,
            metavar="X",
            help="Largest weight of a part relative to its share, 1 or more.",
        ),
    ] = 1.03,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Relative sizes of the parts; default: equal."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="metis, edges, graphml or gml."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the part of each vertex, one per line."),
    ] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> int:
    """Partition a graph file and print edge cut, balance and seconds."""
    with exits.held():
        from slotwise.api import partitioning
        from slotwise.models.graph_files.graph_file import write_parts

    options.check_target(out)
    _check_not_the_graph(graph, out)
    with options.as_options(method="--with", sizes="--sizes", form="--format"):
        done = partitioning.partition(
            graph, parts, method, balance=balance, sizes=sizes, form=form, seed=seed
        )
    if out is not None:
        write_parts(out, done.partition.part, done.names)
    if as_json:
        print_json(done.to_document())
    else:
        exits.emit(done.to_text())
    return Exit.DONE if done.partition.fits else Exit.FAILED
