"""Verification: whether another engine finds anything better than what is claimed.

A certificate claims a value and a bound for each term. `verify` checks it without a solver, or has
its bounds resolved; `crosscheck` asks a second, different engine for anything at least one quantum
better and says what its result means for the claim; `certify` makes certificates of results.

Start with `verify`. It may import `solver.solve`, `solver.engines`, `solver.core` and `models`.
"""
