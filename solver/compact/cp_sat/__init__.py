"""solver/compact/cp_sat: its story goes here."""
