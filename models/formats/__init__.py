"""models/formats: its story goes here."""
