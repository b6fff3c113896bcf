"""Files outside of docs/ shown as pages: their links lead where they led before."""

from __future__ import annotations

from pathlib import Path

import repository_pages

ROOT = Path(repository_pages.__file__).parents[2]


def test_links_of_a_file_are_rewritten_for_its_page():
    text = "[a](docs/engines.md#x) [b](benchmarks/README.md) [c](https://x.y) [d](#e) [f](LICENSE)"
    shown = repository_pages.relinked(text, "README.md", "docs/start.md")
    assert shown == "[a](engines.md#x) [b](development/experiments.md) [c](https://x.y) [d](#e)" + (
        " [f](../LICENSE)"
    )


def test_links_of_a_page_lead_to_pages_where_there_are_some():
    text = "[a](../../README.md) [b](sam.md) [c](../../heuristics/run.py)"
    shown = repository_pages.relinked(text, "docs/methods/x.md", "docs/methods/x.md")
    assert shown == "[a](../start.md) [b](sam.md) [c](../../heuristics/run.py)"


def test_every_page_has_its_file_and_a_stub_that_names_it():
    for page, file in repository_pages.PAGES.items():
        assert (ROOT / file).exists()
        assert f"{file})" in (ROOT / "docs" / f"{page}.md").read_text("utf-8")


def test_patterns_that_match_no_page_are_left_out(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x.md").touch()
    page = tmp_path / "index.md"
    page.touch()
    text = "```{toctree}\nx\nthere/*\nnone/*\n*\n```\n* a list\n"
    kept = "```{toctree}\nx\nthere/*\n```\n* a list\n"
    assert repository_pages.without_empty_patterns(text, page) == kept
