"""How fast the fewest slots are proven: the article's dataflows, curves of rates, large dataflows.

Start with `optima`, the program. It may import `solver.slots`, `models` and the table of
experiments.
"""
