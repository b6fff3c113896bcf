"""The optimum of each instance: solved once, from the best heuristic's placement, and confirmed.

`stages` says what follows what: methods, exact runs, each from the best placement of any method,
and cross-checks of a sample of instances. `disagreement` finds rows that cannot both
be right, saves a certificate of each and stops the batch.

Start with `stages`. It may import `benchmarks.grading.batch`, `models` and `solver`.
"""
