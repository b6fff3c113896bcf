"""Names that have a meaning of their own in an instance."""

from __future__ import annotations

ACKER = "__acker"
"""Component id of the tasks that a topology's `ackers` make."""
