"""heuristics/ras/state: its story goes here."""
