"""cli: its story goes here."""
