"""Explanations of placements that need a search: missed ones, broken ones, and two compared.

`completion` decides whether tasks that are fixed in their places leave room for all others;
`decisions` finds the first decision of a method after which no completion exists. `fewest_moves`
finds the valid placement nearest to a broken one. `matching` pairs the nodes and tasks of two
placements that may be exchanged, `comparison` says where the cost of the two differs.

Start with `completion`. It may import `solver.solve`, `models.explanation` and `heuristics`.
"""
