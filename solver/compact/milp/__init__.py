"""Engines ``milp`` and ``milp-cbc``: the compact model linearised, for HiGHS and CBC by PuLP.

Columns (`variables`), hard rules (`constraints`), network by levels (`network`) or by a distance
matrix (`rlt`: level-1 reformulation-linearisation, sum over l of z_ikjl = x_ik), all together in
`formulation`. `size` estimates a model before it is built. `backend` is what a solver is asked and
what it answers; `highs` and `cbc` are the two. Solvers compute in floating point: each solution is
rounded and judged, each bound rounded so that it holds. `export` writes MPS and LP files.

Start with `engine`, then `formulation`. It may import `solver.compact`, `solver.baseline`,
`solver.structure`, `solver.core` and `models`.
"""
