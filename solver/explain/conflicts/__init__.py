"""Constraints of an instance that cannot hold together, as few as possible.

`core` finds a minimal set without placement. `quantities` counts what tasks need and nodes have;
`cause` tells shortage from fragmentation, whose pieces it shows, and says for each constraint what
is required and what is available.

Start with `core`. It may import `solver.solve`, `models` and the modules of `solver.explain`.
Source: U. Junker, QuickXplain, AAAI 2004; J. Chinneck and E. Dravnieks, deletion filter, ORSA J.
on Computing 1991.
"""
