"""Changes after which an instance has a placement, the cheapest first.

`levers` lists what can be changed, `elastic` finds the cheapest combination of some levers by one
model, and `search` asks it for each single change that touches all conflicts, and for combinations.

Start with `search`. It may import `solver.compact`, `models` and the modules of `solver.explain`.
"""
