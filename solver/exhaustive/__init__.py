"""Engine ``exhaustive``: every placement of a tiny instance, up to symmetry. Ground truth.

Depth-first branch and bound over the tasks, class by class. A branch ends where a hard rule breaks
or the partial vector of terms is not lexicographically below the incumbent's. The docstring of
`search` proves the three symmetries it uses. `partial_placement` with `box_rules` is a second
implementation of all rules and costs that shares nothing with the judge: that both agree is a test
of both.

Start with `search`. It may import `solver.core`, `models` and which nodes are equal; it values
placements without the judge, so that it stays independent of what it checks.
"""
