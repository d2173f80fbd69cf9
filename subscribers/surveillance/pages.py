"""The HTML page of surveillance and the data for its script."""

from __future__ import annotations

import msgspec
from starlette.responses import HTMLResponse, Response

from common.contract.messages.messages import catalogue
from subscribers.console.pages import LANGUAGE_NAMES, SCRIPT_WORD_GROUPS, script_page
from subscribers.console.sessions import Session
from subscribers.console.words import all_of as console_words
from subscribers.display.frames import templates
from subscribers.display.start import start_element
from subscribers.surveillance.items import EVENT_MARKS, WORD_GROUPS
from subscribers.surveillance.sealed import may_see
from subscribers.surveillance.search_request import EVENT_TYPES
from subscribers.surveillance.words import all_of, room_text

_TEMPLATE = templates("subscribers.surveillance").get_template("plain.html")
_STYLES = ("/static/theme.css", "/surveillance/static/surveillance.css", "/theme.css")
VIEWER_ROLES = ("surveillance", "inspector", "director")
"""Roles that may open the page."""


class SearchChoice(msgspec.Struct, frozen=True):
    """A search term and its text."""

    id: str
    text: str


class SurveillancePage(msgspec.Struct, frozen=True, kw_only=True):
    """Data for the page's script. It contains no card."""

    site: str
    language: str
    languages: dict[str, str]
    words: dict[str, str]
    person: str
    name: str
    roles: tuple[str, ...]
    token: str
    left: float
    """Seconds until an idle session ends."""
    now: float
    """The server's time, in milliseconds since 1970."""
    tables: tuple[str, ...]
    whats: tuple[tuple[str, tuple[SearchChoice, ...]], ...]
    """Search terms, in groups."""
    cards: bool
    """True if this person may see sealed cards and there is a key to open them."""
    key: bool
    """True if there is a key."""
    clips: bool
    """True if the server cuts clips."""


def surveillance_page(
    site: str,
    session: Session,
    tables: tuple[str, ...],
    left: float,
    now: float,
    base: str,
    *,
    key: bool,
    clips: bool,
) -> Response:
    """Return the page for a person with one of :data:`VIEWER_ROLES`."""
    language = session.language
    data = SurveillancePage(
        site=site,
        language=language,
        languages=LANGUAGE_NAMES,
        words=_words(language),
        person=session.person.id,
        name=session.person.name,
        roles=session.person.roles,
        token=session.token,
        left=left,
        now=now,
        tables=tables,
        whats=_whats(language),
        cards=key and may_see(session.person),
        key=key,
        clips=clips,
    )
    return script_page(
        f"{room_text('page.title', language)} · {site}",
        language,
        "/surveillance/static/surveillance.css",
        "/surveillance/static/surveillance.js",
        data,
        base,
    )


def plain_page(key: str, language: str, status: int, base: str, **fields: object) -> Response:
    """Return a page with a single message."""
    page = _TEMPLATE.render(
        start=start_element(),
        styles=_STYLES,
        base=base,
        language=language,
        title=room_text("page.title", language),
        message=room_text(key, language, **fields),
    )
    return HTMLResponse(page, status, headers={"cache-control": "no-store"})


def _words(language: str) -> dict[str, str]:
    shared = {
        key: text
        for key, text in catalogue(language).items()
        if key.partition(".")[0] in SCRIPT_WORD_GROUPS
    }
    return {
        **shared,
        **console_words(language),
        **all_of(language, "page", "mark", "signed"),
    }


def _whats(language: str) -> tuple[tuple[str, tuple[SearchChoice, ...]], ...]:
    """Return marks first, then every irregularity, reason and alert by its text, then
    event types.
    """
    marks = [SearchChoice("notable", room_text("page.notable", language))]
    marks += [
        SearchChoice(name, room_text(f"mark.{name}", language))
        for name in dict.fromkeys(EVENT_MARKS.values())
    ]
    marks += [
        SearchChoice(name, room_text(f"mark.{name}", language)) for name in ("finding", "access")
    ]
    marks += [
        SearchChoice(name, room_text(f"kind.{name}", language))
        for name in ("sealed", "checkpoint", "reply", "info")
    ]
    groups: list[tuple[str, tuple[SearchChoice, ...]]] = [("", tuple(marks))]
    texts = catalogue(language)
    for group in WORD_GROUPS:
        choices = [
            SearchChoice(name, text)
            for key, text in texts.items()
            for key_group, _, name in [key.partition(".")]
            if key_group == group and "{" not in text
        ]
        mark = {"void_reason": "void"}.get(group, group)
        groups.append(
            (
                room_text(f"mark.{mark}", language),
                tuple(sorted(choices, key=lambda choice: choice.text)),
            )
        )
    types = [
        SearchChoice(
            name, room_text(f"event.{name}", language, result="", left="", count="").strip()
        )
        for name in sorted(EVENT_TYPES - set(EVENT_MARKS))
    ]
    groups.append(
        (room_text("mark.other", language), tuple(sorted(types, key=lambda choice: choice.text)))
    )
    return tuple(groups)
