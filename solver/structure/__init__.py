"""solver/structure: its story goes here."""
