"""benchmarks/grading: its story goes here."""
