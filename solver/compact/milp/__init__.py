"""solver/compact/milp: its story goes here."""
