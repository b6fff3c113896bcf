"""What a reader of logs must know besides the lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

STORM_FILES = "*.metrics*"
"""The names of files with Storm's lines, as Storm's ``worker.xml`` has them, rolled or gzipped."""
JSON_FILES = "*.jsonl*"
"""The names of files with JSON lines."""
MOST_GHZ = 1000
"""No clock rate is above it, in lines or in a file of rates."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How lines are read and judged.

    Parameters
    ----------
    topology
        The topology of lines whose path and text do not name one.
    components
        The components of each topology; a line of another one goes to the quarantine. Empty: every
        component is taken.
    zone
        Time zone of the collector's log (``%d`` of log4j has none), such as ``Europe/Berlin``.
    skew_tolerance_s
        Seconds that a node's clock may differ from the collector's and count as right; the way of a
        sample to the collector counts into it.
    next_due_s
        Seconds after which the next sample of a task is due: Storm's
        ``topology.builtin.metrics.bucket.size.secs``.
    lateness_s
        Seconds between a sample's time and its receipt beyond which it is late. It is a rule on one
        line, not on when a job reads it, so that files and streams agree.
    longest_gap_s
        Seconds between two readings of a running total beyond which their difference is not taken.
    """

    topology: str = "topology"
    components: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    zone: str = "UTC"
    skew_tolerance_s: int = 5
    next_due_s: int = 60
    lateness_s: int = 600
    longest_gap_s: int = 600
