"""The requirements as data, their page, and the pages that state them."""

from __future__ import annotations

import re
from pathlib import Path

from controller.conform.requirements import page, requirements

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "integrator" / "requirements.md"


def test_the_page_is_the_data() -> None:
    """After a change: ``novamas conform requirements > docs/integrator/requirements.md``."""
    assert PAGE.read_text() == page()


def test_each_requirement_is_stated_on_its_page_by_its_id() -> None:
    missing = {
        each.id
        for each in requirements().values()
        if f"`{each.id}`" not in (DOCS / each.page).read_text()
    }
    assert missing == set()


def test_no_page_names_an_id_that_does_not_exist() -> None:
    named = {
        name
        for path in DOCS.rglob("*.md")
        for name in re.findall(r"\b(?:SUB|DRV)-[A-Z-]+\b", path.read_text())
    }
    assert named == requirements().keys()


def test_an_id_says_of_what_it_is() -> None:
    prefixes = {"driver": "DRV-", "subscriber": "SUB-"}
    assert all(each.id.startswith(prefixes[each.of]) for each in requirements().values())
