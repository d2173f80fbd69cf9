"""The events of one table, live and recalled, as facts: each once, in the table's order, without
gaps. It asks no clock and does no I/O.

A live event is taken only if it is the next one. Whatever else comes shows that something may be
missing: then the table is asked (``recall``) for what follows the last event taken, until nothing
more comes. Only an answer leads from one run of the daemon to the next, and only after the table
has shown that it still knows the last event taken: a journal that was replaced does not. Nor does
it lead to a run that goes on from a backup, or from the other daemon of a pair: what that one told
in between is not in this journal.
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

from controller.contract.bounds import Word
from controller.contract.times import moment, utc
from devices.readings import MAX_EXACT_INTEGER
from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.facts import CaughtUp, NotWon, PlayStaked, RoundVoided, Staked, Won

JACKPOT_BETS = ("jackpot", "accumulated")
"""The bets on a meter: of poker, and of triple black jack."""
JACKPOT_AWARDS = ("jackpot", "carrousel")
"""The awards that a meter pays. A bonus is not among them."""
MAX_REMEMBERED_ROUNDS = 64
"""Rounds of which is remembered that there were bets on the jackpot in them."""
MAX_REMEMBERED_DIGESTS = 2048
"""Events of which is remembered what they said, so that a second one that says something else is
told.
"""
MAX_EVENTS_AHEAD = 1000
"""Events that wait for those before them; later ones come with the answer of the table."""
MAX_REMEMBERED_BOOTS = 64
"""Runs of the daemon that are over, whose late events mean nothing new."""
MAX_AMOUNT = 1_000_000_000_000
"""Minor units of one amount: as in commands."""

RESTORED_EVENT_TYPE = "journal.restored"
"""The first event of a run that does not know what the table told directly before it."""
_HISTORICAL_FIELD = b',"historical":true'
_TIME_PATTERN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
Amount = Annotated[int, Meta(ge=0, le=MAX_AMOUNT)]

IntakeAlert = Literal["contradiction", "gap", "refused"]
"""``contradiction``: two events with one number say different things, or the table does not know
what it told. ``gap``: events are missing, and the table cannot tell them. ``refused``: an event
does not fit what is authorised.
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
    """A question to a table whose last event taken is ``at``: what it told from ``first`` of that
    run on, and in every later one.
    """

    at: EventPosition
    first: int
    """The one after ``at``; or ``at`` itself, to see whether the table still knows it."""
    time: str
    """When it was asked, on the controller's clock."""
    waiting: frozenset[tuple[str, int]]
    """The events that had come and waited for those before them."""


class IntakeMemory(msgspec.Struct):
    """What is kept of a table, together with the facts taken until then."""

    at: EventPosition | None = None
    """None: the table was never heard."""
    since: str | None = None
    """The table was linked then, in a run that had told nothing yet: what it tells of earlier times
    does not count. None: that is over.
    """
    boots: list[str] = []
    """Runs of the daemon before that of ``at``."""
    currency: str | None = None
    """As the open session has it."""
    rounds: list[tuple[int, int]] = []
    """The latest sessions and rounds in which there were bets on the jackpot."""
    last: tuple[int, int] = (0, 0)
    """The latest session and round of which anything was taken."""
    settled: tuple[int, int] = (0, 0)
    """The same when persons settled what was missing: of rounds until then nothing more is taken,
    for nobody can tell what of it they have counted.
    """
    gap: str | None = None
    """What is missing and cannot be told; nothing is taken until persons have settled it."""


class IntakeRules(msgspec.Struct, frozen=True, kw_only=True):
    """What the terms in force allow."""

    tables: tuple[str, ...]
    games: tuple[str, ...]
    decree: str
    currency: str
    simulated: bool = False


class IntakeNotice(msgspec.Struct, frozen=True):
    """What a person must know. The ledger is as before."""

    table: str
    alert: IntakeAlert
    detail: str


TableFact = Staked | PlayStaked | RoundVoided | Won | NotWon | CaughtUp


class IntakeResult(NamedTuple):
    """What a message led to. ``ask``: the table must be asked what comes after ``at``."""

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
    """What a bet or award is of, however wrong the rest is."""

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
    """What an event says, without whether it is told late."""
    return blake2b(body.replace(_HISTORICAL_FIELD, b""), digest_size=16).hexdigest()


