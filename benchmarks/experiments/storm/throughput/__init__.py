"""Placements on a real Storm: throughput and complete latency beside prediction and simulation.

`network` makes namespaces with little bandwidth, `cluster` runs Storm's processes in them,
`workload` has the topologies and their placements, `counts` reads what the spouts have counted.

Start with `experiment`.
"""
