"""StroMAX: schedulers of stream processors by streaming graph partitioning.

What do the three algorithms of the article [1] do? `bootstrap` places each topology when it is
submitted, from its graph alone (Algorithm 1, equation 5); `global_graph` partitions the tasks of
all topologies by measured costs (equations 6 to 10); `reassign` moves tasks away from nodes above
the average (equation 11, Algorithm 2). They share the order of the stream (`linearisation`), the
greedy step (`greedy_stream`). Each header says how the
article's gaps are read. Start with `bootstrap`; in words: ``docs/methods/stromax.md``.

It may import `heuristics.method`, `heuristics.one_by_one`, `heuristics.partial_placement`,
`heuristics.placed_neighbours`, `heuristics.node_capacity` and `models`.

[1] J. Jiang, Z. Zhang, B. Cui, Y. Tong, N. Xu, StroMAX: Partitioning-based Scheduler for Real-time
Stream Processing System, DASFAA 2017.
"""
