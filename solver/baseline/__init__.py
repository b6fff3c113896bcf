"""solver/baseline: its story goes here."""
