"""R-Storm as Apache Storm 1.0.6 released it: the method ``r-storm-1.0``.

A line-by-line reading of that release (tag v1.0.6), in its doubles and with its oddities: users,
guarantees and evictions and the strategy (`scheduler`), users, nodes, slots and assignments as its
classes keep them (`state`, `cluster`). The differential test compares every port, status and
failure with Storm's own code (``make storm-1-peer``).

Start with `scheduler`; `method` makes it a method. It may import `heuristics.ras` (Java's orders,
the whole-topology rule), `heuristics.method` and `models`.
"""
