"""Reads the events of a linked table: those that concern its jackpot become facts, if they fit what
is authorised. It reads no clock and does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from common.contract.bounds import Word
from common.readings import MAX_EXACT_INTEGER
from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.facts import NotWon, PlayStaked, RoundVoided, Staked, Won
from subscribers.carrousel.intake_memory import (
    EventPosition,
    IntakeMemory,
    IntakeRules,
    TableFact,
)

JACKPOT_BETS = ("jackpot", "accumulated")
"""Bets on a meter: at poker, and at triple black jack."""
JACKPOT_AWARDS = ("jackpot", "carrousel")
"""Awards paid from a meter. Bonuses are not."""
MAX_REMEMBERED_ROUNDS = 64
"""Number of rounds with bets on the jackpot that are remembered."""
MAX_AMOUNT = 1_000_000_000_000
"""Highest amount in minor units, as in commands."""


RESTORED_EVENT_TYPE = "journal.restored"
"""First event of a run whose journal lacks the events directly before it."""
_HISTORICAL_FIELD = b',"historical":true'
_TIME_PATTERN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
Amount = Annotated[int, Meta(ge=0, le=MAX_AMOUNT)]


class EventHead(msgspec.Struct, frozen=True):
    """What every event has."""

    type: str
    boot: Word
    seq: Annotated[int, Meta(ge=1, le=MAX_EXACT_INTEGER)]
    time: str
    table: str


class _RoundEvent(msgspec.Struct, frozen=True):
    game: str
    decree: str
    time: str
    session: Annotated[int, Meta(ge=1)]
    round: Annotated[int, Meta(ge=1)]
    simulated: bool = False


class _BetEvent(_RoundEvent, frozen=True):
    who: Word = ""
    bet: str = ""
    withdrawn: bool = False
    amount: Amount | None = None
    by: str | None = None


class _AwardEvent(_RoundEvent, frozen=True):
    award: str = ""
    box: Word = ""
    hand: Word = ""
    cards: tuple[Word, ...] = ()
    share: tuple[Annotated[int, Meta(ge=1)], Annotated[int, Meta(ge=1)]] | None = None
    valid: bool = True
    time_bound: Annotated[float, Meta(ge=0)] | None = 0.0


class _PlayStakedEvent(_RoundEvent, frozen=True):
    amount: Amount = 0
    slots: Amount = 0


class _SessionEvent(msgspec.Struct, frozen=True):
    currency: str | None = None


class _RestoredEvent(msgspec.Struct, frozen=True):
    source: str = "backup"
    since: Word = "?"
    restored: Word = "?"


class _BetOrAwardName(msgspec.Struct, frozen=True):
    """The name of a bet or award, readable even if the rest of the event is not."""

    bet: str = ""
    award: str = ""


class NotAuthorisedError(ValueError):
    """An event does not fit what is authorised. The message says what and where."""


_head = msgspec.json.Decoder(EventHead)
_bet = msgspec.json.Decoder(_BetEvent)
_award = msgspec.json.Decoder(_AwardEvent)
_sum = msgspec.json.Decoder(_PlayStakedEvent)
_void = msgspec.json.Decoder(_RoundEvent)
_session = msgspec.json.Decoder(_SessionEvent)
_restored = msgspec.json.Decoder(_RestoredEvent)
_bet_or_award = msgspec.json.Decoder(_BetOrAwardName)


def read_head(body: bytes, table: str) -> EventHead:
    """Decode the head of an event of a table. Raises ``ValueError`` and ``RecursionError``."""
    head = _head.decode(body)
    if head.table != table:
        raise ValueError(f"it belongs to {head.table[:64]}")
    if not _TIME_PATTERN.fullmatch(head.time):
        raise ValueError(f"{head.time[:64]!r} is not a UTC time with microseconds")
    return head


def event_digest(body: bytes) -> str:
    """Return the digest of an event's content, which is the same when it is published late."""
    return blake2b(body.replace(_HISTORICAL_FIELD, b""), digest_size=16).hexdigest()


def describe_lost_history(at: EventPosition, body: bytes) -> str:
    """Describe what is missing before a run that was restored from a backup or taken over."""
    head, restored = _head.decode(body), _RestoredEvent()
    with suppress(ValueError, RecursionError):
        restored = _restored.decode(body)
    before = f"after {at.boot} {at.seq} its journal continues with {head.boot}"
    if restored.source == "other_daemon":
        return (
            f"{before}, which took the table over from the other daemon of its pair at "
            f"{restored.restored}: what that daemon published is not in it"
        )
    since = f"what the table published since {restored.since} is not in it"
    return f"{before}, which was restored from a backup: {since}"


