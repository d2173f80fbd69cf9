"""Converts the events of one table, live and recalled, to facts: each once, in the table's order,
without gaps. It reads no clock and does no I/O.

A live event is accepted only if it is the next one. Any other event shows that some may be missing:
then the table is asked (``recall``) for everything after the last accepted event, until nothing
more arrives. Only a reply leads from one run of the daemon to the next, and only after the table
has shown that it still knows the last accepted event, since a replaced journal does not. A reply
does not lead to a run that was restored from a backup or taken over by the other daemon of a pair:
that journal lacks events published in between.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from common.contract.bounds import Word
from common.contract.times import format_utc, parse_utc
from common.readings import MAX_EXACT_INTEGER
from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.facts import CaughtUp, NotWon, PlayStaked, RoundVoided, Staked, Won

JACKPOT_BETS = ("jackpot", "accumulated")
"""Bets on a meter: at poker, and at triple black jack."""
JACKPOT_AWARDS = ("jackpot", "carrousel")
"""Awards paid from a meter. Bonuses are not."""
MAX_REMEMBERED_ROUNDS = 64
"""Number of rounds with bets on the jackpot that are remembered."""
MAX_REMEMBERED_DIGESTS = 2048
"""Number of events whose digest is remembered, to detect a second, different one."""
MAX_EVENTS_AHEAD = 1000
"""Maximum number of events that wait for earlier ones. Later ones are dropped, because the table's
reply to the recall contains them.
"""
MAX_REMEMBERED_BOOTS = 64
"""Number of ended daemon runs that are remembered; their late events are ignored."""
MAX_AMOUNT = 1_000_000_000_000
"""Highest amount in minor units, as in commands."""

RESTORED_EVENT_TYPE = "journal.restored"
"""First event of a run whose journal lacks the events directly before it."""
_HISTORICAL_FIELD = b',"historical":true'
_TIME_PATTERN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
Amount = Annotated[int, Meta(ge=0, le=MAX_AMOUNT)]

IntakeAlert = Literal["contradiction", "gap", "refused"]
"""``contradiction``: two events with one number differ, or the table does not know an event that it
published. ``gap``: events are missing and the table cannot supply them. ``refused``: an event does
not fit what is authorised.
"""


class EventPosition(msgspec.Struct, frozen=True):
    """Position of the last event accepted from a table, committed at ``time``. ``digest``: of its
    body; empty if it was never received, because the table was linked after it. ``seq`` 0: before
    the first event of that run.
    """

    boot: str
    seq: int
    time: str
    digest: str = ""


class RecallRequest(msgspec.Struct, frozen=True):
    """A recall to a table whose last accepted event is ``at``: everything from ``first`` of that
    run on, and all later runs.
    """

    at: EventPosition
    first: int
    """The number after ``at``; or that of ``at`` itself, to check whether the table
    still knows it.
    """
    time: str
    """When it was sent, on the controller's clock."""
    waiting: frozenset[tuple[str, int]]
    """Events that had arrived and waited for earlier ones."""


class IntakeMemory(msgspec.Struct):
    """Stored state of a table, saved together with the facts accepted until then."""

    at: EventPosition | None = None
    """None: no message of the table was received yet."""
    since: str | None = None
    """When the table was linked, if its run had no event yet: earlier events do not count. None
    after the first event.
    """
    boots: list[str] = []
    """Runs of the daemon before that of ``at``."""
    currency: str | None = None
    """Currency of the open session."""
    rounds: list[tuple[int, int]] = []
    """Latest sessions and rounds with bets on the jackpot."""
    last: tuple[int, int] = (0, 0)
    """Latest session and round with an accepted event."""
    settled: tuple[int, int] = (0, 0)
    """``last`` when persons settled a gap: no event of a round up to this one is accepted, since it
    is unknown which of them the persons have counted.
    """
    gap: str | None = None
    """Which events are missing and cannot be recalled; nothing is accepted until persons have
    settled it.
    """


class IntakeRules(msgspec.Struct, frozen=True, kw_only=True):
    """Rules from the terms in force."""

    tables: tuple[str, ...]
    games: tuple[str, ...]
    decree: str
    currency: str
    simulated: bool = False


class IntakeNotice(msgspec.Struct, frozen=True):
    """Something a person must know. The ledger is unchanged."""

    table: str
    alert: IntakeAlert
    detail: str


TableFact = Staked | PlayStaked | RoundVoided | Won | NotWon | CaughtUp


class IntakeResult(NamedTuple):
    """The result of a message. ``ask``: recall the events after ``at``."""

    facts: Sequence[TableFact] = ()
    notices: Sequence[IntakeNotice] = ()
    ask: bool = False


NOTHING = IntakeResult()


class _EventHead(msgspec.Struct, frozen=True):
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


