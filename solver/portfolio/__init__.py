"""solver/portfolio: its story goes here."""
