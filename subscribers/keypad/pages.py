"""The page of a keypad."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from controller.contract.messages.messages import catalogue
from subscribers.console.pages import frame
from subscribers.console.sessions import Session


class KeypadPage(msgspec.Struct, frozen=True):
    """What the script is told."""

    table: str
    language: str
    name: str
    token: str
    words: dict[str, str]


def keypad_page(table: str, session: Session, base: str) -> Response:
    """The keypad of a table, for a person who has signed in."""
    language = session.language
    words = {
        key: said
        for key, said in catalogue(language).items()
        if key.partition(".")[0] in ("keypad", "trouble")
    }
    told = KeypadPage(table, language, session.person.name, session.token, words)
    title = f"{words['keypad.title']} · {table}"
    style, script = "/keypad/static/keypad.css", "/keypad/static/keypad.js"
    return frame(title, language, style, script, told, base)
