"""The HTML templates: what they are given is escaped, and nothing is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from subscribers.display.frames import templates

SUBSCRIBERS = Path(__file__).parents[3] / "subscribers"
HOSTILE = "</title><script>alert('1')</script>\"&"
GIVEN = {
    "language": "en",
    "title": HOSTILE,
    "message": HOSTILE,
    "noscript": HOSTILE,
    "base": "/novamas",
    "styles": ("/static/theme.css",),
    "script": "pit.js",
    "kind": "table",
    "day": "2026-01-02",
    "days": (HOSTILE,),
    "lines": (HOSTILE,),
    "trouble": HOSTILE,
    "house": (HOSTILE,),
    "light_word": HOSTILE,
    "sentence": HOSTILE,
    "sessions": (),
    "local_clock": str,
    "texts": dict.fromkeys(("copy", "days"), HOSTILE),
    "t": lambda key, **_: f"{key} {HOSTILE}",
    "wheels": [(HOSTILE, [(HOSTILE, True), (HOSTILE, False)])],
    "shoes": [(HOSTILE,)],
    "threshold": HOSTILE,
    "about": [("since", HOSTILE)],
    "bias": [("suspect", HOSTILE)],
    "change": HOSTILE,
    "shown_by": HOSTILE,
    "evidence": HOSTILE,
    "tables": [("groups", ("groups", "spins"), [(HOSTILE, HOSTILE)])],
    **dict.fromkeys(("start", "page", "no_modules", "drawing", "light", "speeds"), "<b>safe</b>"),
}
PAGES = [
    ("subscribers.display", "display.html"),
    ("subscribers.display", "permanency_day.html"),
    ("subscribers.display", "permanency_days.html"),
    ("subscribers.display", "not_found.html"),
    ("subscribers.console", "script.html"),
    ("subscribers.surveillance", "plain.html"),
    ("subscribers.statistics", "message.html"),
    ("subscribers.statistics", "wheel.html"),
    ("subscribers.statistics", "wheels.html"),
]
NO_PAGES = {("subscribers.display", "frame.html"), ("subscribers.statistics", "parts.html")}
"""Templates that pages extend or import."""


@pytest.mark.parametrize(("room", "name"), PAGES)
def test_texts_are_escaped(room: str, name: str) -> None:
    page = templates(room).get_template(name).render(GIVEN)
    assert "alert" in page
    assert "<script>alert" not in page
    assert page.startswith("<!doctype html>")


@pytest.mark.parametrize(("room", "name"), PAGES)
def test_a_page_without_one_of_its_values_is_not_made(room: str, name: str) -> None:
    template = templates(room).get_template(name)
    with pytest.raises(UndefinedError):
        template.render({name: value for name, value in GIVEN.items() if name != "language"})


def test_every_page_is_known_here() -> None:
    found = {
        (f"subscribers.{path.parents[1].name}", path.name)
        for path in SUBSCRIBERS.glob("*/templates/*.html")
    }
    assert found - NO_PAGES == set(PAGES)
