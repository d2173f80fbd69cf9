"""The wire's words as text for people: hands and boxes, marks, commands, irregularities and
alerts.
"""

from __future__ import annotations

from typing import Any

from controller.contract.messages.messages import catalogue, text, word
from subscribers.table_view import Note


def who(name: str, language: str) -> str:
    """A hand, box, seat or bank: ``player``, ``box:3.2``."""
    kind, _, number = name.partition(":")
    if not number:
        return word("who", kind, language)
    key = f"who.{kind}_numbered"
    return text(key, language, number=number) if key in catalogue(language) else f"{kind} {number}"


def mark(name: str, language: str) -> str:
    """What else wins or loses in a round; at black jack with the number of the play, or with the
    box: ``box:3 pair_mixed``.
    """
    first, _, second = name.partition(" ")
    if not second:
        return word("mark", name, language)
    return (
        text("mark.play", language, number=second)
        if first == "play"
        else f"{who(first, language)}: {word('mark', second, language)}"
    )


def decision(name: str, count: int | None, language: str) -> str:
    """What a hand decides, and with how many cards."""
    found = word("decision", name, language)
    return found if count is None else f"{found} {count}"


def command(name: str, language: str) -> str:
    """What a person should do, and the command that reports it done."""
    found = catalogue(language).get(f"command.{name}")
    return f"{found} ({name})" if found else name


def note(about: Note, language: str) -> str:
    """What was irregular."""
    match about.kind:
        case "void":
            return text("note.void", language, reason=word("void_reason", about.what, language))
        case "unresolved":
            return text("note.unresolved", language, why=word("unresolved", about.what, language))
        case "corrected" if about.was:
            was, right = who(about.was, language), who(about.what, language)
            return text("note.corrected_result", language, was=was, right=right, person=about.by)
        case "corrected":
            return text("note.corrected_round", language, round=about.round, person=about.by)
        case _:
            return word("irregularity", about.what, language)


def alert(body: dict[str, Any], language: str) -> str:
    """What an alert is about; its device and detail stay as the daemon wrote them."""
    found = word("alert", str(body.get("what") or body.get("alert")), language)
    about = ", ".join(str(body[name]) for name in ("device", "detail") if body.get(name))
    seen = (
        text("display.seen_by", language, person=body["acknowledged_by"])
        if body.get("acknowledged_by")
        else ""
    )
    return found + (f" ({about})" if about else "") + (f", {seen}" if seen else "")
