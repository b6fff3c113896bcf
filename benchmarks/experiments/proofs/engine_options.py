"""Options of experiments that compare our engine with textbook models."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


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
