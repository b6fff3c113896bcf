"""models/instance: its story goes here."""
