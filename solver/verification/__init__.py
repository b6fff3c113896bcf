"""solver/verification: its story goes here."""
