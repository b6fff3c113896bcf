"""solver/compact: its story goes here."""

from slotwise.solver.compact.cp_sat.bounds import proven_bound
from slotwise.solver.compact.cp_sat.builder import Count
from slotwise.solver.compact.cp_sat.products import product
from slotwise.solver.compact.cp_sat.run import run_cp_sat

__all__ = ["Count", "product", "proven_bound", "run_cp_sat"]
