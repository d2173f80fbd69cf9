"""The pictures of the games' phases, and the page that shows them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.games.phase_pictures import pictures

DOCS = Path(__file__).parents[3] / "docs"
REDRAW = "python -m tests.support.games.phase_pictures docs/images/phases"


def test_the_pictures_show_what_the_games_do() -> None:
    drawn = pictures()
    stored = {path.name: path.read_text("utf-8") for path in DOCS.glob("images/phases/*")}
    assert stored.keys() == drawn.keys(), REDRAW
    assert [name for name in drawn if stored[name] != drawn[name]] == [], REDRAW


def test_the_page_shows_every_picture() -> None:
    page = (DOCS / "inspector" / "phases.md").read_text("utf-8")
    shown = re.findall(r"\(\.\./images/phases/([^)]+)\)", page)
    assert sorted(shown) == sorted(path.name for path in DOCS.glob("images/phases/*"))
