"""What few moves gain: fronts over the number of moves, and a published rebalancer beside them.

`fronts` solves random clusters on which a topology runs, and topologies of a decoded Storm cluster
that a method has placed; `machine_loss` takes machines away; `load_shift` lets StroMAX reassign
tasks after a component's cost doubled.
Start with `fronts`. It may import all but `benchmarks.experiments.speed`.
"""
