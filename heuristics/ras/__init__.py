"""heuristics/ras: its story goes here."""
