"""The symmetry of a problem: what is interchangeable, and what cannot matter.

Which classes have the same demand, flows and rules, so that only the sum of their counts matters
(`task_types`)? Which nodes differ in nothing but their rack (`node_types`)? Where must workers be
modelled one by one, and how many (`worker_count`)? Which costs add up over parts of the flow
(`separability`)? Which ways to reach the same state are dominated (`dominance`)? `matching`
exchanges equal things so that two placements agree as far as possible, or so that as many tasks as
possible stay where they run. Start with `task_types`, which also turns counts back into tasks.

It may import `solver.core` and `models`; no engine.
"""
