"""One step of a dealt table: the moves that readings and commands consist of.

Each move changes the state and emits its event together, so that the two cannot diverge. A card
that is face down is never published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from common.contract.commands import Command, SessionOpen, VoidReason
from common.contract.events import (
    Announcement,
    AnyOutcome,
    BetsClosed,
    CardDealt,
    CardExpected,
    CardTurned,
    ResultCorrected,
    RoundOpened,
)
from common.readings import AnyReading, CardDrawn
from controller.games.dealt.cards import Table, TableCard, dealt, laid_down, turned
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry, DealtRound, DealtState, Held, Stop
from controller.games.moves import Moves, readings_of
from controller.games.rounds import Lawful
from controller.games.stakes import Bounds
from controller.rulebooks.law import Law


class DealtBook(Lawful, Protocol):
    """A page of the rulebook with laws and calls."""

    @property
    def announcements(self) -> dict[str, Announcement]:
        """The calls."""
        ...


B = TypeVar("B", bound=DealtBook)
S = TypeVar("S")
T = TypeVar("T", bound=DealtState[Any])


def admit(turn: Any, drawn: CardDrawn) -> Held | None:
    """The drawn card as a held one; None, and reported, while no session is open."""
    if turn.state.open:
        return Held(given=drawn)
    turn.refuse(drawn)
    return None


def lose_late(turn: Any, _held: Held) -> None:
    """Never act upon a card that came in a silence; one may be missing."""
    turn.course.lose_place(turn)


def is_stopped(turn: Any) -> bool:
    """Whether a person must decide first: a card that comes waits."""
    return turn.stop is not None


def wait_for_person(turn: Any, held: Held) -> None:
    """Make the card wait until a person decides; one too many may be lost."""
    if len(turn.state.held) < turn.course.max_held:
        turn.change(held=(*turn.state.held, held))
    else:
        turn.course.lose_place(turn)


def stop_with(turn: Any, held: Held, what: str, detail: str | None = None) -> None:
    """Stop the table with this card, for a person to decide about."""
    turn.change(held=(held, *turn.state.held))
    readings = readings_of(held.given)
    turn.irregular(what, asks=turn.state.asks, detail=detail, readings=readings)
    turn.course.expect(turn)


def deal_card(turn: Any, drawn: CardDrawn, to: str, *, seen: bool = False, count: int = 1) -> None:
    """Deal the card, or ``count`` unread ones. ``seen``: a person, never a device, reports it face
    up out of turn.
    """
    before: Table = turn.state.current.cards
    up = turn.course.faces_up(turn, to) or seen
    turn.put((*before, *(TableCard(to=to, card=drawn.card, up=up, reading=drawn.reading),) * count))
    if drawn.card is None:
        index = len(dealt(before, to)) + 1
        readings, asks = readings_of(drawn), turn.state.asks
        turn.irregular("card_unread", asks=asks, detail=f"{to} {index}", readings=readings)
    turn.settle()


def announced_place(turn: Any) -> str | None:
    """The announced place of the next card; None while none may come."""
    current = turn.state.current
    closed = current is not None and current.closed
    to: str | None = turn.course.belongs(turn) if closed and not turn.course.holds(turn) else None
    return to


def announce_place(turn: Any) -> None:
    """Announce where the next card belongs, if that changed."""
    if turn.announced is turn.state:
        return  # nothing has changed since
    to = turn.course.next_place(turn)
    if to != turn.state.expected:
        turn.change(expected=to)
        turn.emit(CardExpected(round=turn.number, to=to))
    turn.announced = turn.state


class Course(NamedTuple):
    """What a game answers at a dealt table. Each function gets the turn first."""

    stage: Callable[[Any], Phase]
    """The phase, regardless of any stop."""
    belongs: Callable[[Any], str | None]
    """Where the next card of the round belongs, given those on the table; None if none may come."""
    objection: Callable[[Any, Held], tuple[str, str | None] | None]
    """Why this card must not go where the next one belongs: the irregularity and its detail."""
    faces_up: Callable[[Any, str], bool]
    """Whether the next card of this place is dealt face up."""
    advance: Callable[[Any], None]
    """Makes the moves that follow from the cards on the table."""
    late: Callable[[Any, Held], None]
    """Stores a card known only after a silence, for the person who decides about its round. It is
    never acted upon.
    """
    lose_place: Callable[[Any], None]
    """Records that cards may have gone unseen."""
    leave: Callable[[Any], None]
    """Ends the round in progress and clears its state."""
    outcome_of: Callable[[Any, Any], AnyOutcome]
    """The outcome of a round that has a result."""
    offered: Callable[[Any], Mapping[str, Bounds]] = lambda _: {}
    """The available bets and the limits of each."""
    allow_highest: Callable[[Any, int], None] = lambda *_: None
    """Rejects a minimum with which the decree does not allow the table's highest stakes."""
    max_held: int = 0
    """Maximum number of cards that wait for a person. Later ones are counted only."""
    new_round: Callable[[Any, int], DealtRound] = lambda _, number: DealtRound(round=number)
    """The next round, with this number."""
    entry_type: type[DealtEntry] = DealtEntry
    """The type of its outcomes."""
    stop: Callable[[Any], Stop | None] = lambda turn: turn.state.stop
    """What stops the table; None if it continues by itself."""
    lacks: Callable[[Any], tuple[str, ...]] = lambda _: ()
    """The requests of the phase without a stop."""
    bets_open_call: str = "bets_open"
    """The name of the decree's call with which bets open."""
    arrived: Callable[[Any, Any], Held | None] = admit
    """The drawn card, or the packet, as a held one; None if the table accepts none."""
    holds: Callable[[Any], bool] = lambda turn: bool(turn.state.held)
    """Whether a card that comes now waits behind another."""
    wait: Callable[[Any, Held], None] = wait_for_person
    """Makes a card wait until a person decides."""
    divert: Callable[[Any, Held], bool] = lambda *_: False
    """Handles a card that belongs to no round. Returns whether this was one."""
    hold: Callable[..., None] = stop_with
    """Stops the table with a card: gets its irregularity and its detail."""
    ready: Callable[[Any], None] = lambda _: None
    """Prepares a round for the card, for example opens it."""
    place: Callable[..., None] = deal_card
    """Deals a card to a place, or ``count`` unread ones."""
    unplaced: Callable[[Any, Held], None] = lambda turn, held: turn.course.wait(turn, held)
    """Handles a card that has no place, though the game does not object to it."""
    next_place: Callable[[Any], str | None] = announced_place
    """The announced place of the next card; None while none may come."""
    expect: Callable[[Any], None] = announce_place
    """Announces where the next card belongs, if that changed."""
    follow_up: Callable[[Any], None] = lambda turn: turn.course.expect(turn)
    """Makes the moves that follow from an input without another one."""


