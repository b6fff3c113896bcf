"""Engine ``subset-dp``: any two different nodes equally far apart, a content decides its cost.

`subset_dp` is the engine. Up to 22 tasks it fills tables over all sets of tasks
(`subset_tables`), f_k(S) = min over T of f_{k-1}(S - T) + c_k(T). Beyond, `contents` lists the sets
that fit each node, `subset_fixing` prices them by Lagrangian duals, and `content_search` looks for
a placement among those whose reduced cost fits the gap. `subset_kernels` is compiled by Numba.

Start with `subset_dp`. It may import `solver.assignment`, `solver.core` and `models`.
"""
