"""Engine ``milp``: the compact model linearised, for HiGHS by PuLP.

Products of counts are linearised by the exact count of the center of a star
(`compact.network`), costs by a matrix by level-1 reformulation-linearisation (RLT-1): sum over l
of z_ikjl = x_ik. The size of a model is estimated before it is built (`compact.model_size`).
`backend` has the questions to HiGHS and its replies (`highs`). It computes in floating point: each
solution is rounded and judged, each bound rounded so that it holds. `export` writes MPS and LP
files.

Start with `engine`, then `backend`. It may import `solver.compact`, `solver.baseline`,
`solver.structure`, `solver.core` and `models`.
"""
