"""Sealed cards: opened with surveillance's private key, on this machine alone, and only after it is
recorded who looks.

Nothing of what is in a box is logged, kept or put into an error: it is in what :func:`look`
returns and nowhere else.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from nacl.public import PrivateKey

from controller.confidential.boxes import (
    BadSignatureError,
    UnopenedBoxError,
    open_sealed,
    verified_signer,
)
from controller.confidential.key_file import read_key_file
from controller.contract.node import Checkpoint
from controller.contract.sealed import Opened, Sealed
from controller.contract.times import moment, utc
from controller.people.register import Person
from controller.proof.checkpoint import flaw
from devices.readings import CardDrawn
from subscribers.surveillance.archive import Archive, Query, Record, Row
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.findings import refused_keys

ROLE = "surveillance"
"""The role of a person who may see sealed cards."""
BESIDE = 60.0
"""Seconds before the first and after the last event of a round in which its boxes were heard."""
MOST = 4000
"""Boxes that are looked at for one round."""
CHECKPOINTS = 200
"""Checkpoints beside a round in which the key of a box is looked for."""

Signed = Literal["daemon", "unknown_key", "not_signed", "bad_signature", "unopened"]
"""Who made a box: anybody can seal for surveillance, but only the daemon can sign with its key."""


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Who wants to see cards, from where, and why."""

    person: str
    """The person's id."""
    name: str
    origin: str
    """Where the person is: the address of a browser, the terminal of a machine."""
    why: str


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the record of an access. No card is in it."""

    person: str
    name: str
    time: str
    origin: str
    why: str
    site: str
    table: str
    session: int
    round: int
    readings: tuple[int, ...]
    """The readings that were shown, by their numbers."""
    boxes: tuple[str, ...]
    """The names of the boxes in the archive."""


class Card(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was in one box."""

    signed: Signed
    key: str
    """The name of the box in the archive."""
    heard: str
    reading: int | None = None
    time: str = ""
    card: str | None = None
    """The card; None where the device could not read it, or where it is no card."""
    to: str | None = None
    """The hand to which the table put it."""
    index: int | None = None
    type: str = ""
    """What the reading is: ``card.drawn``."""
    body: str = ""
    """The reading itself, where it is no card."""


class Shown(msgspec.Struct, frozen=True):
    """What may be shown once it is recorded."""

    look: Look
    cards: tuple[Card, ...]


class NoCardsError(Exception):
    """Cards are not shown. The message says why, and never what is in a box."""


class _Spans:
    """Which events of each boot belong to a round."""

    def __init__(self, events: Iterable[Record]) -> None:
        self.of: dict[str, tuple[int, int]] = {}
        for each in events:
            first, last = self.of.get(each.boot, (each.seq, each.seq))
            self.of[each.boot] = min(first, each.seq), max(last, each.seq)

    def holds(self, opened: Opened) -> bool:
        """Whether what is in a box came between the event before the first one and the last."""
        if opened.boot not in self.of:
            return False
        first, last = self.of[opened.boot]
        return first - 1 <= opened.seq < last


def private_key(path: Path) -> PrivateKey:
    """Surveillance's key. Raises ``KeyFileError``."""
    return PrivateKey(read_key_file(path))


def may_see(person: Person) -> bool:
    """Whether a person's role lets them see sealed cards."""
    return ROLE in person.roles


def look(
    archive: Archive, events: Sequence[Row], key: PrivateKey, reason: Reason, now: float
) -> Shown:
    """The sealed cards of a round, of which these are the events. It is recorded in the archive
    before anything is returned. Raises :class:`NoCardsError`.
    """
    records = [row.record for row in events]
    if not records:
        raise NoCardsError("nothing is known of this round")
    try:
        cards = tuple(_opened(_boxes(archive, records), records, key, _keys(archive, records)))
        first = records[0]
        told = Look(
            person=reason.person,
            name=reason.name,
            time=utc(now),
            origin=reason.origin,
            why=reason.why,
            site=first.site,
            table=first.table,
            session=first.session,
            round=first.round,
            readings=tuple(each.reading for each in cards if each.reading is not None),
            boxes=tuple(each.key for each in cards),
        )
        if not archive.keep([recorded(told)]).new:
            raise NoCardsError("the archive did not keep the record of this look")
    except ArchiveError as error:
        raise NoCardsError(str(error)) from None
    return Shown(told, cards)


def recorded(told: Look) -> Record:
    """The record of an access."""
    return Record(
        site=told.site,
        kind="access",
        key=f"{told.time} {told.person} {secrets.token_hex(8)}",
        time=told.time,
        heard=told.time,
        body=msgspec.json.encode(told),
        table=told.table,
        session=told.session,
        round=told.round,
        type="cards.shown",
        words=tuple(dict.fromkeys((told.person, told.name))),
    )


