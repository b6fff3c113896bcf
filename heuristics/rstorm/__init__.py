"""heuristics/rstorm: its story goes here."""
