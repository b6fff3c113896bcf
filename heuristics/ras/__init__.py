"""Storm's Resource Aware Scheduler (RAS): its strategies as methods.

They follow Apache Storm 3.0 (commit 73da988). A round of its outer loop (`scheduler`) takes
topologies by priority, evicts where one does not fit, and has a strategy (`strategies`) place each
on a working cluster (`state`), which is built on its view of topologies and nodes (`model`), in the
orders and the doubles of Java (`java`). `documented` is the strategy as Storm's documentation
describes it (``ras-paper``), which differs from the code.

Start with `methods`. Inside: java < model < state < strategies < scheduler < methods. It may
import `heuristics.method`, `heuristics.partial_placement` and `models`. In words:
``docs/scheduling.md``.
"""
