"""Options of experiments that measure proofs, by our engine and by textbook models."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from slotwise.benchmarks.experiments.proofs.isolated_run import check_engine
from slotwise.models.values import time_limit


def add_engine_options(
    parser: argparse.ArgumentParser, textbooks: Sequence[str], *, textbook_limit_s: float
) -> None:
    """Add the engine, both time limits, which of `textbooks` take part, and ``--json``."""
    parser.add_argument("--engine", default="auto", help="ours")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="of ours")
    parser.add_argument(
        "--textbook-limit",
        type=float,
        default=textbook_limit_s,
        metavar="S",
        help="time limit of the textbook model",
    )
    parser.add_argument(
        "--textbook",
        nargs="*",
        choices=textbooks,
        default=textbooks,
        help="textbook models to run; without a name: only ours",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def check_engine_options(options: argparse.Namespace, *limits: str) -> None:
    """Refuse an unknown engine and wrong time limits, before anything is measured or printed.

    Parameters
    ----------
    options
        With the name of the engine.
    limits
        Names of the options that are time limits, as in ``time_limit``.

    Raises
    ------
    InputError
        Naming the option as typed.
    """
    check_engine(options.engine, "--engine")
    for name in limits:
        time_limit(getattr(options, name), f"--{name.replace('_', '-')}")
