"""Processes of our own: how one is started, and how it answers.

Measured calls run in processes of their own, so that they have no warm caches, can be ended at a
limit, and may die alone.

Start with `child_process`. It may import `models`; heuristics, the pipeline, gradings and the kit
for tests use it.
"""
