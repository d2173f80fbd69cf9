"""Converts messages to archive records. Pure: no clock, no I/O.

Of a reply to any client's ``recall`` the events are stored, each as an event; any other reply is
stored itself. An unreadable message raises :class:`BadMessageError`.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from common.plain_errors import describe
from common.readings import MAX_EXACT_INTEGER
from subscribers.surveillance.archive import ArchiveRecord, Kind, event_key

TOPIC_FILTERS = (
    "+/event", "+/sealed", "+/alert/+", "+/info", "+/state", "+/reply/+", "jackpot/+/alert/+",
    "jackpot/+/reply/+", "node/+/checkpoint", "node/+/alert/+",
)  # fmt: skip
"""Subscriptions of a site, below its root."""
MAX_MESSAGE_BYTES = 4 << 20
"""Maximum size of a message. A daemon's messages are much smaller."""
MAX_WORD_LENGTH = 200
"""Maximum length of a search word, in characters."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_LEVEL = re.compile(r"[A-Za-z0-9_-]{1,64}")
Count = Annotated[int, Meta(ge=0, le=MAX_EXACT_INTEGER)]
Level = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}\Z")]


class BadMessageError(ValueError):
    """A message does not fit its topic. The error's message states why."""


class TopicPlace(NamedTuple):
    """Where a message was published: ``owner`` is the id of a table, a node or a jackpot."""

    kind: str
    owner: str
    leaf: str


class _EventFields(msgspec.Struct, frozen=True):
    type: Level
    boot: Level
    seq: Annotated[int, Meta(ge=1, le=MAX_EXACT_INTEGER)]
    table: Level
    time: str = ""
    session: Count = 0
    round: Count = 0
    law: Any = None
    article: Any = None
    what: Any = None
    why: Any = None
    reason: Any = None
    by: Any = None
    confirmed_by: Any = None
    name: Any = None
    person: Any = None
    device: Any = None
    alert: Any = None
    command: Any = None
    award: Any = None
    signed_by: Any = None
    frames: Any = None


class _AlertFields(msgspec.Struct, frozen=True):
    alert: str
    what: str
    raised: str = ""
    device: Any = None
    severity: Any = None
    acknowledged_by: Any = None


class _AboutFields(msgspec.Struct, frozen=True):
    devices: dict[str, Any] = {}


class _InfoFields(msgspec.Struct, frozen=True):
    table: Level
    boot: Level
    about: _AboutFields
    game: Any = None
    decree: Any = None


class _CheckpointFields(msgspec.Struct, frozen=True):
    journal: Level
    boot: Level
    position: Count
    hash: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    time: str = ""


class _ReplyFields(msgspec.Struct, frozen=True):
    ok: bool
    id: Any = None
    refusal: Any = None
    events: tuple[msgspec.Raw, ...] | None = None


class _SealedFields(msgspec.Struct, frozen=True):
    sealed: str
    reading: Any = None


_event = msgspec.json.Decoder(_EventFields)
_alert = msgspec.json.Decoder(_AlertFields)
_info = msgspec.json.Decoder(_InfoFields)
_checkpoint = msgspec.json.Decoder(_CheckpointFields)
_reply = msgspec.json.Decoder(_ReplyFields)
_sealed = msgspec.json.Decoder(_SealedFields)


def parse_topic(topic: str) -> TopicPlace | None:
    """Parse a topic below the root of the site; return None if it is not one of these."""
    kind, _, rest_ = topic.partition("/")
    if kind in ("node", "jackpot"):
        owner, _, leaf = rest_.partition("/")
    else:
        kind, owner, leaf = "table", kind, rest_
    return TopicPlace(kind, owner, leaf) if _LEVEL.fullmatch(owner) and leaf else None


def records(
    site: str, topic: str, body: bytes, received: str, open_alert: str = ""
) -> list[ArchiveRecord]:
    """Return the records of a message. ``topic``: below the root of the site; ``received``: now;
    ``open_alert``: the key of the current alert on this topic, if the message clears it. Raise
    :class:`BadMessageError`.
    """
    place = parse_topic(topic)
    if place is None:
        raise BadMessageError("its topic names no table, node or jackpot")
    if len(body) > MAX_MESSAGE_BYTES:
        raise BadMessageError(f"it has {len(body)} bytes; the maximum is {MAX_MESSAGE_BYTES}")
    try:
        if place.leaf == "event":
            return [event_record(site, body, received, place.owner)]
        if place.leaf == "sealed":
            return [_sealed_record(site, place, body, received)]
        if place.leaf == "info":
            return [_info_record(site, place, body, received)]
        if place.leaf == "checkpoint":
            return [_checkpoint_record(site, place, body, received)]
        if place.leaf.startswith("alert/"):
            return [_alert_record(site, place, body, received, open_alert)]
        if place.leaf.startswith("reply/"):
            return _reply_records(site, place, body, received)
    except BadMessageError:
        raise
    except (ValueError, RecursionError) as error:
        raise BadMessageError(describe(error)[:MAX_WORD_LENGTH]) from None
    raise BadMessageError(f"messages of {place.leaf[:64]} are not stored")


