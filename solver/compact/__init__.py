"""solver/compact: its story goes here."""
