"""Minus infinity of the tables of 64-bit integers."""

from __future__ import annotations

NEG_INF = -(2**61)
"""Value of what is impossible. Sums of two stay in 64 bits; proper values stay above a half."""
