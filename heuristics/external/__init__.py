"""heuristics/external: its story goes here."""