def event_record(site: str, body: bytes, received: str, table: str) -> ArchiveRecord:
    """Return the record of a table's event. Raise :class:`BadMessageError` or ``ValueError``."""
    fields = _event.decode(body)
    if fields.table != table:
        raise BadMessageError(f"it names table {fields.table}, but its topic is of {table}")
    signers = fields.signed_by if isinstance(fields.signed_by, list) else []
    frames = fields.frames if isinstance(fields.frames, list) else []
    article = fields.article.split(",") if isinstance(fields.article, str) else []
    return ArchiveRecord(
        site=site,
        kind="event",
        key=event_key(table, fields.boot, fields.seq),
        time=_time(fields.time, received),
        received=received,
        body=body,
        table=table,
        boot=fields.boot,
        seq=fields.seq,
        type=fields.type,
        session=fields.session,
        round=fields.round,
        words=_words(
            fields.law, fields.article, *article, fields.what, fields.why, fields.reason, fields.by,
            fields.confirmed_by, fields.name, fields.person, fields.device, fields.alert,
            fields.command, fields.award,
            *(value for signer in signers if isinstance(signer, dict) for value in signer.values()),
            *(signer.get("device") for signer in frames if isinstance(signer, dict)),
        ),
    )  # fmt: skip


def _sealed_record(site: str, place: TopicPlace, body: bytes, received: str) -> ArchiveRecord:
    fields = _sealed.decode(body)
    reading = fields.reading if isinstance(fields.reading, int) else None
    return _record(
        site,
        "sealed",
        f"{place.owner}:{_digest(body)}",
        place,
        received,
        received,
        body,
        words=() if reading is None else (f"reading:{reading}",),
    )


def _info_record(site: str, place: TopicPlace, body: bytes, received: str) -> ArchiveRecord:
    fields = _info.decode(body)
    if place.kind != "table" or fields.table != place.owner:
        raise BadMessageError(f"it names table {fields.table}, but its topic is of {place.owner}")
    key = f"{place.owner}:{fields.boot}:{_digest(body)}"
    words = _words(fields.game, fields.decree, *fields.about.devices)
    return _record(
        site,
        "info",
        key,
        place,
        received,
        received,
        body,
        boot=fields.boot,
        type="info",
        words=words,
    )


def _checkpoint_record(site: str, place: TopicPlace, body: bytes, received: str) -> ArchiveRecord:
    if place.kind != "node":
        raise BadMessageError("a checkpoint belongs to a node")
    fields = _checkpoint.decode(body)
    key = f"{place.owner}:{fields.journal}:{fields.position}:{fields.hash}"
    time = _time(fields.time, received)
    return _record(
        site,
        "checkpoint",
        key,
        place,
        time,
        received,
        body,
        boot=fields.boot,
        words=(fields.journal,),
    )


def _alert_record(
    site: str, place: TopicPlace, body: bytes, received: str, open_alert: str
) -> ArchiveRecord:
    if not body:
        key = f"{place.kind}:{place.owner}:{place.leaf}:{open_alert or received}:cleared"
        name = place.leaf.removeprefix("alert/")
        return _record(
            site, "alert", key, place, received, received, body, type=name, words=_words("cleared")
        )
    fields = _alert.decode(body)
    return _record(
        site,
        "alert",
        alert_key(place, body),
        place,
        _time(fields.raised, received),
        received,
        body,
        type=_clean(fields.what),
        words=_words(fields.alert, fields.device, fields.severity, fields.acknowledged_by),
    )


def alert_key(place: TopicPlace, body: bytes) -> str:
    """Return the key of a raised alert."""
    return f"{place.kind}:{place.owner}:{place.leaf}:{_digest(body)}"


def _reply_records(site: str, place: TopicPlace, body: bytes, received: str) -> list[ArchiveRecord]:
    fields = _reply.decode(body)
    if fields.events is not None:
        return [event_record(site, bytes(event), received, place.owner) for event in fields.events]
    unnamed = f":{received}" if fields.id is None else ""
    key = f"{place.kind}:{place.owner}:{place.leaf}:{_digest(body)}{unnamed}"
    why = fields.refusal.get("key") if isinstance(fields.refusal, dict) else None
    return [
        _record(
            site,
            "reply",
            key,
            place,
            received,
            received,
            body,
            type="followed" if fields.ok else "refused",
            words=_words(place.leaf.removeprefix("reply/"), why),
        )
    ]


def _record(
    site: str,
    kind: Kind,
    key: str,
    place: TopicPlace,
    time: str,
    received: str,
    body: bytes,
    **optional: Any,
) -> ArchiveRecord:
    if place.kind in ("node", "table"):
        optional[place.kind] = place.owner
    elif place.kind == "jackpot":
        optional["words"] = (*optional.get("words", ()), place.owner)
    return ArchiveRecord(
        site=site, kind=kind, key=key, time=time, received=received, body=body, **optional
    )


def _time(published: str, received: str) -> str:
    return published if _TIME.fullmatch(published) else received


def _words(*values: Any) -> tuple[str, ...]:
    """Return the texts among the values, without duplicates."""
    return tuple(
        dict.fromkeys(_clean(value) for value in values if isinstance(value, str) and value)
    )


def _clean(text: str) -> str:
    """Return text that any database accepts: limited in length, and without U+0000."""
    return text.strip()[:MAX_WORD_LENGTH].replace("\x00", "�")


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()
