"""Opens sealed cards with surveillance's private key, on this machine only, and only after the
access is recorded.

The content of a box is never logged, stored or put into an error: only :func:`disclose_cards`
returns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from nacl.public import PrivateKey

from common import randomness
from common.chain.checkpoint import signature_problem
from common.confidential.boxes import (
    BadSignatureError,
    UnopenedBoxError,
    open_sealed,
    verified_signer,
)
from common.confidential.key_file import read_key_file
from common.contract.node import Checkpoint
from common.contract.sealed import Opened, Sealed
from common.contract.times import format_utc, parse_utc
from common.people.register import Person
from common.readings import CardDrawn
from subscribers.surveillance.archive import ArchiveRecord, ArchiveRow, Query, RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.findings import refused_keys

REQUIRED_ROLE = "surveillance"
"""The role that permits seeing sealed cards."""
BOX_MARGIN_SECONDS = 60.0
"""Time before the first and after the last event of a round in which its boxes may have been
received.
"""
MAX_BOXES = 4000
"""Maximum number of boxes read for one round."""
MAX_CHECKPOINTS = 200
"""Number of checkpoints before and after a round that are searched for a box's key."""

SignatureStatus = Literal["daemon", "unknown_key", "not_signed", "bad_signature", "unopened"]
"""Who made a box: anyone can seal for surveillance, but only the daemon can sign with its key."""


