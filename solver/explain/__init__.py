"""Why an instance has no placement, the cheapest repairs, and where placements go wrong.

`constraint` names the constraints of an instance and removes some of them, `change` has the changes
that may repair it and `prices` their prices; `feasibility` decides whether a placement exists.
`conflict` finds a minimal set of constraints that cannot hold together [1, 2], and `cause`
distinguishes shortage from fragmentation, shows the free pieces, and states for each constraint
what is required and what is available. `levers` lists what can be changed, `elastic` finds the
cheapest combination of levers by one model, and `repairs` uses it for each single change that
touches all conflicts, and for combinations. `explanation` holds the answer.

Two modules concern feasible instances: `first_mistake` runs a method, records its decisions and
finds the first one after which the other tasks have no place; `comparison` finds the valid
placement nearest to an invalid one, and explains by a few moves how the costs of two differ.

Start with `explain`. It may import `solver.solve`, `solver.compact`, `solver.orphans`, `heuristics`
and `models`.

[1] U. Junker, QuickXplain, AAAI 2004. [2] J. Chinneck and E. Dravnieks, deletion filter, ORSA J. on
Computing 1991.
"""
