"""Why an instance has no placement, the cheapest repairs, and where placements go wrong.

`constraint` names the constraints of an instance, `relaxation` makes the instance without some of
them, `change` has the changes that may mend it and `prices` what they cost; `feasibility` decides
by `solve` whether any placement exists. `conflicts` finds a minimal set of constraints that cannot
hold together and says what is short; `repairs` finds the least of each change that lets a placement
exist, and orders them by price. `explanation` holds the answer.
`placements` has what concerns feasible instances: the first mistake of a method, the valid
placement nearest to a broken one, two placements compared.

Start with `explain`. It may import `solver.solve` and `models`.
"""
