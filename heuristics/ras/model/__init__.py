"""heuristics/ras/model: its story goes here."""
