"""``python -m slotwise.benchmarks.experiments NAME [ARGUMENTS]``; without a name, their list."""

from __future__ import annotations

import sys

from slotwise.benchmarks.experiments.catalogue import EXPERIMENTS, run_experiment


def main(arguments: list[str]) -> int:
    """Run the experiment that is named; return its exit code, 2 for an unknown name."""
    if arguments and arguments[0] in EXPERIMENTS:
        return run_experiment(arguments[0], arguments[1:])
    wants_help = not arguments or arguments[0] in ("-h", "--help")
    out = sys.stdout if wants_help else sys.stderr
    if not wants_help:
        out.write(
            f"slotwise.benchmarks.experiments: {arguments[0]!r} is not an experiment; these are:\n"
        )
    width = max(map(len, EXPERIMENTS))
    out.writelines(f"  {name:{width}}  {one.shows}\n" for name, one in EXPERIMENTS.items())
    return 0 if wants_help else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