class AccessReason(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks to see cards, from where, and why."""

    person: str
    """The person's id."""
    name: str
    origin: str
    """The address of a browser, or the terminal of a machine."""
    why: str


class CardAccess(msgspec.Struct, frozen=True, kw_only=True):
    """The body of an access record. It contains no card."""

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
    """The numbers of the readings that were shown."""
    boxes: tuple[str, ...]
    """The archive keys of the boxes."""


class DisclosedCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of one box."""

    signed: SignatureStatus
    key: str
    """The archive key of the box."""
    received: str = msgspec.field(name="heard")
    reading: int | None = None
    time: str = ""
    card: str | None = None
    """The card; None if the device could not read it, or if the reading is not a card."""
    to: str | None = None
    """The hand that the table dealt it to."""
    index: int | None = None
    type: str = ""
    """The type of the reading, such as ``card.drawn``."""
    body: str = ""
    """The reading itself, if it is not a card."""


class CardDisclosure(msgspec.Struct, frozen=True):
    """The disclosed cards, and the recorded access."""

    look: CardAccess
    cards: tuple[DisclosedCard, ...]


class NoCardsError(Exception):
    """The cards are not shown. The message states why, without any content of a box."""


class _RoundSpans:
    """The first and last event of a round, by boot."""

    def __init__(self, events: Iterable[ArchiveRecord]) -> None:
        self.spans: dict[str, tuple[int, int]] = {}
        for event in events:
            first, last = self.spans.get(event.boot, (event.seq, event.seq))
            self.spans[event.boot] = min(first, event.seq), max(last, event.seq)

    def holds(self, opened: Opened) -> bool:
        """Return True if a box was made between the event before the round's first one and its
        last.
        """
        if opened.boot not in self.spans:
            return False
        first, last = self.spans[opened.boot]
        return first - 1 <= opened.seq < last


def private_key(path: Path) -> PrivateKey:
    """Read surveillance's private key. Raise ``KeyFileError``."""
    return PrivateKey(read_key_file(path))


def may_see(person: Person) -> bool:
    """Return True if the person's roles permit seeing sealed cards."""
    return REQUIRED_ROLE in person.roles


def disclose_cards(
    archive: RecordArchive,
    events: Sequence[ArchiveRow],
    key: PrivateKey,
    reason: AccessReason,
    now: float,
) -> CardDisclosure:
    """Return the sealed cards of the round with these events. The access is recorded in the archive
    first. Raise :class:`NoCardsError`.
    """
    records = [row.record for row in events]
    if not records:
        raise NoCardsError("the archive has no events of this round")
    try:
        cards = tuple(_opened(_boxes(archive, records), records, key, _keys(archive, records)))
        first = records[0]
        access = CardAccess(
            person=reason.person,
            name=reason.name,
            time=format_utc(now),
            origin=reason.origin,
            why=reason.why,
            site=first.site,
            table=first.table,
            session=first.session,
            round=first.round,
            readings=tuple(card.reading for card in cards if card.reading is not None),
            boxes=tuple(card.key for card in cards),
        )
        if not archive.store([access_record(access)]).new:
            raise NoCardsError("the archive did not store the record of this access")
    except ArchiveError as error:
        raise NoCardsError(str(error)) from None
    return CardDisclosure(access, cards)


def access_record(access: CardAccess) -> ArchiveRecord:
    """Return the record of an access."""
    return ArchiveRecord(
        site=access.site,
        kind="access",
        key=f"{access.time} {access.person} {randomness.token_hex(8)}",
        time=access.time,
        received=access.time,
        body=msgspec.json.encode(access),
        table=access.table,
        session=access.session,
        round=access.round,
        type="cards.shown",
        words=tuple(dict.fromkeys((access.person, access.name))),
    )


def _boxes(archive: RecordArchive, events: Sequence[ArchiveRecord]) -> Iterator[ArchiveRecord]:
    """Yield the boxes that were received around the time of the round. Boxes arrive in the order in
    which they were made, between the events, but possibly late.
    """
    times = [parse_utc(time) for record in events for time in (record.time, record.received)]
    query = Query(
        sites=(events[0].site,),
        tables=(events[0].table,),
        kinds=("sealed",),
        since=format_utc(min(times) - BOX_MARGIN_SECONDS),
        until=format_utc(max(times) + BOX_MARGIN_SECONDS),
        limit=MAX_BOXES + 1,
    )
    for count, row in enumerate(archive.find(query)):
        if count == MAX_BOXES:
            raise NoCardsError(
                f"more than {MAX_BOXES} boxes were received during this round; open them with "
                "`novamas unseal`"
            )
        yield row.record


def _keys(archive: RecordArchive, events: Sequence[ArchiveRecord]) -> frozenset[str]:
    """Return the keys of the site's checkpoints nearest in time, without refused ones."""
    found = set()
    query = Query(sites=(events[0].site,), kinds=("checkpoint",), limit=MAX_CHECKPOINTS)
    before = msgspec.structs.replace(query, until=events[0].time, order="latest")
    after = msgspec.structs.replace(query, since=events[0].time)
    for nearby in (before, after):
        for row in archive.find(nearby):
            try:
                checkpoint = msgspec.json.decode(row.record.body, type=Checkpoint)
            except (ValueError, RecursionError):
                continue
            key = checkpoint.key
            if key is not None and signature_problem(checkpoint, frozenset({key})) is None:
                found.add(key.lower())
    return frozenset(found) - refused_keys(archive, events[0].site)


def _opened(
    boxes: Iterable[ArchiveRecord],
    events: Sequence[ArchiveRecord],
    key: PrivateKey,
    keys: frozenset[str],
) -> Iterator[DisclosedCard]:
    """Yield the content of the round's boxes, and every box that this key does not open."""
    spans, matching = _RoundSpans(events), list[tuple[ArchiveRecord, Opened]]()
    for box in boxes:
        try:
            opened = open_sealed(box.body, key)
        except UnopenedBoxError:
            yield DisclosedCard(
                signed="unopened", key=box.key, received=box.received, reading=_number(box.body)
            )
            continue
        if opened.table == box.table and spans.holds(opened):
            matching.append((box, opened))
    matching.sort(key=lambda pair: (pair[1].time, pair[1].seq))
    dealt = [card_dealt for event in events if (card_dealt := _dealt(event)) is not None]
    for index, (box, opened) in enumerate(matching):
        reading = _reading(opened)
        following = matching[index + 1][1] if index + 1 < len(matching) else None
        place = None if reading is None else _place(opened, reading, following, dealt)
        yield DisclosedCard(
            signed=_made_by(box.body, keys),
            key=box.key,
            received=box.received,
            reading=_number(box.body),
            time=opened.time,
            card=None if reading is None else reading.card,
            to=None if place is None else place.to,
            index=None if place is None else place.index,
            type=_type(opened),
            body="" if reading is not None else bytes(opened.body).decode(errors="replace"),
        )


def _place(
    opened: Opened, reading: CardDrawn, following: Opened | None, dealt: Sequence[_CardDealt]
) -> _CardDealt | None:
    """Return the event in which the table dealt a card: the one after this reading and before the
    next, if any.
    """
    for event in dealt:
        if event.boot == opened.boot and event.seq > opened.seq:
            before_next = following is None or (
                following.boot != opened.boot or event.seq <= following.seq
            )
            return event if before_next and event.card in (None, reading.card) else None
    return None


class _CardDealt(msgspec.Struct, frozen=True):
    """An event that a card was dealt to a hand."""

    type: str
    boot: str
    seq: int
    to: str | None = None
    index: int | None = None
    card: str | None = None


class _ReadingType(msgspec.Struct, frozen=True):
    type: str = ""


def _dealt(event: ArchiveRecord) -> _CardDealt | None:
    if event.type != "card.dealt":
        return None
    try:
        return msgspec.json.decode(event.body, type=_CardDealt)
    except (ValueError, RecursionError):
        return None


def _number(body: bytes) -> int | None:
    try:
        return msgspec.json.decode(body, type=Sealed).reading
    except (ValueError, RecursionError):
        return None


def _made_by(body: bytes, keys: frozenset[str]) -> SignatureStatus:
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
        return msgspec.json.decode(opened.body, type=_ReadingType).type
    except (ValueError, RecursionError):
        return ""
