"""Verification: whether another engine finds anything better than a claim.

A certificate claims a value and a bound for each term. `verify` checks it without a solver, or
proves its bounds again by another engine; `crosscheck` has a second, different engine search for
anything at least one quantum better and says what its result means for the claim; `certify` makes
certificates of results.

Start with `verify`. It may import `solver.solve`, `solver.engines`, `solver.core` and `models`.
"""
