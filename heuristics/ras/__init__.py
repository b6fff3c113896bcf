"""Storm's Resource Aware Scheduler (RAS): its strategies as methods.

What does Apache Storm 3.0 (commit 73da988) do with many topologies of many users? A round of its
outer loop (`scheduler`) takes topologies by priority, evicts where one does not fit, and has a
strategy (`strategies`) place each on a working cluster (`state`), as it sees topologies and nodes
(`model`), in the orders and the doubles of Java (`java`). `documented` is the strategy as Storm's
documentation describes it (``ras-paper``), which is not what the code does.

Start with `methods`. Inside: java < model < state < strategies < scheduler < methods. It may
import `heuristics.method`, `heuristics.partial_placement` and `models`. In words:
``docs/scheduling.md``.
"""
