"""cli/commands: its story goes here."""
