"""The functions about metric logs of running topologies, made rather than collected so far.

`simulating` makes logs whose truth is known; what it simulates, and how, is in
`slotwise.benchmarks.simulated_logs`.

Start with `simulating`. It may import what `slotwise.api` may.
"""