def _boxes(archive: Archive, events: Sequence[Record]) -> Iterator[Record]:
    """The boxes of the table that were heard while the round was: what is sealed comes in the order
    in which it happened, between events, however late.
    """
    times = [moment(each) for record in events for each in (record.time, record.heard)]
    query = Query(
        sites=(events[0].site,),
        tables=(events[0].table,),
        kinds=("sealed",),
        since=utc(min(times) - BESIDE),
        until=utc(max(times) + BESIDE),
        limit=MOST + 1,
    )
    for count, row in enumerate(archive.find(query)):
        if count == MOST:
            raise NoCardsError(
                f"more than {MOST} boxes were heard while this round was; open them with "
                "novamas unseal"
            )
        yield row.record


def _keys(archive: Archive, events: Sequence[Record]) -> frozenset[str]:
    """The keys of the checkpoints that are in the archive for the site, nearest in time, without
    those that took another one's place and nobody has vouched for.
    """
    found = set()
    query = Query(sites=(events[0].site,), kinds=("checkpoint",), limit=CHECKPOINTS)
    before = msgspec.structs.replace(query, until=events[0].time, order="latest")
    after = msgspec.structs.replace(query, since=events[0].time)
    for each in (before, after):
        for row in archive.find(each):
            try:
                checkpoint = msgspec.json.decode(row.record.body, type=Checkpoint)
            except (ValueError, RecursionError):
                continue
            named = checkpoint.key
            if named is not None and flaw(checkpoint, frozenset({named})) is None:
                found.add(named.lower())
    return frozenset(found) - refused_keys(archive, events[0].site)


def _opened(
    boxes: Iterable[Record], events: Sequence[Record], key: PrivateKey, keys: frozenset[str]
) -> Iterator[Card]:
    """What is in the boxes of the round, and every box that this key does not open."""
    spans, mine = _Spans(events), list[tuple[Record, Opened]]()
    for box in boxes:
        try:
            opened = open_sealed(box.body, key)
        except UnopenedBoxError:
            yield Card(signed="unopened", key=box.key, heard=box.heard, reading=_number(box.body))
            continue
        if opened.table == box.table and spans.holds(opened):
            mine.append((box, opened))
    mine.sort(key=lambda each: (each[1].time, each[1].seq))
    dealt = [found for each in events if (found := _dealt(each)) is not None]
    for at, (box, opened) in enumerate(mine):
        reading = _reading(opened)
        following = mine[at + 1][1] if at + 1 < len(mine) else None
        place = None if reading is None else _place(opened, reading, following, dealt)
        yield Card(
            signed=_made_by(box.body, keys),
            key=box.key,
            heard=box.heard,
            reading=_number(box.body),
            time=opened.time,
            card=None if reading is None else reading.card,
            to=None if place is None else place.to,
            index=None if place is None else place.index,
            type=_type(opened),
            body="" if reading is not None else bytes(opened.body).decode(errors="replace"),
        )


def _place(
    opened: Opened, reading: CardDrawn, following: Opened | None, dealt: Sequence[_Dealt]
) -> _Dealt | None:
    """Where the table put a card: what it said of a card after this reading and before the next
    one. None where it put it nowhere.
    """
    for each in dealt:
        if each.boot == opened.boot and each.seq > opened.seq:
            before_next = following is None or (
                following.boot != opened.boot or each.seq <= following.seq
            )
            return each if before_next and each.card in (None, reading.card) else None
    return None


class _Dealt(msgspec.Struct, frozen=True):
    """The event of a card that went somewhere."""

    type: str
    boot: str
    seq: int
    to: str | None = None
    index: int | None = None
    card: str | None = None


class _Typed(msgspec.Struct, frozen=True):
    type: str = ""


def _dealt(event: Record) -> _Dealt | None:
    if event.type != "card.dealt":
        return None
    try:
        return msgspec.json.decode(event.body, type=_Dealt)
    except (ValueError, RecursionError):
        return None


def _number(body: bytes) -> int | None:
    try:
        return msgspec.json.decode(body, type=Sealed).reading
    except (ValueError, RecursionError):
        return None


def _made_by(body: bytes, keys: frozenset[str]) -> Signed:
    try:
        signer = verified_signer(body)
    except (BadSignatureError, UnopenedBoxError):
        return "bad_signature"
    if signer is None:
        return "not_signed"
    return "daemon" if signer in keys else "unknown_key"


def _reading(opened: Opened) -> CardDrawn | None:
    if _type(opened) != "card.drawn":
        return None
    try:
        return msgspec.json.decode(opened.body, type=CardDrawn)
    except (ValueError, RecursionError):
        return None


def _type(opened: Opened) -> str:
    try:
        return msgspec.json.decode(opened.body, type=_Typed).type
    except (ValueError, RecursionError):
        return ""