class DealtTurn(Moves[B, S, T]):
    """One step of a dealt table. A game supplies its course."""

    course: ClassVar[Course]
    announced: T | None = None
    """The state for which the place of the next card was announced last."""
    _cached_stage: tuple[T, Phase] | None = None

    # Phases

    @property
    def stop(self) -> Stop | None:
        """What stops the table; None if it continues by itself."""
        return self.course.stop(self)

    def asks(self) -> tuple[str, ...]:
        """The commands one of which the table waits for."""
        stop = self.stop
        return stop.asks if stop is not None else self.course.lacks(self)

    def current_stage(self) -> Phase:
        """The phase regardless of any stop, cached for the present state."""
        if self._cached_stage is None or self._cached_stage[0] is not self.state:
            self._cached_stage = self.state, self.course.stage(self)
        return self._cached_stage[1]

    def phase(self) -> Phase:
        """The phase as published: ``decision`` while a person must decide."""
        stage, stop = self.current_stage(), self.stop
        stopped = stop is not None and stop.asks and stage is not Phase.CLOSED
        return Phase.DECISION if stopped else stage

    def call(self, name: str) -> Announcement | None:
        """The decree's wording of a call; None without one."""
        return self.book.announcements.get(name) or None

    # Bets

    def offered(self) -> Mapping[str, Bounds]:
        """The available bets and the limits of each."""
        return self.course.offered(self)

    def require_highest(self, minimum: int) -> None:
        """Reject a minimum with which the decree does not allow the table's highest stakes."""
        self.course.allow_highest(self, minimum)

    def open_table(self, command: SessionOpen) -> None:
        """Open a session, and clear the alert about earlier cards."""
        self.open_session(command)
        self.clear_alert("card_while_closed")

    def open_bets(self, by: str | None = None, *, relaunch: bool = False) -> None:
        """Open bets for the next round. ``relaunch``: the one before is played again."""
        number, call = self.state.round + 1, self.call(self.course.bets_open_call)
        self.change(round=number, current=self.course.new_round(self, number))
        self.emit(RoundOpened(round=number, by=by, relaunch=relaunch, announcement=call))
        self.clear_alert("card_out_of_round")

    def close_bets(self, by: str | None = None, *, unobserved: bool = False) -> None:
        """Close the bets; the cards may come. ``unobserved``: implied by the first card, not
        commanded.
        """
        self.change_current(closed=True)
        call = self.call("bets_closed")
        self.emit(BetsClosed(round=self.number, by=by, unobserved=unobserved, announcement=call))

    # Cards

    def refuse(self, reading: AnyReading) -> None:
        """Report a card or a packet of no round, once until a session opens or, within one, a
        round.
        """
        closed = not self.state.open
        if ("card_while_closed" if closed else "card_out_of_round") not in self.state.alerts:
            self.irregular("card_out_of_round")
        self.raise_alert("card_while_closed" if closed else "card_out_of_round", reading)

    def put(self, after: Table) -> None:
        """Change the cards on the table, and report those dealt and those turned face up."""
        assert self.state.current is not None
        before: Table = self.state.current.cards
        events: list[CardDealt | CardTurned] = [*laid_down(before, after), *turned(before, after)]
        self.change_current(cards=after)
        for event in events:
            self.emit(replace(event, round=self.number))

    def settle(self) -> None:
        """Make the moves that follow from the cards; then announce where the next card belongs."""
        self.course.advance(self)
        self.course.expect(self)

    def after_input(self) -> None:
        """Make the moves that follow from an input without another one."""
        self.course.follow_up(self)

    # The outcome of a round

    def record(self, entry: DealtEntry) -> None:
        """Store an outcome; if it is that of the round in progress, the round is over."""
        current = self.state.current
        self.state = self.state.with_entry(entry)
        if current is not None and current.round == entry.round:
            self.course.leave(self)

    def void(self, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
        """Void the round, by the rules or by a person's command (``by``)."""
        article = law.article
        entry = self.course.entry_type(round=number, kind="void", reason=reason, article=article)
        self.record(entry)
        self.emit_void(number, reason, law, by, self.call("void"))

    def emit_correction(self, entry: Any, was: str | None, by: Command) -> None:
        """Report that a result is replaced."""
        self.emit(
            ResultCorrected(
                round=entry.round,
                replaces=None,
                replaces_boot=None,
                outcome=self.course.outcome_of(self, entry),
                was=was,
                by=by.by,
                role=by.role,
            )
        )


Turn = DealtTurn[Any, Any, Any]
