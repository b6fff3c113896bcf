"""Balanced graph partition: the least flow cut by parts that are all alike, proven.

A problem on N equal nodes that are all equally far apart is to partition the tasks V of a graph
with edge weights f and vertex weights w into at most k parts of one capacity C:

    min  sum of f(u, v) over u, v in different parts = F - max sum_S f(S) lambda_S
    s.t. sum_{S: v in S} lambda_S = 1 (v in V),  sum_S lambda_S <= k,  lambda binary,  w(S) <= C

with F all flow and f(S) the flow inside S (set partitioning). Duals pi of the tasks and sigma >= 0
of the parts bound what parts can hold inside: ``sum pi + k sigma``, if no S has
``f(S) - pi(S) > sigma``. Pricing finds the largest f(S) - pi(S) exactly, on any graph, by dynamic
programming over an order of the tasks (`frontier`): the state is the capacity left and which tasks
are in S of those that later tasks are joined to, few where the graph is nearly a tree. Bounds are
recomputed in integers. A better solution uses only parts of reduced cost
``pi(S) + sigma - f(S) <= gap``; the same tables list these and no others, and the residual search
of column generation closes the gap among them. Where k cannot run short (``k >= ceil(2 w(V) / C)
- 1``, for parts that fit together may be merged), connected parts are enough, and sigma is 0.

Start with `engine`, then `frontier`. It may import `solver.column_generation`, the view of
`solver.assignment`, `solver.presolve`, `solver.structure`, `solver.core` and `models`.
[1] E. Johnson, A. Mehrotra, G. Nemhauser, Min-cut clustering, Math. Prog. 62 (1993) 133-151.
"""
