"""Constraints of an instance that cannot hold together, as few as possible.

`listing` lists the constraints of an instance, `relaxation` makes the instance without some of
them, `core` finds a minimal set without placement. `quantities` counts what tasks need and nodes
have, `cause` tells shortage from fragmentation, whose pieces it shows, and `requirement` says
for each constraint what is required and what is available.

Start with `core`. It may import `solver.solve`, `models` and the modules of `solver.explain`.
Source: U. Junker, QuickXplain, AAAI 2004; J. Chinneck and E. Dravnieks, deletion filter, ORSA J.
on Computing 1991.
"""
