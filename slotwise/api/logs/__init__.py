"""The functions about metric logs of running topologies.

`simulating` makes logs whose truth is known (`slotwise.pipeline.simulated_logs`); `measuring`
reads logs and measures an instance (`slotwise.pipeline.statistics`).

`following` gives advice while they come in (`slotwise.pipeline.following`).

Start with `measuring`. It may import what `slotwise.api` may.
"""
