"""What a placement costs and why, by the judge alone.

`cost_split` says which streams, nodes and tasks pay each term (those of the network,
too); `alternatives` what one task would cost elsewhere, and which rule forbids it
there; `mending` says in words what breaks a rule and what would mend it. Everything is recomputed
by the judge, so it is exact.

Start with `cost_split`. It may import `models.judge`; it must not know who made a placement.
"""
