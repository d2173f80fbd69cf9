"""The wire's words as text for people: hands and boxes, marks, commands, irregularities and
alerts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from common.contract.messages.messages import catalogue, text, word
from common.contract.retained import Alert
from subscribers.terminal.event_log import TableNote
from subscribers.words import decision as decision
from subscribers.words import mark as mark
from subscribers.words import who as who


def command(name: str, language: str) -> str:
    """Return a person's task, and the command that reports it done."""
    found = catalogue(language).get(f"command.{name}")
    return f"{found} ({name})" if found else name


def note(about: TableNote, language: str) -> str:
    """Return the text of a note."""
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


def alert(raised: Alert, language: str) -> str:
    """Return the text of an alert, with its device and detail as the daemon published them."""
    found = word("alert", raised.what, language)
    rounds = [text("display.round", language, round=number) for number in raised.rounds]
    about = ", ".join([*filter(None, (raised.device, raised.detail)), *rounds])
    acknowledged = (
        text("display.seen_by", language, person=raised.acknowledged_by)
        if raised.acknowledged_by
        else ""
    )
    return (
        found
        + (f" ({about})" if about else "")
        + (f", {acknowledged}" if acknowledged else "")
        + "".join(f"; {commands}" for commands in settled(raised.settled_by, language))
    )


def settled(by: Mapping[str, Sequence[str]], language: str) -> list[str]:
    """Return the commands that settle an alert, grouped by the roles that may give them."""
    together: dict[tuple[str, ...], list[str]] = {}
    for name, roles in by.items():
        together.setdefault(tuple(roles), []).append(command(name, language))
    return [
        f"{' · '.join(names)}: {', '.join(word('role', role, language) for role in roles)}"
        for roles, names in together.items()
    ]
