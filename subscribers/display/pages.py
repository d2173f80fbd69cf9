"""HTML frames of the display pages, which scripts draw. Nothing of a request is written into a page
but the table's id and allowed values of `kiosk` and `rotate`.

A table is drawn in the language of its decree and in a second one, so a page contains the texts of
all languages. Its script comes last: an incompletely loaded page runs none.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Literal

import msgspec
from starlette.responses import HTMLResponse, Response

from common.contract.messages.messages import LANGUAGES, catalogue, text
from subscribers.display.frames import templates
from subscribers.display.start import no_modules_element, start_element

_TEMPLATES = templates("subscribers.display")
SCRIPT_WORD_GROUPS = (
    "display",
    "trouble",
    "jackpot",
    "colour",
    "phase",
    "sector",
    "who",
    "symbol",
    "outcome",
    "mark",
    "hand",
    "decision",
)
"""The groups of texts that the scripts need."""
_GAMES = files("subscribers.display").joinpath("static/games").iterdir()
STYLE_SHEETS = (
    "/static/theme.css",
    "/static/display.css",
    "/static/jackpot.css",
    "/static/motion.css",
    *(f"/static/games/{name}" for name in sorted(file.name for file in _GAMES) if ".css" in name),
    "/theme.css",
)
"""The style sheets of every page; the site's comes last, so it takes precedence."""


PageKind = Literal["table", "floor", "wall", "jackpot"]
SCRIPTS: Mapping[PageKind, str] = {
    "table": "table.js",
    "floor": "floor.js",
    "wall": "floor.js",
    "jackpot": "jackpot.js",
}


class House(msgspec.Struct, frozen=True, kw_only=True):
    """What the displays show of the house."""

    name: str | None = None
    logo: bool = False
    """There is a picture of it, which is shown instead of the name."""
    media: tuple[str, ...] = ()
    """The paths of pictures for idle tables."""
    also: str | None = None
    """The second language of the displays; None: the decree's other one, if it has two."""


class DisplayPage(msgspec.Struct, frozen=True):
    """Data for the page's script."""

    kind: PageKind
    tables: tuple[str, ...]
    jackpots: tuple[str, ...]
    language: str | None
    """The requested language; None: each table's own."""
    own: str
    """The language of text that belongs to no table."""
    words: Mapping[str, Mapping[str, str]]
    """Texts by language."""
    house: House


NO_HOUSE = House()
"""Nothing of the house is shown."""


def table_page(
    table: str,
    jackpots: tuple[str, ...],
    language: str | None,
    default_language: str,
    base: str,
    house: House,
) -> Response:
    """Return the page of one table, with the meters of those of these jackpots that it is linked
    to. ``default_language``: for text that belongs to no table. ``base``: the prefix of all
    addresses.
    """
    return _page("table", table, (table,), jackpots, language, default_language, base, house)


def floor_page(
    kind: Literal["floor", "wall"],
    tables: tuple[str, ...],
    jackpots: tuple[str, ...],
    language: str | None,
    default_language: str,
    base: str,
) -> Response:
    """Return the page of all tables and jackpots, for a desk or a wall screen."""
    return _page(kind, "Novamás", tables, jackpots, language, default_language, base)


def jackpot_page(
    jackpots: tuple[str, ...],
    language: str | None,
    default_language: str,
    base: str,
    house: House,
) -> Response:
    """Return the page of the first of these jackpots; the others may rotate with it."""
    return _page("jackpot", jackpots[0], (), jackpots, language, default_language, base, house)


def not_found_page(language: str, why: str = "trouble.no_table") -> Response:
    """Return a page that there is no such table, or with another reason."""
    template = _TEMPLATES.get_template("not_found.html")
    page = template.render(language=language, message=text(why, language))
    return HTMLResponse(page, 404, {"cache-control": "no-store"})


def _page(
    kind: PageKind,
    title: str,
    tables: tuple[str, ...],
    jackpots: tuple[str, ...],
    language: str | None,
    default_language: str,
    base: str,
    house: House = NO_HOUSE,
) -> Response:
    page = DisplayPage(
        kind=kind,
        tables=tables,
        jackpots=jackpots,
        language=language,
        own=language or default_language,
        words={name: _texts(name) for name in LANGUAGES},
        house=house,
    )
    # "<" could end the element
    encoded = msgspec.json.encode(page).decode().replace("<", "\\u003c")
    return HTMLResponse(
        _TEMPLATES.get_template("display.html").render(
            language=page.own,
            start=start_element(page.own, display=True),
            title=title,
            styles=STYLE_SHEETS,
            script=SCRIPTS[kind],
            no_modules=no_modules_element(base),
            base=base,
            page=encoded,
            kind=kind,
            noscript=text("display.no_script", page.own),
        ),
        headers={"cache-control": "no-store"},
    )


def _texts(language: str) -> dict[str, str]:
    return {
        key: message
        for key, message in catalogue(language).items()
        if key.split(".", 1)[0] in SCRIPT_WORD_GROUPS
    }
