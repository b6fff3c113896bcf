"""RAS's strategies: one topology placed on the working cluster.

A strategy orders the executors (`executor_order`), sorts racks, hosts and nodes (`node_sorter`,
and `fast_node_sorter`, which gives the same result on large clusters), and searches for a slot for
each executor with backtracking or in turn (both in `backtracking`, which also binds
ackers to new workers); `fit` says whether an executor may join a worker.

Start with `strategy`, whose `STRATEGIES` lists them: a new one needs a row there. It may import
`heuristics.ras.state`, `model`, `java` and `models`.
"""
