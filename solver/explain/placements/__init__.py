"""Explanations of placements that need a search: missed ones, broken ones, and two compared.

`completion` decides whether tasks that are fixed in their places leave room for all others.
`traced_run` runs a method and notes its decisions, `decisions` finds the first of them after which
no completion exists. `fewest_moves` finds the valid placement nearest to a broken one. `comparison`
says where the cost of two placements differs, by the moves that tell most.

Start with `completion`. It may import `solver.solve`, `models.explanation` and `heuristics`.
"""
