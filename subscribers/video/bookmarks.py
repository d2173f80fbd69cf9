"""Which events of a table become bookmarks in a video system, and with which words. Pure.

A bookmark is made of one public event and of nothing else, so a card that lies face down is not in
it: the topic ``event`` has a card from the moment it is face up. Sealed boxes are never read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache

import msgspec

from controller.contract import events
from controller.contract.event_fields import Event
from controller.contract.messages.messages import text, word
from controller.contract.outcomes import AnyOutcome, hands
from subscribers.cards import short
from subscribers.display.permanency import said
from subscribers.surveillance.archive import ArchiveRecord
from subscribers.words import who

DEFAULT = (
    "round.result", "round.void", "round.unresolved", "result.corrected", "irregularity",
    "alert.raised",
)  # fmt: skip
"""The types of events that become bookmarks where a configuration names none."""
EVENTS = (*DEFAULT, "round.opened", "bets.closed", "award.qualified")
"""Those that may."""
LETTERS = str.maketrans({"♣": "c", "♦": "d", "♥": "h", "♠": "s", "★": "*", "·": "-", "ñ": "n"})


class Bookmark(msgspec.Struct, frozen=True, kw_only=True):
    """What a video system is told of one event."""

    site: str
    table: str
    boot: str
    seq: int
    type: str
    time: str
    """When it happened: UTC, ISO 8601 with microseconds."""
    session: int
    round: int
    text: str
    """What happened, for a person."""
    simulated: bool
    historical: bool

    @property
    def id(self) -> str:
        """What makes it the same when it is sent again: site, table, boot and seq."""
        return f"{self.site}/{self.table}/{self.boot}/{self.seq}"


class _Envelope(msgspec.Struct, frozen=True):
    """What every event has; all that is read of one whose own fields are unknown here."""

    simulated: bool = False
    historical: bool = False


_envelope = msgspec.json.Decoder(_Envelope)


@cache
def _event() -> msgspec.json.Decoder[events.AnyEvent]:
    """Reads any event. Made when the first bookmark is: that takes a tenth of the recorder's start,
    and few recorders send bookmarks.
    """
    return msgspec.json.Decoder(events.AnyEvent)


def bookmark(record: ArchiveRecord, language: str) -> Bookmark | None:
    """The bookmark of a record; None: it becomes none. What this release cannot read in full is
    named by its type, never left out.
    """
    if record.kind != "event" or record.type not in EVENTS:
        return None
    try:
        event: Event | None = _event().decode(record.body)
    except (ValueError, RecursionError):
        event = None
    try:
        envelope = _envelope.decode(record.body)
    except (ValueError, RecursionError):
        envelope = _Envelope()
    told = record.type if event is None else _told(event, language)
    if record.round:
        told = f"{text('display.round', language, round=record.round)}: {told}"
    return Bookmark(
        site=record.site,
        table=record.table,
        boot=record.boot,
        seq=record.seq,
        type=record.type,
        time=record.time,
        session=record.session,
        round=record.round,
        text=f"{text('display.simulated', language)}: {told}" if envelope.simulated else told,
        simulated=envelope.simulated,
        historical=envelope.historical,
    )


def _told(event: Event, language: str) -> str:
    match event:
        case events.RoundOpened():
            return word("phase", "bets_open", language)
        case events.BetsClosed():
            return word("phase", "bets_closed", language)
        case events.RoundResult():
            return result(event.outcome, language)
        case events.ResultCorrected():
            corrected = text("display.result_corrected", language)
            return f"{corrected}: {result(event.outcome, language)}"
        case events.RoundVoid():
            reason = word("void_reason", event.reason, language)
            return _of(text("note.void", language, reason=reason), event.article)
        case events.RoundUnresolved():
            why = word("unresolved", event.why, language)
            return text("note.unresolved", language, why=why)
        case events.Irregularity():
            return _of(word("irregularity", event.what, language), event.article)
        case events.AlertRaised():
            return word("alert", event.what, language)
        case events.AwardQualified():
            award = word("award", event.award, language)
            cards = " ".join(map(short, event.cards))
            return f"{award}: {who(event.box, language)} {cards}".rstrip()
    return str(type(event).__struct_config__.tag)


def _of(told: str, article: str) -> str:
    return f"{told} ({article})" if article else told


def result(outcome: AnyOutcome, language: str) -> str:
    """What a round came to, with the cards that lie open."""
    told, lane = said(outcome, language)
    if lane != "none":
        told = f"{told} {word('colour', lane, language)}"
    shown = ", ".join(
        " ".join(
            part
            for part in (
                who(hand.who, language),
                " ".join(map(short, hand.cards)),
                "" if hand.points is None else f"({hand.points})",
            )
            if part
        )
        for hand in hands(outcome)
    )
    return " · ".join(part for part in (told, shown) if part)


def line(mark: Bookmark, *, late: bool) -> str:
    """A bookmark in one line, for systems that take text. What it begins with is the same in every
    language, so that a rule can be made of it: ``novamas round.void ruleta-1 session 2 round 17``.
    """
    return " ".join(
        [
            "novamas",
            mark.type,
            mark.table,
            f"session {mark.session}",
            f"round {mark.round}",
            mark.time,
            *(["late"] if late else []),
            clean(mark.text),
        ]
    )


def clean(told: str) -> str:
    """A text without control characters: in a line of text they would end it."""
    return "".join(each if each.isprintable() else " " for each in told)


def encoded(told: str, encoding: str) -> bytes:
    """A text in the encoding of a system. What it does not have is written in plain letters."""
    try:
        return told.encode(encoding)
    except UnicodeEncodeError:
        plain = unicodedata.normalize("NFKD", told.translate(LETTERS))
        return plain.encode("ascii", "ignore")


def body(mark: Bookmark, camera: str | None, *, late: bool) -> Mapping[str, object]:
    """A bookmark as a JSON object."""
    told = msgspec.structs.asdict(mark)
    return {"id": mark.id, **told, "late": late, **({} if camera is None else {"camera": camera})}
