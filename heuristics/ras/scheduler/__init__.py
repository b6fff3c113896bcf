"""heuristics/ras/scheduler: its story goes here."""
