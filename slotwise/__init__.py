"""Place the tasks of stream processors on machines: solve, judge and grade placements."""

__version__ = "0.1.0"
