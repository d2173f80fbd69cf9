"""What the page of surveillance is told."""

from __future__ import annotations

import html

import msgspec
from starlette.responses import HTMLResponse, Response

from controller.contract.messages.messages import catalogue
from subscribers.console.pages import NAMES, WORDS, frame
from subscribers.console.sessions import Session
from subscribers.console.words import all_of as console_words
from subscribers.display.start import start
from subscribers.surveillance.asked import TYPES
from subscribers.surveillance.items import GROUPS, MARKS
from subscribers.surveillance.sealed import may_see
from subscribers.surveillance.words import all_of, own

LOOKERS = ("surveillance", "inspector", "director")
"""The roles that may look at the page."""


class Choice(msgspec.Struct, frozen=True):
    """Something that can be looked for, and its words."""

    id: str
    text: str


class SurveillancePage(msgspec.Struct, frozen=True, kw_only=True):
    """What the script is told. No card is in it."""

    site: str
    language: str
    languages: dict[str, str]
    words: dict[str, str]
    person: str
    name: str
    roles: tuple[str, ...]
    token: str
    left: float
    """Seconds until the session ends if nothing is touched."""
    now: float
    """The server's time, in milliseconds since 1970."""
    tables: tuple[str, ...]
    whats: tuple[tuple[str, tuple[Choice, ...]], ...]
    """What can be looked for, in groups."""
    cards: bool
    """Whether this person may see sealed cards, and there is a key to open them."""
    key: bool
    """Whether there is a key."""
    clips: bool
    """Whether the server cuts clips."""


def surveillance(
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
    """The page of a person who may look."""
    language = session.language
    told = SurveillancePage(
        site=site,
        language=language,
        languages=NAMES,
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
    return frame(
        f"{own('page.title', language)} · {site}",
        language,
        "/surveillance/static/surveillance.css",
        "/surveillance/static/surveillance.js",
        told,
        base,
    )


_PLAIN = """\
<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
{start}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="{base}/static/icon.svg">
<link rel="stylesheet" href="{base}/static/theme.css">
<link rel="stylesheet" href="{base}/surveillance/static/surveillance.css">
<link rel="stylesheet" href="{base}/theme.css">
</head>
<body>
<main class="plain"><h1>{title}</h1><p>{said}</p></main>
</body>
</html>
"""


def plain(key: str, language: str, status: int, base: str, **fields: object) -> Response:
    """A page that only says one thing."""
    page = _PLAIN.format(
        start=start(),
        base=base,
        language=language,
        title=html.escape(own("page.title", language)),
        said=html.escape(own(key, language, **fields)),
    )
    return HTMLResponse(page, status, headers={"cache-control": "no-store"})


def _words(language: str) -> dict[str, str]:
    told = {k: v for k, v in catalogue(language).items() if k.partition(".")[0] in WORDS}
    return {
        **told,
        **console_words(language),
        **all_of(language, "page", "mark", "signed"),
    }


def _whats(language: str) -> tuple[tuple[str, tuple[Choice, ...]], ...]:
    """Marks first, then every irregularity, reason and alert by its words, then types of events."""
    marks = [Choice("notable", own("page.notable", language))]
    marks += [Choice(each, own(f"mark.{each}", language)) for each in dict.fromkeys(MARKS.values())]
    marks += [Choice(each, own(f"mark.{each}", language)) for each in ("finding", "access")]
    marks += [
        Choice(each, own(f"kind.{each}", language))
        for each in ("sealed", "checkpoint", "reply", "info")
    ]
    found: list[tuple[str, tuple[Choice, ...]]] = [("", tuple(marks))]
    texts = catalogue(language)
    for group in GROUPS:
        of = [
            Choice(name, said)
            for key, said in texts.items()
            for of_group, _, name in [key.partition(".")]
            if of_group == group and "{" not in said
        ]
        named = {"void_reason": "void"}.get(group, group)
        found.append((own(f"mark.{named}", language), tuple(sorted(of, key=lambda one: one.text))))
    kinds = [
        Choice(each, own(f"event.{each}", language, result="", left="", count="").strip())
        for each in sorted(TYPES - set(MARKS))
    ]
    found.append((own("mark.other", language), tuple(sorted(kinds, key=lambda one: one.text))))
    return tuple(found)
