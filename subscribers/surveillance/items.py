"""A record as text for a person: what happened, under which article, who published it, on what
evidence. No clock, no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from common.contract.event_fields import Frame
from common.contract.messages.messages import ENGLISH, catalogue, text, word
from common.contract.outcomes import AnyOutcome
from common.contract.refusals import Refusal
from subscribers.display.cards import card
from subscribers.display.permanency import outcome_text
from subscribers.surveillance.archive import ArchiveRecord, ArchiveRow, Kind
from subscribers.surveillance.words import room_text
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
"""How a timeline draws an item."""

EVENT_MARKS: Mapping[str, Mark] = {
    "round.result": "result",
    "round.void": "void",
    "round.unresolved": "unresolved",
    "result.corrected": "corrected",
    "irregularity": "irregularity",
    "alert.raised": "alert",
}
"""Marks of event types; the mark of all others is ``other``."""
KIND_MARKS: Mapping[Kind, Mark] = {"alert": "alert", "finding": "finding", "access": "access"}
MAX_DETAIL_LENGTH = 400
"""Maximum length of a detail in a list, in characters."""

_CARD = re.compile(r"[2-9TJQKA][cdhs]|X")
"""A card on the wire."""

Fields = Mapping[str, Any]


class EventSigner(msgspec.Struct, frozen=True):
    """A person who signed the command that led to the event."""

    id: str
    name: str
    role: str
    """The role's name in the language of the item."""


class ArchiveItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record as shown to a person."""

    number: int
    """Its number in the archive."""
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
    """The wire word of the irregularity, the reason or the alert."""
    detail: str = ""
    law: str = ""
    """The id of the rule."""
    article: str = ""
    """Where the rule is printed."""
    by: str = ""
    """The person it names as its author, with the role's name."""
    signed: tuple[EventSigner, ...] = ()
    """Who signed the command. Empty if a device caused it, or no signature was required."""
    frames: tuple[Frame, ...] = ()
    """Evidence of a wheel or of dice, as received."""
    readings: tuple[int, ...] = ()
    """Evidence of card games: the numbers of readings in the journal."""
    simulated: bool = False


def item(row: ArchiveRow, language: str) -> ArchiveItem:
    """Return a record as an item. An unreadable body gives an item without details."""
    record = row.record
    fields = fields_of(record.body)
    subject = _subject(record, fields)
    detail = _text(fields, "detail") or _text(fields, "note")
    readings = _converted(fields.get("readings"), tuple[int, ...])
    return ArchiveItem(
        number=row.number,
        site=record.site,
        kind=record.kind,
        mark=EVENT_MARKS.get(record.type, "other")
        if record.kind == "event"
        else KIND_MARKS.get(record.kind, "other"),
        type=record.type,
        time=record.time,
        title=_title(record, fields, subject, language),
        table=record.table,
        node=record.node,
        boot=record.boot,
        seq=record.seq,
        session=record.session,
        round=record.round,
        what=subject,
        detail=detail if len(detail) <= MAX_DETAIL_LENGTH else f"{detail[:MAX_DETAIL_LENGTH]} …",
        law=_text(fields, "law"),
        article=_text(fields, "article"),
        by=_by(fields, language),
        signed=_signed(fields, language),
        frames=_converted(fields.get("frames"), tuple[Frame, ...]) or (),
        readings=readings or (),
        simulated=fields.get("simulated") is True,
    )


def fields_of(body: bytes) -> Fields:
    """Return the fields of a body; empty if it is not a JSON object."""
    try:
        decoded = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _subject(record: ArchiveRecord, fields: Fields) -> str:
    if record.kind == "access":
        return ""
    for name in ("what", "reason", "why"):
        if found := _text(fields, name):
            return found
    return record.type if record.kind in ("alert", "finding") else ""


def _title(record: ArchiveRecord, fields: Fields, subject: str, language: str) -> str:
    match record.kind:
        case "event":
            return _event(record.type, fields, subject, language)
        case "alert":
            alert_text = word("alert", subject, language)
            return (
                alert_text if record.body else room_text("kind.cleared", language, alert=alert_text)
            )
        case "finding":
            return word("alert", f"surveillance.{subject}", language)
        case "reply":
            return _reply(fields, language)
        case _:
            return room_text(f"kind.{record.kind}", language, **_strings(fields))


def _event(type_: str, fields: Fields, subject: str, language: str) -> str:
    result = _result(fields, language)
    match type_:
        case "irregularity":
            return word("irregularity", subject, language)
        case "alert.raised":
            return word("alert", subject, language)
        case "round.void":
            return text("note.void", language, reason=word("void_reason", subject, language))
        case "round.unresolved":
            return text("note.unresolved", language, why=word("unresolved", subject, language))
        case _:
            return room_text(f"event.{type_}", language, **_worded(fields, language), result=result)


def _worded(fields: Fields, language: str) -> dict[str, str]:
    """Return the fields of an event, with wire words replaced by their texts."""
    texts = _strings(fields)
    name = texts.get("card")
    if name is None or _CARD.fullmatch(name):
        texts["card"] = card(name, language).label
    for name in ("who", "to"):
        if name in texts:
            texts[name] = who(texts[name], language)
    dice = fields.get("dice")
    texts["seen"] = (
        " + ".join(map(str, dice)) if isinstance(dice, list) else texts.get("number", "")
    )
    if "decision" in texts:
        count = fields.get("count")
        texts["decision"] = decision(
            texts["decision"], count if isinstance(count, int) else None, language
        )
    for name, group in (("duty", "role"), ("state", "link"), ("work", "work")):
        if name in texts:
            texts[name] = word(group, texts[name], language)
    return texts


def _reply(fields: Fields, language: str) -> str:
    if fields.get("ok") is True:
        return room_text("kind.reply", language)
    refusal = _converted(fields.get("refusal"), Refusal)
    try:
        why = _text(fields, "error") if refusal is None else refusal.message(language)
    except (KeyError, ValueError, IndexError):  # the text needs fields of a newer release
        why = _text(fields, "error")
    return room_text("kind.refused", language, why=why)


def _result(fields: Fields, language: str) -> str:
    outcome: AnyOutcome | None = _converted(fields.get("outcome"), AnyOutcome)
    return "" if outcome is None else outcome_text(outcome, language)[0]


def _by(fields: Fields, language: str) -> str:
    name = _text(fields, "by") or _text(fields, "confirmed_by") or _text(fields, "acknowledged_by")
    role = _text(fields, "role")
    return f"{name} ({word('role', role, language)})" if name and role else name


def _signed(fields: Fields, language: str) -> tuple[EventSigner, ...]:
    signers = fields.get("signed_by")
    return tuple(
        EventSigner(
            _text(signer, "id"),
            _text(signer, "name"),
            word("role", _text(signer, "role"), language),
        )
        for signer in (signers if isinstance(signers, list) else ())
        if isinstance(signer, dict)
    )


def _strings(fields: Fields) -> dict[str, str]:
    return {
        name: str(value)
        for name, value in fields.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _converted(value: Any, kind: Any) -> Any:
    """Convert a part of a body; return None if it does not fit."""
    try:
        return None if value is None else msgspec.convert(value, kind)
    except ValueError:
        return None


WORD_GROUPS = ("irregularity", "alert", "void_reason", "unresolved")
"""The groups of the catalogue with texts for wire words."""


def known_words() -> frozenset[str]:
    """Return every wire word that names what happened."""
    keys = (key.partition(".") for key in catalogue(ENGLISH))
    return frozenset(name for group, _, name in keys if group in WORD_GROUPS)
