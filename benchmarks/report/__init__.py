"""benchmarks/report: its story goes here."""
