"""The exit codes of commands, which the results of the public functions know."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command's exit code says."""

    DONE = 0
    """The command did what it was asked."""
    FAILED = 1
    """Infeasible, violations, a refusal, or a verification that failed."""
    BAD_INPUT = 2
    """Bad input or usage; one line on stderr says what."""
    NO_ANSWER = 3
    """Stopped at the limit with no answer."""
    INTERRUPTED = 130
    """Interrupted; what was found is kept."""