def _stake(cause: Cause, body: bytes, rules: IntakeRules, memory: IntakeMemory) -> TableFact | None:
    if _bet_or_award.decode(body).bet not in JACKPOT_BETS:
        return None
    bet = _bet.decode(body)
    _check_authorised(bet, cause.table, rules, memory)
    amount = 0
    if not bet.withdrawn:
        if not bet.amount:
            raise NotAuthorisedError(f"a stake of {bet.amount or 'no amount'} at {bet.who}")
        amount = bet.amount
    if (bet.session, bet.round) not in memory.rounds:
        memory.rounds = [*memory.rounds, (bet.session, bet.round)][-MAX_REMEMBERED_ROUNDS:]
    return Staked(
        cause=cause,
        session=bet.session,
        round=bet.round,
        box=bet.who,
        amount=amount,
        coin=bet.by is None,
    )


def _award_fact(
    cause: Cause, body: bytes, rules: IntakeRules, memory: IntakeMemory
) -> TableFact | None:
    if _bet_or_award.decode(body).award not in JACKPOT_AWARDS:
        return None
    award = _award.decode(body)
    _check_authorised(award, cause.table, rules, memory)
    kind = Won if award.valid else NotWon
    fact = kind(
        cause=cause,
        session=award.session,
        round=award.round,
        box=award.box,
        hand=award.hand,
        cards=award.cards,
        share=award.share,
    )
    return replace(fact, time_bound=award.time_bound) if isinstance(fact, Won) else fact


def _play_staked(cause: Cause, body: bytes, rules: IntakeRules, memory: IntakeMemory) -> TableFact:
    event = _sum.decode(body)
    _check_authorised(event, cause.table, rules, memory)
    return PlayStaked(
        cause=cause,
        session=event.session,
        round=event.round,
        amount=event.amount,
        slots=event.slots,
    )


def _voided_round(
    cause: Cause, body: bytes, rules: IntakeRules, memory: IntakeMemory
) -> TableFact | None:
    void = _void.decode(body)
    if (void.session, void.round) not in memory.rounds:
        return None
    _check_authorised(void, cause.table, rules, memory)
    return RoundVoided(cause=cause, session=void.session, round=void.round)


def _session_opened(cause: Cause, body: bytes, rules: IntakeRules, memory: IntakeMemory) -> None:
    del cause, rules
    memory.currency = _session.decode(body).currency


def _check_authorised(
    event: _RoundEvent, table: str, rules: IntakeRules, memory: IntakeMemory
) -> None:
    """Check an event against the terms. Raises :class:`NotAuthorisedError`."""
    if table not in rules.tables:
        raise NotAuthorisedError("the table is not authorised")
    if event.decree != rules.decree:
        raise NotAuthorisedError(f"under {event.decree}; {rules.decree} is authorised")
    if event.game not in rules.games:
        raise NotAuthorisedError(f"of {event.game}; authorised: {', '.join(rules.games)}")
    if event.simulated != rules.simulated:
        kind = "of a simulated table" if event.simulated else "of a table that is not simulated"
        raise NotAuthorisedError(kind)
    currency = memory.currency
    if currency is not None and currency != rules.currency:
        raise NotAuthorisedError(f"in {currency}; the jackpot is in {rules.currency}")
    played = (event.session, event.round)
    if played <= memory.settled:
        raise NotAuthorisedError(
            f"of round {event.round} of session {event.session}, which had begun when persons "
            "settled a gap; they decide"
        )
    memory.last = max(memory.last, played)


_READERS: Mapping[str, Callable[[Cause, bytes, IntakeRules, IntakeMemory], TableFact | None]] = {
    "bet.placed": _stake,
    "award.qualified": _award_fact,
    "jackpot.staked": _play_staked,
    "round.void": _voided_round,
    "session.opened": _session_opened,
}


def fact_of(
    head: EventHead, body: bytes, rules: IntakeRules, memory: IntakeMemory
) -> TableFact | None:
    """Return the fact that an event is; None if it does not concern the jackpot. What later events
    depend on is set in ``memory``. Raises ``ValueError`` and ``RecursionError``; in particular
    :class:`NotAuthorisedError`.
    """
    reader = _READERS.get(head.type)
    if reader is None:
        return None
    return reader(Cause(head.time, head.table, head.boot, head.seq), body, rules, memory)
