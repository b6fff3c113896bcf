"""Processes that run solvers and methods: whatever happens there becomes a row.

`supervisor` says which runs share a process and which get their own. They are forked from one that
has imported everything (`child`; the loops that Numba has compiled, too: `compiled_loops`), which
watches their memory and ends what they leave: see `processes.fork_server`. `run_process` asks one
for runs, waits for its answers, and turns its end into a row.

Start with `supervisor`. It may import `benchmarks.grading` except `batch`.
"""
