"""The command ``partition``: the vertices of a graph file dealt to parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Purpose, own_command
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.api.partition_proof import ProvenPartition
    from slotwise.solver.core.progress import OnProgress

PROOF = "With a proof"
"""Section of the help."""
ARGUMENTS = {
    "parts": "--parts",
    "method": "--with",
    "engine": "--with",
    "sizes": "--sizes",
    "balance": "--balance",
    "form": "--format",
    "time_limit_s": "--time-limit",
    "workers": "--workers",
    "memory_limit_mb": "--memory-limit",
}
"""Argument -> option."""


@own_command(Purpose.PLACE)
def partition(
    graph: Annotated[
        str, typer.Argument(metavar="GRAPH", help="METIS .graph, edge list, GraphML or GML.")
    ],
    parts: Annotated[
        int,
        typer.Option(
            "--parts",
            metavar="K",
            help="Number of parts.",
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="METHOD",
            help="hash, ldg, fennel, ldg-re, fennel-re (:passes=N), all with :order=bfs and "
            "others, metis or kahip; with a proof: exact, or an engine such as cp-sat or milp.",
        ),
    ],
    balance: Annotated[
        float,
        typer.Option(
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
    time_limit: Annotated[
        float | None,
        typer.Option(
            callback=options.check_time_limit,
            metavar="SECONDS",
            help="Wall-clock time limit of a proof; default: 60.",
            rich_help_panel=PROOF,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            callback=options.whole_number("--workers", 1, options.MAX_WORKERS),
            help="Threads of a proof; default: 1.",
            rich_help_panel=PROOF,
        ),
    ] = None,
    memory_limit: options.MemoryLimit = None,
    out_instance: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the graph as an instance, for verify, solve and explain.",
            rich_help_panel=PROOF,
        ),
    ] = None,
    certificate: options.Certificate = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> int:
    """Partition a graph file and print edge cut, balance and seconds.

    With a proof no part is over its capacity, and the cut is the least there is, or comes with a
    bound where the time limit ends the search. Ctrl-C keeps the best partition and bound by then.
    """
    with exits.defer_interrupts():
        from slotwise.api import partitioning
        from slotwise.api.partition_proof import ProvenPartition
        from slotwise.heuristics.partitioning.partitioners import PARTITIONERS
        from slotwise.models.graph_files.graph_file import write_parts

    own = {"--out-instance": out_instance, "--certificate": certificate}
    for option, path in {"--out": out, **own}.items():
        options.check_target(path, option)
        options.check_not_read(path, option, [graph])
    options.check_distinct({"--out": out, **own})
    is_proof = method.partition(":")[0] not in PARTITIONERS
    if not is_proof:
        partitioning.check_no_proof_options(own, method)
    with ExitStack() as stack:
        on_progress = stack.enter_context(_search(quiet)) if is_proof else None
        with options.as_options(**ARGUMENTS):
            done = partitioning.partition(
                graph,
                parts,
                method,
                balance=balance,
                sizes=sizes,
                form=form,
                seed=seed,
                time_limit_s=time_limit,
                workers=workers,
                memory_limit_mb=memory_limit,
                on_progress=on_progress,
            )
        if isinstance(done, ProvenPartition):
            part, code = done.result.part, done.exit_code
            _save_proof(done, out_instance, certificate)
        else:
            part = done.partition.part.tolist()
            code = Exit.DONE if done.partition.fits else Exit.FAILED
        if out is not None and part is not None:
            write_parts(out, part, done.names)
    if as_json:
        print_json(done.to_document())
    else:
        exits.emit(done.to_text())
    return code


@contextmanager
def _search(quiet: bool) -> Iterator[OnProgress | None]:
    """Show progress, and let Ctrl-C end the search and take nothing away."""
    with exits.defer_interrupts():
        import slotwise.solver.solve  # noqa: F401 (loads native modules)
        from slotwise.cli.progress import progress
        from slotwise.solver.core.supervision import counted_presses

    with counted_presses(), progress(["edge cut"], quiet) as on_progress:
        yield on_progress


def _save_proof(done: ProvenPartition, out_instance: Path | None, certificate: Path | None) -> None:
    """Write the graph as an instance, and the certificate of its placement."""
    from slotwise.cli.commands.verify import save_certificate
    from slotwise.models.instance_file import write_instance
    from slotwise.models.problem.compile import compile_problem

    result = done.result
    if out_instance is not None:
        write_instance(out_instance, result.instance)
    if certificate is not None:
        save_certificate(certificate, compile_problem(result.instance), result.placed, None)
