"""Exact engines behind one `solve`: placements with proven bounds.

`solve` compiles, chooses an engine, runs it within its limits and judges its claim; `engines`
lists the engines by name. From below: `core` (contract, shared incumbent and bounds, limits),
`structure` (what is interchangeable), `contradictions` (why there is no placement, before any
search), `baseline` (bounds that always hold), `presolve`, the engines `exhaustive`, `local_search`,
`assignment`, `compact`, `column_generation`, `partition`, `few_moves` and `orphans`,
`large_neighbourhood`, then `whole_cluster` (topologies that share nodes), `portfolio` (``auto``),
and above `solve`: `admission` (which topologies to admit or evict), `verification`, `explain` (why
no placement exists, and the cheapest repairs), `rebalance` (the best cost for each number of moves,
and their order) and `graph_partition` (the least cut of a graph). Allocation is a separate problem:
`slots` finds the fewest slots for a dataflow, `allocation` runs it and the published pairs and has
every plan checked.

Start with `solve`, then `core`. It may import `models` and, for a first placement, `heuristics`.
In words: ``docs/engines.md``; contracts and formulations: ``docs/design.md``.
"""
