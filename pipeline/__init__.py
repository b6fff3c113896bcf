"""The data pipeline on Spark: from a running cluster's metric logs to an instance's weights.

`spark` is a session on any master, which gradings use as well. `statistics` reads logs and sums
them up (``measure``), `following` does so batch by batch and says when a rebalance pays
(``follow``), `simulated_logs` writes logs whose truth is known (``generate logs``), and `profiling`
measures the performance of tasks on this machine (``profile``).

Start with `statistics`. It may import `models`, `heuristics`, `solver` and `processes`;
`benchmarks` and the command line use it.
"""
