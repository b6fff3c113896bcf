"""Certificates: what was found, what is proven about it, and which engine proved it.

A certificate is a file with the hash of an instance, a placement, and value and bound of every
term with the engine, version and parameters behind each bound. `check` recomputes without a solver
all that can be recomputed, which is everything but the bounds; having another engine search for
anything better is `solver.verification`. A digest shows accidental changes.

Start with `certificate`. It may import `models.judge`, `models.formats` and what is below.
"""
