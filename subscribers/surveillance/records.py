"""What a message is in the archive. Pure: no clock, no I/O.

Of an answer to somebody's ``recall`` the events are kept, each as itself; of any other answer the
answer. A message that cannot be read is told by :class:`BadMessageError`.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from devices.readings import MAX_EXACT_INTEGER
from subscribers.surveillance.archive import Kind, Record

LEAVES = (
    "+/event", "+/sealed", "+/alert/+", "+/info", "+/state", "+/reply/+", "jackpot/+/alert/+",
    "jackpot/+/reply/+", "node/+/checkpoint", "node/+/alert/+",
)  # fmt: skip
"""What a site's messages are listened to on, below its root."""
LARGEST = 4 << 20
"""The most bytes of a message. A daemon's are smaller by far."""
LONGEST = 200
"""The most characters of a word by which a record is found."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_LEVEL = re.compile(r"[A-Za-z0-9_-]{1,64}")
Count = Annotated[int, Meta(ge=0, le=MAX_EXACT_INTEGER)]
Level = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}\Z")]


class BadMessageError(ValueError):
    """A message is not what its topic says. The message of the error says why."""


class Place(NamedTuple):
    """Where a message was said: ``owner`` is the id of a table, a node or a jackpot."""

    of: str
    owner: str
    leaf: str


class _Event(msgspec.Struct, frozen=True):
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


class _Alert(msgspec.Struct, frozen=True):
    alert: str
    what: str
    raised: str = ""
    device: Any = None
    severity: Any = None
    acknowledged_by: Any = None


class _About(msgspec.Struct, frozen=True):
    devices: dict[str, Any] = {}


class _Info(msgspec.Struct, frozen=True):
    table: Level
    boot: Level
    about: _About
    game: Any = None
    decree: Any = None


class _Checkpoint(msgspec.Struct, frozen=True):
    journal: Level
    boot: Level
    position: Count
    hash: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    time: str = ""


class _Reply(msgspec.Struct, frozen=True):
    ok: bool
    id: Any = None
    refusal: Any = None
    events: tuple[msgspec.Raw, ...] | None = None


class _Sealed(msgspec.Struct, frozen=True):
    sealed: str
    reading: Any = None


_event = msgspec.json.Decoder(_Event)
_alert = msgspec.json.Decoder(_Alert)
_info = msgspec.json.Decoder(_Info)
_checkpoint = msgspec.json.Decoder(_Checkpoint)
_reply = msgspec.json.Decoder(_Reply)
_sealed = msgspec.json.Decoder(_Sealed)


def place_of(rest: str) -> Place | None:
    """The place of a topic, of which ``rest`` follows the root of the site; None: it is none of
    ours.
    """
    of, _, after = rest.partition("/")
    if of in ("node", "jackpot"):
        owner, _, leaf = after.partition("/")
    else:
        of, owner, leaf = "table", of, after
    return Place(of, owner, leaf) if _LEVEL.fullmatch(owner) and leaf else None


def records(site: str, rest: str, body: bytes, heard: str, standing: str = "") -> list[Record]:
    """What a message is. ``rest``: its topic below the root of the site; ``heard``: now;
    ``standing``: the key of the alert that stands on this topic, where the message ends it.
    Raises :class:`BadMessageError`.
    """
    place = place_of(rest)
    if place is None:
        raise BadMessageError("its topic has no table, node or jackpot")
    if len(body) > LARGEST:
        raise BadMessageError(f"it has {len(body)} bytes; the most is {LARGEST}")
    try:
        if place.leaf == "event":
            return [event(site, body, heard, place.owner)]
        if place.leaf == "sealed":
            return [_sealed_record(site, place, body, heard)]
        if place.leaf == "info":
            return [_info_record(site, place, body, heard)]
        if place.leaf == "checkpoint":
            return [_checkpoint_record(site, place, body, heard)]
        if place.leaf.startswith("alert/"):
            return [_alert_record(site, place, body, heard, standing)]
        if place.leaf.startswith("reply/"):
            return _reply_records(site, place, body, heard)
    except BadMessageError:
        raise
    except (ValueError, RecursionError) as error:
        raise BadMessageError(str(error)[:LONGEST]) from None
    raise BadMessageError(f"nothing is kept of {place.leaf[:64]}")


def event(site: str, body: bytes, heard: str, table: str) -> Record:
    """An event of a table. Raises :class:`BadMessageError` and ``ValueError``."""
    said = _event.decode(body)
    if said.table != table:
        raise BadMessageError(f"it is of table {said.table}, and came from {table}")
    signers = said.signed_by if isinstance(said.signed_by, list) else []
    frames = said.frames if isinstance(said.frames, list) else []
    article = said.article.split(",") if isinstance(said.article, str) else []
    return Record(
        site=site,
        kind="event",
        key=f"{table}:{said.boot}:{said.seq}",
        time=_time(said.time, heard),
        heard=heard,
        body=body,
        table=table,
        boot=said.boot,
        seq=said.seq,
        type=said.type,
        session=said.session,
        round=said.round,
        words=_words(
            said.law, said.article, *article, said.what, said.why, said.reason, said.by,
            said.confirmed_by, said.name, said.person, said.device, said.alert, said.command,
            said.award,
            *(value for each in signers if isinstance(each, dict) for value in each.values()),
            *(each.get("device") for each in frames if isinstance(each, dict)),
        ),
    )  # fmt: skip


def _sealed_record(site: str, place: Place, body: bytes, heard: str) -> Record:
    said = _sealed.decode(body)
    reading = said.reading if isinstance(said.reading, int) else None
    return _said(
        site,
        "sealed",
        f"{place.owner}:{_digest(body)}",
        place,
        heard,
        heard,
        body,
        words=() if reading is None else (f"reading:{reading}",),
    )


def _info_record(site: str, place: Place, body: bytes, heard: str) -> Record:
    said = _info.decode(body)
    if place.of != "table" or said.table != place.owner:
        raise BadMessageError(f"it is of table {said.table}, and came from {place.owner}")
    key = f"{place.owner}:{said.boot}:{_digest(body)}"
    words = _words(said.game, said.decree, *said.about.devices)
    return _said(
        site, "info", key, place, heard, heard, body, boot=said.boot, type="info", words=words
    )


def _checkpoint_record(site: str, place: Place, body: bytes, heard: str) -> Record:
    if place.of != "node":
        raise BadMessageError("a checkpoint is of a node")
    said = _checkpoint.decode(body)
    key = f"{place.owner}:{said.journal}:{said.position}:{said.hash}"
    time = _time(said.time, heard)
    return _said(
        site, "checkpoint", key, place, time, heard, body, boot=said.boot, words=(said.journal,)
    )


def _alert_record(site: str, place: Place, body: bytes, heard: str, standing: str) -> Record:
    if not body:
        key = f"{place.of}:{place.owner}:{place.leaf}:{standing or heard}:cleared"
        name = place.leaf.removeprefix("alert/")
        return _said(
            site, "alert", key, place, heard, heard, body, type=name, words=_words("cleared")
        )
    said = _alert.decode(body)
    return _said(
        site,
        "alert",
        alert_key(place, body),
        place,
        _time(said.raised, heard),
        heard,
        body,
        type=_clean(said.what),
        words=_words(said.alert, said.device, said.severity, said.acknowledged_by),
    )


def alert_key(place: Place, body: bytes) -> str:
    """The key of an alert that is raised."""
    return f"{place.of}:{place.owner}:{place.leaf}:{_digest(body)}"


def _reply_records(site: str, place: Place, body: bytes, heard: str) -> list[Record]:
    said = _reply.decode(body)
    if said.events is not None:
        return [event(site, bytes(each), heard, place.owner) for each in said.events]
    unnamed = f":{heard}" if said.id is None else ""
    key = f"{place.of}:{place.owner}:{place.leaf}:{_digest(body)}{unnamed}"
    why = said.refusal.get("key") if isinstance(said.refusal, dict) else None
    return [
        _said(
            site,
            "reply",
            key,
            place,
            heard,
            heard,
            body,
            type="followed" if said.ok else "refused",
            words=_words(place.leaf.removeprefix("reply/"), why),
        )
    ]


def _said(
    site: str,
    kind: Kind,
    key: str,
    place: Place,
    time: str,
    heard: str,
    body: bytes,
    **more: Any,
) -> Record:
    if place.of in ("node", "table"):
        more[place.of] = place.owner
    elif place.of == "jackpot":
        more["words"] = (*more.get("words", ()), place.owner)
    return Record(site=site, kind=kind, key=key, time=time, heard=heard, body=body, **more)


def _time(said: str, heard: str) -> str:
    return said if _TIME.fullmatch(said) else heard


def _words(*values: Any) -> tuple[str, ...]:
    """What is text of it, each once."""
    return tuple(dict.fromkeys(_clean(each) for each in values if isinstance(each, str) and each))


def _clean(text: str) -> str:
    """Text as any database takes it: not too long, and without the character 0."""
    return text.strip()[:LONGEST].replace("\x00", "�")


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()
