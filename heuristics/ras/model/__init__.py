"""Cluster and topologies as RAS sees them; nothing here changes during a round.

`topology` has executors, requests and neighbours, `requests` the sums of demand and supply, in
doubles and in the order of Java's maps; `cluster` has racks, hosts, nodes and slots, and puts
together what all states of one round share.

Start with `cluster`. It may import `heuristics.ras.java` and `models`.
"""
