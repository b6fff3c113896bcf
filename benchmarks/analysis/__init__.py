"""benchmarks/analysis: its story goes here."""
