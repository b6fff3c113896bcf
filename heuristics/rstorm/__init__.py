"""R-Storm: the nearest node, by resources and network distance, for one task after another.

`research_code` is what its authors ran (method ``r-storm``), `pseudocode` what the article [1]
prints (``r-storm-pseudocode``); the two differ, and each header says where and how gaps of the
source are read. They share the order of tasks (`task_order`), the distance with its
weights and the sorted nodes (`metric`, in exact integers). `storm_1` is the
version that Apache Storm released. Start with `research_code`; in words: ``docs/r-storm.md``.

It may import `heuristics.method`, `one_by_one`, `partial_placement` and `models`.

[1] B. Peng et al., R-Storm: Resource-Aware Scheduling in Storm, Middleware 2015.
"""
