"""The optimum of each instance: solved once, from the best heuristic's placement, and confirmed.

`hints` finds the best placement of any method, `sample` which instances are cross-checked, and
`stages` says what follows what: methods, exact runs, cross-checks. `contradictions` finds rows that
cannot both be right, and `disagreement` saves a certificate of each and stops the batch.

Start with `stages`. It may import `benchmarks.grading.batch`, `models` and `solver`.
"""
