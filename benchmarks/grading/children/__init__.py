"""Processes that run solvers and methods: whatever happens there becomes a row.

`supervisor` says which runs share a process and which get their own. A `server`, seen from the
other side `fork_server`, has imported everything and forks these processes (`child`); it watches
their memory (`process_tree`) and ends what they leave. `run_process` asks one for runs and waits
for its answers; `ends` turns the end of one into a row. `compiled_loops` and `environment` make
what is forked quick and safe to fork.

Start with `supervisor`. It may import `benchmarks.grading` except `batch`.
"""
