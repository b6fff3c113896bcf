"""The exit codes of commands, which the results of the public functions also return."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The meaning of a command's exit code."""

    DONE = 0
    """Success."""
    FAILED = 1
    """Infeasible, violations, a refusal, or a verification that failed."""
    BAD_INPUT = 2
    """Bad input or usage; one line on stderr says which."""
    NO_ANSWER = 3
    """Stopped at the limit without an answer."""
    INTERRUPTED = 130
    """Interrupted; what was found is kept."""
