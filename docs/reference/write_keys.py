"""Write the tables of keys in file-keys.md from the schemas."""

from __future__ import annotations

from pathlib import Path

from slotwise.models.schema_keys import with_tables

PAGE = Path(__file__).with_name("file-keys.md")

if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
