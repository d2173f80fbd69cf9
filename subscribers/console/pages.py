"""The pages of the console, and the HTML frame of pages that a script draws for one person."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import HTMLResponse, Response

from common.contract.messages.messages import ENGLISH, LANGUAGES, catalogue
from subscribers.console.forms import CommandForm, forms
from subscribers.console.sessions import Session
from subscribers.console.words import all_of
from subscribers.display.frames import templates
from subscribers.display.roulette import DEFAULT_WHEEL_ORDER, colour
from subscribers.display.start import no_modules_element, start_element

_TEMPLATE = templates("subscribers.console").get_template("script.html")
SCRIPT_WORD_GROUPS = ("display", "trouble", "who", "status", "role", "symbol")
"""The groups of the catalogue that the scripts need."""
LANGUAGE_NAMES = {"en": "English", "es": "Español", "ca": "Català", "eu": "Euskara", "gl": "Galego"}


class SignInPage(msgspec.Struct, frozen=True):
    """Data for the script of the sign-in."""

    site: str
    language: str
    languages: dict[str, str]
    words: dict[str, str]
    after: str
    """The page that follows."""


class PitPage(msgspec.Struct, frozen=True, kw_only=True):
    """Data for the script of the console."""

    site: str
    language: str
    languages: dict[str, str]
    words: dict[str, str]
    tables: tuple[str, ...]
    person: str
    name: str
    roles: tuple[str, ...]
    token: str
    tag: str
    left: float
    """Seconds until an idle session ends."""
    late: float
    """Maximum age of a touch in seconds."""
    badge_signs: bool
    """Whether the badge signs a grave command instead of the PIN."""
    people: tuple[str, ...]
    """The people at these tables, to be picked."""
    has_printer: bool
    """Receipts can be printed at this server's printer."""
    clips: bool
    """This server has the clips of rounds."""
    colours: dict[str, str]
    """The colour of each number of roulette."""
    forms: dict[str, CommandForm]


def sign_in_page(site: str, language: str | None, after: str, base: str) -> Response:
    """Return the sign-in page; the page ``after`` follows. ``base``: the prefix of
    all addresses.
    """
    chosen = language if language in LANGUAGES else ENGLISH
    data = SignInPage(site, chosen, LANGUAGE_NAMES, _words(chosen), after)
    return _page("sign-in.js", site, chosen, data, base)


def pit_page(
    site: str,
    session: Session,
    tables: tuple[str, ...],
    left: float,
    late: float,
    base: str,
    *,
    badge_signs: bool,
    people: tuple[str, ...],
    has_printer: bool,
    clips: bool,
) -> Response:
    """Return the console of a signed-in person."""
    language = session.language
    data = PitPage(
        site=site,
        language=language,
        languages=LANGUAGE_NAMES,
        words=_words(language),
        tables=tables,
        person=session.person.id,
        name=session.person.name,
        roles=session.person.roles,
        token=session.token,
        tag=session.tag,
        left=left,
        late=late,
        badge_signs=badge_signs,
        people=people,
        has_printer=has_printer,
        clips=clips,
        colours={str(number): colour(number) for number in sorted(DEFAULT_WHEEL_ORDER)},
        forms=dict(forms(language)),
    )
    return _page("pit.js", site, language, data, base)


def _words(language: str) -> dict[str, str]:
    shared = {
        k: v for k, v in catalogue(language).items() if k.partition(".")[0] in SCRIPT_WORD_GROUPS
    }
    return {**shared, **all_of(language)}


def _page(script: str, site: str, language: str, data: Any, base: str) -> Response:
    style = "/pit/static/console.css"
    return script_page(f"Novamás · {site}", language, style, f"/pit/static/{script}", data, base)


def script_page(
    title: str, language: str, style: str, script: str, data: Any, base: str
) -> Response:
    """Return a page that ``script`` draws from ``data``. ``base``: the prefix of all addresses."""
    # "<" could end the element
    encoded = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    page = _TEMPLATE.render(
        start=start_element(language),
        title=title,
        language=language,
        styles=("/static/theme.css", style, "/theme.css"),
        script=script,
        no_modules=no_modules_element(base),
        base=base,
        page=encoded,
    )
    return HTMLResponse(page, headers={"cache-control": "no-store"})
