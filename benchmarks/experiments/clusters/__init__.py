"""Gradings on clusters of processes on this machine, compared with each other.

A master of Spark decides where runs happen and never how they end: `masters_agree` grades the same
instances on every kind of master and compares the rows. `servers` starts those that are processes
of this machine.

Start with `masters_agree`. It may import `grading` and `spark`; only the list of experiments
imports it.
"""
