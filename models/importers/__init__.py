"""models/importers: its story goes here."""
