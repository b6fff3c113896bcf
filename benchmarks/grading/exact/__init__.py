"""Runs of exact engines, inside the child process: the optimum, and its check by a second engine.

`exact_run` solves an instance from the best heuristic's placement, or has a second engine solve it
from nothing; `proofs` is what a row says about who proved what, for certificates and for the choice
of the second engine.

Start with `exact_run`. It may import `benchmarks.grading.plan` and `rows`, `models` and `solver`.
"""
