"""solver/core: its story goes here."""
