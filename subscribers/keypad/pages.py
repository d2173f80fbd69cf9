"""The page of a keypad."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from common.contract.messages.messages import catalogue
from subscribers.console.pages import script_page
from subscribers.console.sessions import Session


class KeypadPage(msgspec.Struct, frozen=True):
    """Data for the page's script."""

    table: str
    language: str
    name: str
    token: str
    words: dict[str, str]


def keypad_page(table: str, session: Session, base: str) -> Response:
    """Return the keypad page of a table, for a signed-in person."""
    language = session.language
    words = {
        key: text
        for key, text in catalogue(language).items()
        if key.partition(".")[0] in ("keypad", "trouble")
    }
    data = KeypadPage(table, language, session.person.name, session.token, words)
    title = f"{words['keypad.title']} · {table}"
    style, script = "/keypad/static/keypad.css", "/keypad/static/keypad.js"
    return script_page(title, language, style, script, data, base)
