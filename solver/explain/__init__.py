"""Why an instance has no placement, the cheapest repairs, and where placements go wrong.

`constraint` names the constraints of an instance and makes the instance without some of them,
`change` has the changes that may mend it and `prices` what they cost; `feasibility` decides whether
any placement exists. `conflict` finds a minimal set of constraints that cannot hold together [1,
2], and `cause` tells shortage from fragmentation, whose pieces it shows, and says for each
constraint what is required and what is available. `levers` lists what can be changed, `elastic`
finds the cheapest combination of some levers by one model, and `repairs` asks it for each single
change that touches all conflicts, and for combinations. `explanation` holds the answer.

Two modules concern feasible instances: `first_mistake` runs a method, notes its decisions and finds
the first of them after which the other tasks have no place; `comparison` finds the valid placement
nearest to a broken one, and says where the cost of two placements differs, by the moves that
explain most.

Start with `explain`. It may import `solver.solve`, `solver.compact`, `solver.orphans`, `heuristics`
and `models`.

[1] U. Junker, QuickXplain, AAAI 2004. [2] J. Chinneck and E. Dravnieks, deletion filter, ORSA J. on
Computing 1991.
"""
