"""heuristics/ras/strategies: its story goes here."""
