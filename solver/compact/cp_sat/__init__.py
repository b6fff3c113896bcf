"""Engine ``cp-sat``: the compact model solved by OR-Tools CP-SAT.

Products of counts are order-encoded: u * v = sum of z_i with z_i <= v and z_i = 0 unless u >= i.
Terms are solved one after the other, each with the earlier ones fixed at their proven optimum.
`run` is the one place that sets CP-SAT's parameters and reads its statuses, and rounds the bounds
that it reports to whole numbers that hold.

Start with `engine`, then `run`. It may import `solver.compact`, `solver.structure`, `solver.core`
and `models`. Column generation, `solver.whole_cluster`, `solver.orphans` and `solver.admission` use
its runs and products, nobody else does.
"""
