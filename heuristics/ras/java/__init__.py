"""heuristics/ras/java: its story goes here."""