_head = msgspec.json.Decoder(_EventHead)
_bet = msgspec.json.Decoder(_BetEvent)
_award = msgspec.json.Decoder(_AwardEvent)
_sum = msgspec.json.Decoder(_PlayStakedEvent)
_void = msgspec.json.Decoder(_RoundEvent)
_session = msgspec.json.Decoder(_SessionEvent)
_restored = msgspec.json.Decoder(_RestoredEvent)
_bet_or_award = msgspec.json.Decoder(_BetOrAwardName)


def event_digest(body: bytes) -> str:
    """Return the digest of an event's content, which is the same when it is published late."""
    return blake2b(body.replace(_HISTORICAL_FIELD, b""), digest_size=16).hexdigest()


def _describe_lost_history(at: EventPosition, body: bytes) -> str:
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


class TableIntake:
    """The intake of one table. ``rules`` may be replaced at any time; ``memory`` must be stored
    with the facts.
    """

    def __init__(self, table: str, rules: IntakeRules, memory: IntakeMemory | None = None) -> None:
        self.table, self.rules = table, rules
        self.memory = memory or IntakeMemory()
        self._must_prove = False
        """Whether the table must show that it knows the last accepted event."""
        self._proven: EventPosition | None = None
        """The last event that it has shown to know."""
        self._ahead: dict[tuple[str, int], bytes] = {}
        self._digests: OrderedDict[tuple[str, int], str] = OrderedDict()
        at = self.memory.at
        if at is not None and at.digest:
            self._digests[at.boot, at.seq] = at.digest

    def link(self, boot: str, seq: int, time: str, currency: str | None) -> bool:
        """Start at this event, which the table's retained state has reached at ``time``, if no
        message of the table was received before. Return whether it was linked now.
        """
        memory = self.memory
        if memory.at is not None:
            return False
        memory.at, memory.currency = EventPosition(boot, seq, time), currency
        memory.since = None if seq else time
        return True

    def restart(self, boot: str, seq: int, time: str) -> None:
        """Resume at the start of this daemon run, after persons have settled a gap. The table's
        retained state has reached ``seq`` in it.
        """
        memory = self.memory
        if memory.at is not None and memory.at.boot != boot:
            self._end_run(memory.at.boot)
        memory.at, memory.gap, memory.settled = EventPosition(boot, 0, time), None, memory.last
        memory.since = None if seq else time
        memory.boots = [other for other in memory.boots if other != boot]
        self._ahead.clear()

    def is_behind(self, boot: str, seq: int) -> bool:
        """Return whether the table has published an event that was not accepted yet."""
        at = self.memory.at
        if at is None or self.memory.gap is not None:
            return False
        return seq > (at.seq if boot == at.boot else 0)

    def next_recall(self, time: str) -> RecallRequest | None:
        """Return what to recall now (``time``: on the controller's clock); None if the table is not
        linked or has a gap.
        """
        memory = self.memory
        if memory.at is None or memory.gap is not None:
            return None
        first = memory.at.seq + (0 if self._must_prove and memory.at.seq else 1)
        return RecallRequest(memory.at, first, time, frozenset(self._ahead))

    def on_event(self, body: bytes) -> IntakeResult:
        """Handle a live event."""
        memory = self.memory
        try:
            head = self._read(body)
        except (ValueError, RecursionError) as error:
            return IntakeResult(notices=(self._notice("refused", f"a malformed event: {error}"),))
        at = memory.at
        if at is None or memory.gap is not None:
            return NOTHING
        if head.boot == at.boot:
            if head.seq == at.seq + 1:
                result = self._accept(head, body)
                return self._accept_waiting(result) if self._ahead else result
            if head.seq <= at.seq:
                return self._check_repeated(head, body)
        elif head.boot in memory.boots:
            return self._check_repeated(head, body)
        waiting = self._ahead.get((head.boot, head.seq))
        if waiting is not None and event_digest(waiting) != event_digest(body):
            del self._ahead[head.boot, head.seq]  # the table's reply will show which one is right
            return IntakeResult(notices=(self._contradiction(head),), ask=True)
        if len(self._ahead) < MAX_EVENTS_AHEAD:
            self._ahead[head.boot, head.seq] = body
        return IntakeResult(ask=True)

    def on_reply(
        self, events: Sequence[bytes], request: RecallRequest, bound: float
    ) -> IntakeResult:
        """Handle the reply to a recall. ``bound``: maximum difference in seconds between the
        clocks. ``ask`` in the result: there may be more events.
        """
        memory = self.memory
        if memory.at is None or memory.gap is not None:
            return NOTHING
        facts: Sequence[TableFact] = []
        notices: Sequence[IntakeNotice] = []
        for number, body in enumerate(events):
            try:
                head = self._read(body)
            except (ValueError, RecursionError) as error:
                notices = [*notices, self._open_gap(f"its reply has a malformed event: {error}")]
                break
            if number == 0 and request.first == request.at.seq:
                self._must_prove, self._proven = False, request.at
                if (mismatch := self._find_mismatch(head, body, request.at)) is not None:
                    notices = [*notices, mismatch]
                    break
            elif number == 0 and (head.boot, head.seq) != (request.at.boot, request.first):
                if memory.at != request.at:
                    return IntakeResult(ask=True)
                if memory.since is None and not request.at.seq:
                    gap = f"it does not know its run {request.at.boot}, which persons settled"
                    notices = [*notices, self._open_gap(gap)]
                    break
                if memory.since is None and self._proven != request.at:
                    self._must_prove = True
                    return IntakeResult(ask=True)
            result = self._on_recalled_event(head, body)
            facts, notices = [*facts, *result.facts], [*notices, *result.notices]
            if memory.gap is not None:
                break
        if memory.gap is not None:
            self._ahead.clear()
            return IntakeResult(facts, notices)
        facts, notices, _ = self._accept_waiting(IntakeResult(facts, notices))
        time = memory.at.time
        if not events:
            notices = [*notices, *self._report_unknown(request.waiting)]
            time = max(time, format_utc(parse_utc(request.time) - bound))
        caught_up = CaughtUp(table=self.table, time=time)
        return IntakeResult([*facts, caught_up], notices, ask=bool(events) or bool(self._ahead))

    def _on_recalled_event(self, head: _EventHead, body: bytes) -> IntakeResult:
        """Handle an event of a reply."""
        memory = self.memory
        assert memory.at is not None
        at = memory.at
        if (head.boot == at.boot and head.seq <= at.seq) or head.boot in memory.boots:
            return self._check_repeated(head, body)
        if memory.since is not None:
            if head.time <= memory.since:  # from before the table was linked
                memory.at = EventPosition(head.boot, head.seq, memory.since, event_digest(body))
                return NOTHING
            memory.since = None
        if head.boot != at.boot and head.seq == 1:
            if head.type == RESTORED_EVENT_TYPE:
                return IntakeResult(notices=(self._open_gap(_describe_lost_history(at, body)),))
            self._end_run(at.boot)
        elif (head.boot, head.seq) != (at.boot, at.seq + 1):
            gap = f"after {at.boot} {at.seq} its reply continues with {head.boot} {head.seq}"
            return IntakeResult(notices=(self._open_gap(gap),))
        self._ahead.pop((head.boot, head.seq), None)
        return self._accept(head, body)

    def _report_unknown(self, waiting: frozenset[tuple[str, int]]) -> list[IntakeNotice]:
        """Report events that arrived before the recall but are missing from the replies, although
        the table replied that there is nothing more.
        """
        assert self.memory.at is not None
        notices = []
        for boot, seq in sorted(waiting & self._ahead.keys()):
            if _head.decode(self._ahead.pop((boot, seq))).time > self.memory.at.time:
                detail = f"its event {boot} {seq} was received, but the table does not know it"
                notices.append(self._notice("contradiction", detail))
        return notices

    def _read(self, body: bytes) -> _EventHead:
        """Decode the head of an event. Raises ``ValueError``."""
        head = _head.decode(body)
        if head.table != self.table:
            raise ValueError(f"it belongs to {head.table[:64]}")
        if not _TIME_PATTERN.fullmatch(head.time):
            raise ValueError(f"{head.time[:64]!r} is not a UTC time with microseconds")
        return head

    # A single event

    def _accept(self, head: _EventHead, body: bytes) -> IntakeResult:
        digest, memory = event_digest(body), self.memory
        memory.at, memory.since = (
            EventPosition(head.boot, head.seq, head.time, digest),
            None,
        )
        self._digests[head.boot, head.seq] = digest
        if len(self._digests) > MAX_REMEMBERED_DIGESTS:
            self._digests.popitem(last=False)
        reader = self._READERS.get(head.type)
        if reader is None:
            return NOTHING
        try:
            fact = reader(self, Cause(head.time, self.table, head.boot, head.seq), body)
        except (ValueError, RecursionError) as error:
            return IntakeResult(
                notices=(self._notice("refused", f"{head.type} {head.boot} {head.seq}: {error}"),)
            )
        return NOTHING if fact is None else IntakeResult((fact,))

    def _staked(self, cause: Cause, body: bytes) -> TableFact | None:
        if _bet_or_award.decode(body).bet not in JACKPOT_BETS:
            return None
        bet = _bet.decode(body)
        self._check_authorised(bet)
        amount = 0
        if not bet.withdrawn:
            if not bet.amount:
                raise NotAuthorisedError(f"a stake of {bet.amount or 'no amount'} at {bet.who}")
            amount = bet.amount
        if (bet.session, bet.round) not in self.memory.rounds:
            self.memory.rounds = [*self.memory.rounds, (bet.session, bet.round)][
                -MAX_REMEMBERED_ROUNDS:
            ]
        return Staked(
            cause=cause,
            session=bet.session,
            round=bet.round,
            box=bet.who,
            amount=amount,
            coin=bet.by is None,
        )

    def _qualified(self, cause: Cause, body: bytes) -> TableFact | None:
        if _bet_or_award.decode(body).award not in JACKPOT_AWARDS:
            return None
        award = _award.decode(body)
        self._check_authorised(award)
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

    def _ended(self, cause: Cause, body: bytes) -> TableFact:
        event = _sum.decode(body)
        self._check_authorised(event)
        return PlayStaked(
            cause=cause,
            session=event.session,
            round=event.round,
            amount=event.amount,
            slots=event.slots,
        )

    def _voided(self, cause: Cause, body: bytes) -> TableFact | None:
        void = _void.decode(body)
        if (void.session, void.round) not in self.memory.rounds:
            return None
        self._check_authorised(void)
        return RoundVoided(cause=cause, session=void.session, round=void.round)

    def _opened(self, cause: Cause, body: bytes) -> None:  # noqa: ARG002 - as the others
        self.memory.currency = _session.decode(body).currency

    def _check_authorised(self, event: _RoundEvent) -> None:
        """Check an event against the terms. Raises :class:`NotAuthorisedError`."""
        rules = self.rules
        if self.table not in rules.tables:
            raise NotAuthorisedError("the table is not authorised")
        if event.decree != rules.decree:
            raise NotAuthorisedError(f"under {event.decree}; {rules.decree} is authorised")
        if event.game not in rules.games:
            raise NotAuthorisedError(f"of {event.game}; authorised: {', '.join(rules.games)}")
        if event.simulated != rules.simulated:
            kind = "of a simulated table" if event.simulated else "of a table that is not simulated"
            raise NotAuthorisedError(kind)
        currency = self.memory.currency
        if currency is not None and currency != rules.currency:
            raise NotAuthorisedError(f"in {currency}; the jackpot is in {rules.currency}")
        played, memory = (event.session, event.round), self.memory
        if played <= memory.settled:
            raise NotAuthorisedError(
                f"of round {event.round} of session {event.session}, which had begun when persons "
                "settled a gap; they decide"
            )
        memory.last = max(memory.last, played)

    # Order

    def _accept_waiting(self, result: IntakeResult) -> IntakeResult:
        """Add the events that waited for this result."""
        facts, notices = list(result.facts), list(result.notices)
        while (at := self.memory.at) is not None:
            body = self._ahead.pop((at.boot, at.seq + 1), None)
            if body is None:
                break
            next_result = self._accept(_head.decode(body), body)
            facts += next_result.facts
            notices += next_result.notices
        return IntakeResult(facts, notices, ask=bool(self._ahead))

    def _check_repeated(self, head: _EventHead, body: bytes) -> IntakeResult:
        """Handle an event that was accepted before."""
        first_digest = self._digests.get((head.boot, head.seq))
        if first_digest is None or first_digest == event_digest(body):
            return NOTHING
        return IntakeResult(notices=(self._contradiction(head),))

    def _contradiction(self, head: _EventHead) -> IntakeNotice:
        return self._notice(
            "contradiction",
            f"its event {head.boot} {head.seq} was received twice, and the second one "
            f"({head.type}) differs",
        )

    def _find_mismatch(
        self, head: _EventHead, body: bytes, expected: EventPosition
    ) -> IntakeNotice | None:
        """Return what is wrong with a reply that should begin with the last accepted event, or
        None.
        """
        if (head.boot, head.seq) != (expected.boot, expected.seq):
            return self._open_gap(
                f"its reply begins with {head.boot} {head.seq}, not with the last event "
                f"accepted, {expected.boot} {expected.seq}: its journal was replaced or restored, "
                "does not reach back that far, or is that of the other daemon of a pair"
            )
        if expected.digest and event_digest(body) != expected.digest:
            return self._open_gap(
                f"its event {expected.boot} {expected.seq} has changed: its journal was replaced "
                "or restored"
            )
        return None

    def _open_gap(self, missing: str) -> IntakeNotice:
        self.memory.gap = missing
        return self._notice("gap", missing)

    def _end_run(self, boot: str) -> None:
        self.memory.boots = [*self.memory.boots, boot][-MAX_REMEMBERED_BOOTS:]

    def _notice(self, alert: IntakeAlert, detail: str) -> IntakeNotice:
        return IntakeNotice(self.table, alert, detail[:512])

    _READERS: ClassVar[dict[str, Callable[[TableIntake, Cause, bytes], TableFact | None]]] = {
        "bet.placed": _staked,
        "award.qualified": _qualified,
        "jackpot.staked": _ended,
        "round.void": _voided,
        "session.opened": _opened,
    }
