"""Pages on disk in a browser, for tests of what readers see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def opened(
    browser: Browser, path: Path | None, width: int = 1440, **more: Any
) -> tuple[Page, list[str]]:
    """Open a page from disk without a network; what it complains of is collected."""
    context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **more)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("requestfailed", lambda request: said.append(f"fetches {request.url}"))
    if path is not None:
        page.goto(path.as_uri())
    return page, said


def open_details(page: Page) -> None:
    """Open everything that is collapsed."""
    for details in page.locator("details").all():
        details.evaluate("one => { one.open = true; }")
