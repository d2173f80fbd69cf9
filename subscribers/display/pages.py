"""The pages: a frame of HTML around what the script draws. Nothing of a request is written into a
page but the table's id and what `kiosk` and `rotate` may be.

Where no language is asked for, each table is drawn in that of its decree; so a page has the texts
of all languages. Its script comes last: of a page of which only a part came, none runs.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Literal

import msgspec
from starlette.responses import HTMLResponse, Response

from controller.contract.messages.messages import LANGUAGES, catalogue, text
from subscribers.display.start import no_modules, start

_PAGE = Template("""\
<!doctype html>
<html lang="$language">
<head>
<meta charset="utf-8">
$start
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="theme-color" content="#0b1a13">
<title>$title</title>
<link rel="icon" href="$base/static/icon.svg">
$styles
</head>
<body class="page-$kind">
<main id="main"></main>
<footer id="foot"></footer>
<p id="said" class="unseen" aria-live="polite"></p>
<noscript><p>$noscript</p></noscript>
<script type="application/json" id="page">$page</script>
<script type="module" src="$base/static/$script"></script>
$no_modules
</body>
</html>
""")
WORDS = (
    "display",
    "trouble",
    "jackpot",
    "colour",
    "who",
    "symbol",
    "outcome",
    "mark",
    "hand",
    "decision",
)
"""The groups of texts that the scripts need."""
_GAMES = files("subscribers.display").joinpath("static/games").iterdir()
STYLES = (
    "/static/theme.css",
    "/static/display.css",
    "/static/jackpot.css",
    *(f"/static/games/{name}" for name in sorted(each.name for each in _GAMES) if ".css" in name),
    "/theme.css",
)
"""The style sheets of every page; that of the site comes last, so it has the last word."""


Kind = Literal["table", "floor", "wall", "jackpot"]
SCRIPTS: Mapping[Kind, str] = {
    "table": "table.js",
    "floor": "floor.js",
    "wall": "floor.js",
    "jackpot": "jackpot.js",
}


class Page(msgspec.Struct, frozen=True):
    """What the script is told about its page."""

    kind: Kind
    tables: tuple[str, ...]
    jackpots: tuple[str, ...]
    language: str | None
    """The language that was asked for. None: each table's own."""
    own: str
    """The language of what belongs to no table."""
    words: Mapping[str, Mapping[str, str]]
    """By language."""


def table(
    table: str, jackpots: tuple[str, ...], language: str | None, own: str, base: str
) -> Response:
    """The page of one table, with the meter of each of these jackpots that it is linked to.
    ``own``: the language of what belongs to no table. ``base``: the prefix of all addresses.
    """
    return _page("table", table, (table,), jackpots, language, own, base)


def floor(
    kind: Literal["floor", "wall"],
    tables: tuple[str, ...],
    jackpots: tuple[str, ...],
    language: str | None,
    own: str,
    base: str,
) -> Response:
    """The page of all tables and jackpots: to look at, or for a screen on a wall."""
    return _page(kind, "Novamás", tables, jackpots, language, own, base)


def jackpot(jackpots: tuple[str, ...], language: str | None, own: str, base: str) -> Response:
    """The page of the first of these jackpots; the others take turns with it where that is
    wanted.
    """
    return _page("jackpot", jackpots[0], (), jackpots, language, own, base)


def missing(language: str, why: str = "trouble.no_table") -> Response:
    """There is no such table, or what this text says."""
    words = html.escape(text(why, language))
    page = f'<!doctype html><html lang="{language}"><title>404</title><p>{words}</p>'
    return HTMLResponse(page, 404, {"cache-control": "no-store"})


def _page(
    kind: Kind,
    title: str,
    tables: tuple[str, ...],
    jackpots: tuple[str, ...],
    language: str | None,
    own: str,
    base: str,
) -> Response:
    page = Page(
        kind=kind,
        tables=tables,
        jackpots=jackpots,
        language=language,
        own=language or own,
        words={each: _texts(each) for each in ([language] if language else LANGUAGES)},
    )
    # "<" could end the element
    encoded = msgspec.json.encode(page).decode().replace("<", "\\u003c")
    return HTMLResponse(
        _PAGE.substitute(
            language=page.own,
            start=start(page.own, display=True),
            title=html.escape(title),
            styles="\n".join(f'<link rel="stylesheet" href="{base}{style}">' for style in STYLES),
            script=SCRIPTS[kind],
            no_modules=no_modules(base),
            base=base,
            page=encoded,
            kind=kind,
            noscript=html.escape(text("display.no_script", page.own)),
        ),
        headers={"cache-control": "no-store"},
    )


def _texts(language: str) -> dict[str, str]:
    return {key: said for key, said in catalogue(language).items() if key.split(".", 1)[0] in WORDS}
