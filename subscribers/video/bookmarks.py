"""Which table events become bookmarks in a video system, and with which text. Pure.

A bookmark is made from one public event and nothing else, so it never contains a face-down card:
the topic ``event`` publishes a card only when it is face up. Sealed boxes are never read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache

import msgspec

from common.contract import events
from common.contract.event_fields import Event
from common.contract.messages.messages import text, word
from common.contract.outcomes import AnyOutcome, hands
from subscribers.cards import short
from subscribers.display.permanency import outcome_text
from subscribers.surveillance.archive import ArchiveRecord
from subscribers.words import who

DEFAULT_EVENT_TYPES = (
    "round.result", "round.void", "round.unresolved", "result.corrected", "irregularity",
    "alert.raised",
)  # fmt: skip
"""Types of events that become bookmarks by default."""
BOOKMARK_EVENT_TYPES = (*DEFAULT_EVENT_TYPES, "round.opened", "bets.closed", "award.qualified")
"""Types of events that can become bookmarks."""
PLAIN_LETTERS = str.maketrans(
    {"♣": "c", "♦": "d", "♥": "h", "♠": "s", "★": "*", "·": "-", "ñ": "n"}
)


class Bookmark(msgspec.Struct, frozen=True, kw_only=True):
    """One event as sent to a video system."""

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
    """What happened, as text for a person."""
    simulated: bool
    historical: bool

    @property
    def id(self) -> str:
        """Id that stays the same when it is sent again: site, table, boot and seq."""
        return f"{self.site}/{self.table}/{self.boot}/{self.seq}"


class _BookmarkEnvelope(msgspec.Struct, frozen=True):
    """Fields common to all events; the only ones read if the event's type is unknown here."""

    simulated: bool = False
    historical: bool = False


_envelope = msgspec.json.Decoder(_BookmarkEnvelope)


@cache
def _event() -> msgspec.json.Decoder[events.AnyEvent]:
    """Return the decoder of all events. It is created with the first bookmark: that takes a tenth
    of the recorder's start-up time, and few recorders send bookmarks.
    """
    return msgspec.json.Decoder(events.AnyEvent)


def bookmark(record: ArchiveRecord, language: str) -> Bookmark | None:
    """Return the bookmark of a record, or None. An event that this release cannot decode is
    described by its type, never left out.
    """
    if record.kind != "event" or record.type not in BOOKMARK_EVENT_TYPES:
        return None
    try:
        event: Event | None = _event().decode(record.body)
    except (ValueError, RecursionError):
        event = None
    try:
        envelope = _envelope.decode(record.body)
    except (ValueError, RecursionError):
        envelope = _BookmarkEnvelope()
    description = record.type if event is None else _describe(event, language)
    if record.round:
        description = f"{text('display.round', language, round=record.round)}: {description}"
    return Bookmark(
        site=record.site,
        table=record.table,
        boot=record.boot,
        seq=record.seq,
        type=record.type,
        time=record.time,
        session=record.session,
        round=record.round,
        text=f"{text('display.simulated', language)}: {description}"
        if envelope.simulated
        else description,
        simulated=envelope.simulated,
        historical=envelope.historical,
    )


def _describe(event: Event, language: str) -> str:
    match event:
        case events.RoundOpened():
            return word("phase", "bets_open", language)
        case events.BetsClosed():
            return word("phase", "bets_closed", language)
        case events.RoundResult():
            return describe_result(event.outcome, language)
        case events.ResultCorrected():
            prefix = text("display.result_corrected", language)
            return f"{prefix}: {describe_result(event.outcome, language)}"
        case events.RoundVoid():
            reason = word("void_reason", event.reason, language)
            return _with_article(text("note.void", language, reason=reason), event.article)
        case events.RoundUnresolved():
            reason = word("unresolved", event.why, language)
            return text("note.unresolved", language, why=reason)
        case events.Irregularity():
            return _with_article(word("irregularity", event.what, language), event.article)
        case events.AlertRaised():
            return word("alert", event.what, language)
        case events.AwardQualified():
            award = word("award", event.award, language)
            cards = " ".join(map(short, event.cards))
            return f"{award}: {who(event.box, language)} {cards}".rstrip()
    return str(type(event).__struct_config__.tag)


def _with_article(description: str, article: str) -> str:
    return f"{description} ({article})" if article else description


def describe_result(outcome: AnyOutcome, language: str) -> str:
    """Describe the result of a round, with the face-up cards."""
    description, lane = outcome_text(outcome, language)
    if lane in ("red", "black"):  # zero has a lane and no colour
        description = f"{description} {word('colour', lane, language)}"
    cards = ", ".join(
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
    return " · ".join(part for part in (description, cards) if part)


def text_line(mark: Bookmark, *, late: bool) -> str:
    """Return a bookmark as one line of text. It begins with the same words in every language, so
    that rules can match it: ``novamas round.void ruleta-1 session 2 round 17``.
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


def clean(text_: str) -> str:
    """Replace control characters by spaces: they would end a line of text."""
    return "".join(character if character.isprintable() else " " for character in text_)


def encode_text(text_: str, encoding: str) -> bytes:
    """Encode a text for a video system. Characters that the encoding lacks become plain letters."""
    try:
        return text_.encode(encoding)
    except UnicodeEncodeError:
        plain = unicodedata.normalize("NFKD", text_.translate(PLAIN_LETTERS))
        return plain.encode("ascii", "ignore")


def json_body(mark: Bookmark, camera: str | None, *, late: bool) -> Mapping[str, object]:
    """Return a bookmark as a JSON object."""
    fields = msgspec.structs.asdict(mark)
    return {"id": mark.id, **fields, "late": late, **({} if camera is None else {"camera": camera})}
