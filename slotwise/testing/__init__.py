"""testing: its story goes here."""
