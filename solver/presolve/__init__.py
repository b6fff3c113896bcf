"""Smaller or easier problems with the same answer, or with a bound of it.

`node_reduction` leaves out nodes that no optimal placement needs; `single_node` turns a topology
that fits one node into a flat problem of its workers; `flow_components` solves connected components
of the flow apart and adds up their bounds; `rack_cut` brackets a cluster of racks by one rack alone
(upper bound) and by all nodes in one rack (lower bound), and bounds what more than one rack costs
by a minimum cut; `leading_terms` drops what only later terms read. Each says why it is valid and
how an answer is carried back.

Start with `node_reduction`. It may import `solver.structure`, `solver.core` and `models`; the
engines are called by `solver.portfolio`, not from here.
"""
