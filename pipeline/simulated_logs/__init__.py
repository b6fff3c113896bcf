"""Logs of a placed topology that never ran, so that what they say is known.

`simulate` draws tuples, latencies and bytes of each task from rates and costs that an instance
states, and writes them as the lines that Storm's ``LoggingMetricsConsumer`` prints and as JSON
lines, with planted faults; beside them ``nodes.json`` (GHz) and ``truth.json`` (everything a reader
should find). `traffic` says how many tuples flow where, `scene` which task runs where at which
cost, `draws` what happens in a bucket of time, `storm_lines` and `json_lines` how it is written,
`faults` what is wrong with it.

Start with `simulate`. It may import `models`; `slotwise.api` imports it.
"""
