"""What a record says, in words: what happened, by which article, who said it, on what evidence.
Without clock or I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from controller.contract.event_fields import Frame
from controller.contract.messages.messages import ENGLISH, catalogue, text, word
from controller.contract.outcomes import AnyOutcome
from controller.contract.refusals import Refusal
from subscribers.display.permanency import said
from subscribers.surveillance.archive import Kind, Record, Row
from subscribers.surveillance.words import own
from subscribers.words import decision, who

Mark = Literal[
    "result",
    "void",
    "unresolved",
    "corrected",
    "irregularity",
    "alert",
    "finding",
    "access",
    "other",
]
"""How a timeline draws it."""

MARKS: Mapping[str, Mark] = {
    "round.result": "result",
    "round.void": "void",
    "round.unresolved": "unresolved",
    "result.corrected": "corrected",
    "irregularity": "irregularity",
    "alert.raised": "alert",
}
"""The mark of each type of event that has one of its own."""
KINDS: Mapping[Kind, Mark] = {"alert": "alert", "finding": "finding", "access": "access"}
LONGEST = 400
"""Characters of a detail that are shown in a list."""

Fields = Mapping[str, Any]


class Signed(msgspec.Struct, frozen=True):
    """A person who signed the command that led to it."""

    id: str
    name: str
    role: str
    """In words."""


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One record, for a person."""

    number: int
    """Its place in the archive."""
    site: str
    kind: Kind
    mark: Mark
    type: str
    time: str
    title: str
    """What happened, in words."""
    table: str = ""
    node: str = ""
    boot: str = ""
    seq: int = 0
    session: int = 0
    round: int = 0
    what: str = ""
    """The word on the wire: the irregularity, the reason, the alert."""
    detail: str = ""
    law: str = ""
    """The id of the rule."""
    article: str = ""
    """Where the rule is printed."""
    by: str = ""
    """The person that it names as the one who said it, with the role in words."""
    signed: tuple[Signed, ...] = ()
    """Who signed it. Empty: a device said it, or nobody had to sign."""
    frames: tuple[Frame, ...] = ()
    """The evidence of a wheel or of dice, as received."""
    readings: tuple[int, ...] = ()
    """The evidence where cards are dealt: readings in the journal, by their numbers."""
    simulated: bool = False


def item(row: Row, language: str) -> Item:
    """What a record says. A body that cannot be read is shown as what it is: unreadable."""
    record = row.record
    fields = fields_of(record.body)
    what = _what(record, fields)
    detail = _text(fields, "detail") or _text(fields, "note")
    readings = _converted(fields.get("readings"), tuple[int, ...])
    return Item(
        number=row.number,
        site=record.site,
        kind=record.kind,
        mark=MARKS.get(record.type, "other")
        if record.kind == "event"
        else KINDS.get(record.kind, "other"),
        type=record.type,
        time=record.time,
        title=_title(record, fields, what, language),
        table=record.table,
        node=record.node,
        boot=record.boot,
        seq=record.seq,
        session=record.session,
        round=record.round,
        what=what,
        detail=detail if len(detail) <= LONGEST else f"{detail[:LONGEST]} …",
        law=_text(fields, "law"),
        article=_text(fields, "article"),
        by=_by(fields, language),
        signed=_signed(fields, language),
        frames=_converted(fields.get("frames"), tuple[Frame, ...]) or (),
        readings=readings or (),
        simulated=fields.get("simulated") is True,
    )


def fields_of(body: bytes) -> Fields:
    """The fields of a body; none of one that is no JSON object."""
    try:
        found = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _what(record: Record, fields: Fields) -> str:
    if record.kind == "access":
        return ""
    for name in ("what", "reason", "why"):
        if found := _text(fields, name):
            return found
    return record.type if record.kind in ("alert", "finding") else ""


def _title(record: Record, fields: Fields, what: str, language: str) -> str:
    match record.kind:
        case "event":
            return _event(record.type, fields, what, language)
        case "alert":
            told = word("alert", what, language)
            return told if record.body else own("kind.cleared", language, alert=told)
        case "finding":
            return word("alert", f"surveillance.{what}", language)
        case "reply":
            return _reply(fields, language)
        case _:
            return own(f"kind.{record.kind}", language, **_strings(fields))


def _event(kind: str, fields: Fields, what: str, language: str) -> str:
    result = _result(fields, language)
    match kind:
        case "irregularity":
            return word("irregularity", what, language)
        case "alert.raised":
            return word("alert", what, language)
        case "round.void":
            return text("note.void", language, reason=word("void_reason", what, language))
        case "round.unresolved":
            return text("note.unresolved", language, why=word("unresolved", what, language))
        case _:
            return own(f"event.{kind}", language, **_worded(fields, language), result=result)


def _worded(fields: Fields, language: str) -> dict[str, str]:
    """The fields of an event, those with words of the wire in words."""
    found = _strings(fields)
    found.setdefault("card", own("page.face_down", language))
    for name in ("who", "to"):
        if name in found:
            found[name] = who(found[name], language)
    if "decision" in found:
        count = fields.get("count")
        found["decision"] = decision(
            found["decision"], count if isinstance(count, int) else None, language
        )
    for name, group in (("duty", "role"), ("state", "link"), ("work", "work")):
        if name in found:
            found[name] = word(group, found[name], language)
    return found


def _reply(fields: Fields, language: str) -> str:
    if fields.get("ok") is True:
        return own("kind.reply", language)
    refusal = _converted(fields.get("refusal"), Refusal)
    try:
        why = _text(fields, "error") if refusal is None else refusal.told(language)
    except (KeyError, ValueError, IndexError):  # the text of a newer release
        why = _text(fields, "error")
    return own("kind.refused", language, why=why)


def _result(fields: Fields, language: str) -> str:
    outcome: AnyOutcome | None = _converted(fields.get("outcome"), AnyOutcome)
    return "" if outcome is None else said(outcome, language)[0]


def _by(fields: Fields, language: str) -> str:
    name = _text(fields, "by") or _text(fields, "confirmed_by") or _text(fields, "acknowledged_by")
    role = _text(fields, "role")
    return f"{name} ({word('role', role, language)})" if name and role else name


def _signed(fields: Fields, language: str) -> tuple[Signed, ...]:
    found = fields.get("signed_by")
    return tuple(
        Signed(_text(each, "id"), _text(each, "name"), word("role", _text(each, "role"), language))
        for each in (found if isinstance(found, list) else ())
        if isinstance(each, dict)
    )


def _strings(fields: Fields) -> dict[str, str]:
    return {
        name: str(value)
        for name, value in fields.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }


def _text(fields: Fields, name: str) -> str:
    found = fields.get(name)
    return found if isinstance(found, str) else ""


def _converted(found: Any, kind: Any) -> Any:
    """A part of a body as what it should be; None if it is not."""
    try:
        return None if found is None else msgspec.convert(found, kind)
    except ValueError:
        return None


GROUPS = ("irregularity", "alert", "void_reason", "unresolved")
"""The groups of the catalogue that say what happened."""


def known_words() -> frozenset[str]:
    """Every word on the wire that says what happened."""
    found = (key.partition(".") for key in catalogue(ENGLISH))
    return frozenset(name for group, _, name in found if group in GROUPS)
