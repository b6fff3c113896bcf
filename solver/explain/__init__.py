"""Why an instance has no placement, and what the cheapest repairs are.

`constraint` names the constraints of an instance, `relaxation` makes the instance without some of
them, `feasibility` decides by `solve` whether any placement exists. `core` finds a minimal
set of constraints that cannot hold together, `requirement` says what is required and what is
available, `cause` tells shortage from fragmentation. `change` applies a repair, `candidates` lists
those that touch a conflict, `least_amount` finds how little suffices, `repairs` orders them by
`prices`. `explanation` holds the answer.

Start with `explain`. It may import `solver.solve` and `models`.
Source of the core search: U. Junker, QuickXplain (AAAI 2004).
"""
