"""The functions about metric logs of running topologies: made, measured, followed.

`simulating` makes logs whose truth is known; what it simulates, and how, is in
`slotwise.benchmarks.simulated_logs`.

`measuring` makes weights of logs, `following` advice while they come in.

Start with `simulating`. It may import what `slotwise.api` may.
"""
