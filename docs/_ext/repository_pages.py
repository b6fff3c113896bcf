"""Files outside of docs/ that are pages too: one source, shown by GitHub and by Sphinx.

A page that is listed in `PAGES` is a stub with a link for readers on GitHub; Sphinx shows the file
behind it. Links of all pages to such a file lead to its page, links of the file to what they name.
Patterns of the navigation that match no page yet are left out, for Sphinx warns of them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the tests call the functions without Sphinx
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
PAGES = {
    "start": "README.md",
    "changelog": "CHANGELOG.md",
    "development/contributing": "CONTRIBUTING.md",
    "development/experiments": "benchmarks/README.md",
}
"""Page -> the file that it shows."""
ALIASES = {file: f"docs/{page}.md" for page, file in PAGES.items()}
TOCTREE = re.compile(r"^```\{toctree\}\n.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")


def relinked(text: str, source: str, page: str) -> str:
    """Rewrite the relative links of a file of the repository for the page that shows it."""

    def target(match: re.Match[str]) -> str:
        path = os.path.normpath(PurePosixPath(source).parent / match[1])
        return os.path.relpath(ALIASES.get(path, path), PurePosixPath(page).parent)

    return LINK.sub(target, text)


def without_empty_patterns(text: str, page: Path) -> str:
    """Drop the lines of toctrees with a pattern that matches no other page."""

    def matches(pattern: str) -> bool:
        return any(found != page for found in page.parent.glob(f"{pattern}.*"))

    def kept(match: re.Match[str]) -> str:
        lines = match[0].splitlines(keepends=True)
        return "".join(line for line in lines if "*" not in line or matches(line.strip()))

    return TOCTREE.sub(kept, text)


def read_source(app: Sphinx, docname: str, content: list[str]) -> None:
    """Put the file behind a page in place of its stub, and lead links to pages."""
    page = f"docs/{docname}.md"
    if not (ROOT / page).exists():
        return
    if docname in PAGES:
        path = ROOT / PAGES[docname]
        app.env.note_dependency(str(path))
        content[0] = relinked(path.read_text(encoding="utf-8"), PAGES[docname], page)
    else:
        text = without_empty_patterns(content[0], ROOT / page)
        content[0] = relinked(text, page, page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", read_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
