"""solver/exhaustive: its story goes here."""