def _describe_lost_history(at: EventPosition, body: bytes) -> str:
    """What is missing before a run that goes on from a backup or from another daemon."""
    head, told = _head.decode(body), _RestoredEvent()
    with suppress(ValueError, RecursionError):
        told = _restored.decode(body)
    before = f"after {at.boot} {at.seq} its journal goes on with {head.boot}"
    if told.source == "other_daemon":
        return (
            f"{before}, which took the table over from the other daemon of its pair at "
            f"{told.restored}: what that one told is not in it"
        )
    since = f"what the table told since {told.since} is not in it"
    return f"{before}, which goes on from a backup: {since}"


class TableIntake:
    """One table. ``rules`` may be replaced at any time; ``memory`` is what must be kept with the
    facts.
    """

    def __init__(self, table: str, rules: IntakeRules, memory: IntakeMemory | None = None) -> None:
        self.table, self.rules = table, rules
        self.memory = memory or IntakeMemory()
        self._doubted = False
        """Whether the table must show that it knows the last event taken."""
        self._shown: EventPosition | None = None
        """The last event that it has shown to know."""
        self._ahead: dict[tuple[str, int], bytes] = {}
        self._digests: OrderedDict[tuple[str, int], str] = OrderedDict()
        at = self.memory.at
        if at is not None and at.digest:
            self._digests[at.boot, at.seq] = at.digest

    def link(self, boot: str, seq: int, time: str, currency: str | None) -> bool:
        """The table's retained state has reached this event at ``time``: if the table was never
        heard before, it counts from the next one on. Returns whether that is so.
        """
        memory = self.memory
        if memory.at is not None:
            return False
        memory.at, memory.currency = EventPosition(boot, seq, time), currency
        memory.since = None if seq else time
        return True

    def restart(self, boot: str, seq: int, time: str) -> None:
        """Persons have settled what is missing: go on where this run of the daemon begins. The
        table's retained state has reached ``seq`` in it.
        """
        memory = self.memory
        if memory.at is not None and memory.at.boot != boot:
            self._pass(memory.at.boot)
        memory.at, memory.gap, memory.settled = EventPosition(boot, 0, time), None, memory.last
        memory.since = None if seq else time
        memory.boots = [each for each in memory.boots if each != boot]
        self._ahead.clear()

    def is_behind(self, boot: str, seq: int) -> bool:
        """Whether the table has reached an event that is not here yet."""
        at = self.memory.at
        if at is None or self.memory.gap is not None:
            return False
        return seq > (at.seq if boot == at.boot else 0)

    def next_recall(self, time: str) -> RecallRequest | None:
        """What to ask the table now (``time``: on our clock); None: it is not heard, or what it
        tells is not taken.
        """
        memory = self.memory
        if memory.at is None or memory.gap is not None:
            return None
        first = memory.at.seq + (0 if self._doubted and memory.at.seq else 1)
        return RecallRequest(memory.at, first, time, frozenset(self._ahead))

    def on_event(self, body: bytes) -> IntakeResult:
        """An event as it came from the broker."""
        memory = self.memory
        try:
            head = self._read(body)
        except (ValueError, RecursionError) as error:
            return IntakeResult(
                notices=(self._notice("refused", f"an event that is none: {error}"),)
            )
        at = memory.at
        if at is None or memory.gap is not None:
            return NOTHING
        if head.boot == at.boot:
            if head.seq == at.seq + 1:
                got = self._take(head, body)
                return self._follow(got) if self._ahead else got
            if head.seq <= at.seq:
                return self._again(head, body)
        elif head.boot in memory.boots:
            return self._again(head, body)
        held = self._ahead.get((head.boot, head.seq))
        if held is not None and event_digest(held) != event_digest(body):
            del self._ahead[head.boot, head.seq]  # only the table knows which one is true
            return IntakeResult(notices=(self._contradiction(head),), ask=True)
        if len(self._ahead) < MAX_EVENTS_AHEAD:
            self._ahead[head.boot, head.seq] = body
        return IntakeResult(ask=True)

    def on_reply(self, events: Sequence[bytes], asked: RecallRequest, bound: float) -> IntakeResult:
        """The table's answer to ``asked``. ``bound``: the seconds by which the clocks may differ.
        ``ask`` in what comes of it: there may be more.
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
                notices = [*notices, self._gap(f"its answer has an event that is none: {error}")]
                break
            if number == 0 and asked.first == asked.at.seq:
                self._doubted, self._shown = False, asked.at
                if (wrong := self._disowned(head, body, asked.at)) is not None:
                    notices = [*notices, wrong]
                    break
            elif number == 0 and (head.boot, head.seq) != (asked.at.boot, asked.first):
                if memory.at != asked.at:
                    return IntakeResult(ask=True)
                if memory.since is None and not asked.at.seq:
                    what = f"it does not know of its run {asked.at.boot}, which persons settled"
                    notices = [*notices, self._gap(what)]
                    break
                if memory.since is None and self._shown != asked.at:
                    self._doubted = True
                    return IntakeResult(ask=True)
            got = self._told_again(head, body)
            facts, notices = [*facts, *got.facts], [*notices, *got.notices]
            if memory.gap is not None:
                break
        if memory.gap is not None:
            self._ahead.clear()
            return IntakeResult(facts, notices)
        facts, notices, _ = self._follow(IntakeResult(facts, notices))
        time = memory.at.time
        if not events:
            notices = [*notices, *self._unknown(asked.waiting)]
            time = max(time, utc(moment(asked.time) - bound))
        heard = CaughtUp(table=self.table, time=time)
        return IntakeResult([*facts, heard], notices, ask=bool(events) or bool(self._ahead))

    def _told_again(self, head: _EventHead, body: bytes) -> IntakeResult:
        """An event of an answer."""
        memory = self.memory
        assert memory.at is not None
        at = memory.at
        if (head.boot == at.boot and head.seq <= at.seq) or head.boot in memory.boots:
            return self._again(head, body)
        if memory.since is not None:
            if head.time <= memory.since:  # of before the table was linked
                memory.at = EventPosition(head.boot, head.seq, memory.since, event_digest(body))
                return NOTHING
            memory.since = None
        if head.boot != at.boot and head.seq == 1:
            if head.type == RESTORED_EVENT_TYPE:
                return IntakeResult(notices=(self._gap(_describe_lost_history(at, body)),))
            self._pass(at.boot)
        elif (head.boot, head.seq) != (at.boot, at.seq + 1):
            what = f"after {at.boot} {at.seq} its answer goes on with {head.boot} {head.seq}"
            return IntakeResult(notices=(self._gap(what),))
        self._ahead.pop((head.boot, head.seq), None)
        return self._take(head, body)

    def _unknown(self, waiting: frozenset[tuple[str, int]]) -> list[IntakeNotice]:
        """The table said that there is nothing more: what had come before it was asked, and is not
        in its answers, it never told, or long ago.
        """
        assert self.memory.at is not None
        notices = []
        for boot, seq in sorted(waiting & self._ahead.keys()):
            if _head.decode(self._ahead.pop((boot, seq))).time > self.memory.at.time:
                what = f"its event {boot} {seq} came, and it does not know of it"
                notices.append(self._notice("contradiction", what))
        return notices

    def _read(self, body: bytes) -> _EventHead:
        """Raises ``ValueError``."""
        head = _head.decode(body)
        if head.table != self.table:
            raise ValueError(f"it is of {head.table[:64]}")
        if not _TIME_PATTERN.fullmatch(head.time):
            raise ValueError(f"{head.time[:64]!r} is no time in UTC with microseconds")
        return head

    # One event

    def _take(self, head: _EventHead, body: bytes) -> IntakeResult:
        """The next event."""
        told, memory = event_digest(body), self.memory
        memory.at, memory.since = EventPosition(head.boot, head.seq, head.time, told), None
        self._digests[head.boot, head.seq] = told
        if len(self._digests) > MAX_REMEMBERED_DIGESTS:
            self._digests.popitem(last=False)
        read = self._READERS.get(head.type)
        if read is None:
            return NOTHING
        try:
            fact = read(self, Cause(head.time, self.table, head.boot, head.seq), body)
        except (ValueError, RecursionError) as wrong:
            return IntakeResult(
                notices=(self._notice("refused", f"{head.type} {head.boot} {head.seq}: {wrong}"),)
            )
        return NOTHING if fact is None else IntakeResult((fact,))

    def _staked(self, cause: Cause, body: bytes) -> TableFact | None:
        if _bet_or_award.decode(body).bet not in JACKPOT_BETS:
            return None
        bet = _bet.decode(body)
        self._fits(bet)
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
        self._fits(award)
        kind = Won if award.valid else NotWon
        told = kind(
            cause=cause,
            session=award.session,
            round=award.round,
            box=award.box,
            hand=award.hand,
            cards=award.cards,
            share=award.share,
        )
        return replace(told, time_bound=award.time_bound) if isinstance(told, Won) else told

    def _ended(self, cause: Cause, body: bytes) -> TableFact:
        told = _sum.decode(body)
        self._fits(told)
        return PlayStaked(
            cause=cause,
            session=told.session,
            round=told.round,
            amount=told.amount,
            slots=told.slots,
        )

    def _voided(self, cause: Cause, body: bytes) -> TableFact | None:
        void = _void.decode(body)
        if (void.session, void.round) not in self.memory.rounds:
            return None
        self._fits(void)
        return RoundVoided(cause=cause, session=void.session, round=void.round)

    def _opened(self, cause: Cause, body: bytes) -> None:  # noqa: ARG002 - as the others
        self.memory.currency = _session.decode(body).currency

    def _fits(self, event: _RoundEvent) -> None:
        """Whether the terms allow an event. Raises :class:`NotAuthorisedError`."""
        rules = self.rules
        if self.table not in rules.tables:
            raise NotAuthorisedError("the table is not authorised")
        if event.decree != rules.decree:
            raise NotAuthorisedError(f"under {event.decree}; {rules.decree} is authorised")
        if event.game not in rules.games:
            raise NotAuthorisedError(f"of {event.game}; authorised: {', '.join(rules.games)}")
        if event.simulated != rules.simulated:
            real = "of a simulated table" if event.simulated else "of a table that is not simulated"
            raise NotAuthorisedError(real)
        currency = self.memory.currency
        if currency is not None and currency != rules.currency:
            raise NotAuthorisedError(f"in {currency}; the jackpot is in {rules.currency}")
        played, memory = (event.session, event.round), self.memory
        if played <= memory.settled:
            raise NotAuthorisedError(
                f"of round {event.round} of session {event.session}, which had begun when persons "
                "settled what was missing; they decide"
            )
        memory.last = max(memory.last, played)

    # Order

    def _follow(self, got: IntakeResult) -> IntakeResult:
        """The same with the events that waited for it."""
        facts, notices = list(got.facts), list(got.notices)
        while (at := self.memory.at) is not None:
            body = self._ahead.pop((at.boot, at.seq + 1), None)
            if body is None:
                break
            more = self._take(_head.decode(body), body)
            facts += more.facts
            notices += more.notices
        return IntakeResult(facts, notices, ask=bool(self._ahead))

    def _again(self, head: _EventHead, body: bytes) -> IntakeResult:
        """An event that was taken before."""
        known = self._digests.get((head.boot, head.seq))
        if known is None or known == event_digest(body):
            return NOTHING
        return IntakeResult(notices=(self._contradiction(head),))

    def _contradiction(self, head: _EventHead) -> IntakeNotice:
        return self._notice(
            "contradiction",
            f"its event {head.boot} {head.seq} came twice, and the second one ({head.type}) says "
            "something else",
        )

    def _disowned(self, head: _EventHead, body: bytes, asked: EventPosition) -> IntakeNotice | None:
        """What is wrong with an answer that should begin with the last event taken."""
        if (head.boot, head.seq) != (asked.boot, asked.seq):
            return self._gap(
                f"its answer begins with {head.boot} {head.seq}, and not with the last event "
                f"taken, {asked.boot} {asked.seq}: its journal was replaced or restored, does not "
                "reach back so far, or is that of the other daemon of a pair"
            )
        if asked.digest and event_digest(body) != asked.digest:
            return self._gap(
                f"its event {asked.boot} {asked.seq} says something else now: its journal was "
                "replaced or restored"
            )
        return None

    def _gap(self, what: str) -> IntakeNotice:
        self.memory.gap = what
        return self._notice("gap", what)

    def _pass(self, boot: str) -> None:
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
