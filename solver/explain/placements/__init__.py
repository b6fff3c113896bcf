"""Explanations of placements that need a search: missed ones, broken ones, and two compared.

`first_mistake` runs a method, notes its decisions and finds the first of them after which the other
tasks have no place. `fewest_moves` finds the valid placement nearest to a broken one. `comparison`
says where the cost of two placements differs, by the moves that explain most.

Start with `first_mistake`. It may import `solver.solve`, `models.explanation` and `heuristics`.
"""
