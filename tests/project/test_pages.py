"""Each page of the documentation can be read at one sitting, and says first for whom it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
LINES = 300
"""The most lines of a page."""
GENERATED = ("integrator/vocabulary/", "inspector/rules/", "technician/troubleshooting/")
READERS = ("pit", "integrator", "inspector", "engineer")
PAGES = sorted(
    path
    for reader in READERS
    for page in (DOCS / reader).rglob("*.md")
    if not (path := page.relative_to(DOCS).as_posix()).startswith(GENERATED)
)
FOR_WHOM = re.compile(r"\b(For|Para|Per a|\w+entzat)\b")
"""For whom a page is, in the languages of the pages."""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_short_and_says_for_whom_it_is(page: str) -> None:
    title, _, first, *rest = (DOCS / page).read_text().splitlines()
    assert title.startswith("# ")
    assert FOR_WHOM.match(first), "the first paragraph says for whom the page is, and to what end"
    assert len(rest) + 3 <= LINES, "split it: one page has one purpose"
