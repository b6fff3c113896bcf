"""Changes after which an instance has a placement, the cheapest first.

`levers` lists what can be changed to break a conflict, `application` applies a change,
`least_amount` finds how little of it suffices, `evictions` which topologies to leave out, and
`search` tries them all, and pairs where no single one helps; `cheaper_pairs` finds the cheapest
pair where one may be cheaper than every single change.

Start with `search`. It may import `solver.solve`, `models`, `solver.explain` and its `conflicts`.
"""
