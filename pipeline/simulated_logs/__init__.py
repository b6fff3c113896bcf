"""Simulated logs of a placed topology, whose true weights are known.

`simulate` draws tuples, latencies and bytes of each task from rates and costs that an instance
states, and writes them as the lines that Storm's ``LoggingMetricsConsumer`` prints and as JSON
lines, with planted faults; beside them ``nodes.json`` (GHz) and ``truth.json`` (everything that a
reader should find). `traffic` has the flows of tuples, `scene` the tasks with their places and
costs, `draws` the events in buckets of time, `storm_lines` and `json_lines` the formats, `faults`
the planted faults.

Start with `simulate`. It may import `models`; `slotwise.api` imports it.
"""
