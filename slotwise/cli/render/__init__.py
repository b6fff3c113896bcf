"""cli/render: its story goes here."""
