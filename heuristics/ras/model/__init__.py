"""Cluster and topologies as RAS sees them; nothing here changes during a round.

`topology` has executors, requests and neighbours, `cluster` racks, hosts, nodes and slots,
`requests` the sums of demand and supply, in doubles and in the order of Java's maps;
`model` puts together what all states of one round share.

Start with `model`. It may import `heuristics.ras.java` and `models`.
"""
