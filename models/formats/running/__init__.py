"""Files about a cluster that runs: plans of moves, and advice whether to move at all.

`plan_file` is what ``slotwise rebalance --out`` writes: moves in their order and the placement
after them. `advice_schema` is one line of what ``slotwise follow --advice`` appends.

Start with `plan_file`. It may import `models.formats` and what that imports.
"""
