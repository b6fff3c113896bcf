"""The nouns, as users write them: cluster, topologies, objective, running tasks, and a placement.

All are frozen dataclasses that check themselves when they are created: first each field, by its
annotation (`models.nouns`, which also reads and writes files by it), then references between parts.
An error names the field, its value and the rule. Numbers are exact decimals in the user's own
units; `None` stands for "no limit" or "not known", as each field says.

Start with `instance`; `topology` and `cluster` are its parts, `placement` is an answer. It may
import `models.nouns`, `models.values` and `models.errors`.
"""
