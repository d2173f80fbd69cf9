"""One step of a dealt table: the moves that readings and commands consist of.

Each move changes the state and emits its event together, so that the two cannot diverge. A card
that is face down is never published.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Protocol, TypeVar

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


class DealtTurn(Moves[B, S, T]):
    """One step of a dealt table: the base of all of them. A game supplies its course."""

    round_type: ClassVar[type[DealtRound]] = DealtRound
    entry_type: ClassVar[type[DealtEntry]] = DealtEntry
    max_held: ClassVar[int]
    """Maximum number of cards that wait for a person. Later ones are counted only."""
    _cached_stage: tuple[T, Phase] | None = None

    # The course of a game

    @abstractmethod
    def stage(self) -> Phase:
        """The phase, regardless of any stop."""

    @abstractmethod
    def belongs(self) -> str | None:
        """Where the next card of the round belongs, given those on the table; None if none may
        come.
        """

    @abstractmethod
    def objection(self, held: Held) -> tuple[str, str | None] | None:
        """Why this card must not go where the next one belongs: the irregularity and its detail."""

    def divert(self, held: Held) -> bool:  # noqa: ARG002 - in most games every card is of a round
        """Handle a card that belongs to no round. Returns whether this was one."""
        return False

    def ready(self) -> None:
        """Prepare a round for the card, for example open it."""

    def unplaced(self, held: Held) -> None:
        """Handle a card that has no place, though the game does not object to it."""
        self.wait(held)

    def faces_up(self, to: str) -> bool:  # noqa: ARG002 - in most games of the shoe, every card is
        """Whether the next card of this place is dealt face up."""
        return True

    @abstractmethod
    def late(self, held: Held) -> None:
        """Store a card known only after a silence, for the person who decides about its round. It
        is never acted upon.
        """

    @abstractmethod
    def lose_place(self) -> None:
        """Record that cards may have gone unseen."""

    def advance(self) -> None:
        """Make the moves that follow from the cards on the table."""

    @abstractmethod
    def outcome_of(self, entry: Any) -> AnyOutcome:
        """The outcome of a round that has a result."""

    # Phases

    @property
    def stop(self) -> Stop | None:
        """What stops the table; None if it continues by itself."""
        return self.state.stop

    def asks(self) -> tuple[str, ...]:
        """The commands one of which the table waits for."""
        stop = self.stop
        return stop.asks if stop is not None else self.lacks()

    def lacks(self) -> tuple[str, ...]:
        """The requests of the phase without a stop, from its entry in ``PHASES``."""
        return ()

    def current_stage(self) -> Phase:
        """:meth:`stage`, cached for the present state."""
        if self._cached_stage is None or self._cached_stage[0] is not self.state:
            self._cached_stage = self.state, self.stage()
        return self._cached_stage[1]

    def phase(self) -> Phase:
        """The phase as published: ``decision`` while a person must decide."""
        stage, stop = self.current_stage(), self.stop
        stopped = stop is not None and stop.asks and stage is not Phase.CLOSED
        return Phase.DECISION if stopped else stage

    def call(self, name: str) -> Announcement | None:
        """The decree's wording of a call; None without one."""
        return self.book.announcements.get(name)

    # Bets

    def new_round(self, number: int) -> DealtRound:
        """The next round."""
        return self.round_type(round=number)

    def open_bets(self, by: str | None = None, *, relaunch: bool = False) -> None:
        """Open bets for the next round. ``relaunch``: the one before is played again."""
        number, call = self.state.round + 1, self.call("bets_open")
        self.change(round=number, current=self.new_round(number))
        self.emit(RoundOpened(round=number, by=by, relaunch=relaunch, announcement=call))
        self.clear_alert("card_out_of_round")

    def open_session(self, command: SessionOpen) -> None:
        """Open the table, and clear the alert about earlier cards."""
        super().open_session(command)
        self.clear_alert("card_while_closed")

    def close_bets(self, by: str | None = None, *, unobserved: bool = False) -> None:
        """Close the bets; the cards may come. ``unobserved``: implied by the first card, not
        commanded.
        """
        self.change_current(closed=True)
        call = self.call("bets_closed")
        self.emit(BetsClosed(round=self.number, by=by, unobserved=unobserved, announcement=call))

    # Cards

    @property
    def holds(self) -> bool:
        """Whether a card that comes now waits behind another."""
        return bool(self.state.held)

    def arrived(self, drawn: CardDrawn) -> Held | None:
        """The drawn card as a held one; None if the table accepts none."""
        if self.state.open:
            return Held(given=drawn)
        self.refuse(drawn)
        return None

    def refuse(self, reading: AnyReading) -> None:
        """Report a card or a packet of no round, once until a session opens or, within one, a
        round.
        """
        closed = not self.state.open
        if ("card_while_closed" if closed else "card_out_of_round") not in self.state.alerts:
            self.irregular("card_out_of_round")
        self.raise_alert("card_while_closed" if closed else "card_out_of_round", reading)

    def wait(self, held: Held) -> None:
        """Make the card wait until a person decides."""
        if len(self.state.held) < self.max_held:
            self.change(held=(*self.state.held, held))
        else:
            self.overflow()

    def overflow(self) -> None:
        """Handle a card when too many are waiting."""
        self.lose_place()

    def hold(self, held: Held, what: str, detail: str | None = None) -> None:
        """Stop the table with this card, for a person to decide about."""
        self.change(held=(held, *self.state.held))
        readings = readings_of(held.given)
        self.irregular(what, asks=self.state.asks, detail=detail, readings=readings)
        self.expect()

    def put(self, after: Table) -> None:
        """Change the cards on the table, and report those dealt and those turned face up."""
        assert self.state.current is not None
        before: Table = self.state.current.cards
        self.change_current(cards=after)
        events: list[CardDealt | CardTurned] = [*laid_down(before, after), *turned(before, after)]
        for event in events:
            self.emit(replace(event, round=self.number))

    def place(self, drawn: CardDrawn, to: str, *, seen: bool = False, count: int = 1) -> None:
        """Deal the card, or ``count`` unread ones. ``seen``: a person, never a device, reports it
        face up out of turn.
        """
        assert self.state.current is not None
        before: Table = self.state.current.cards
        up = self.faces_up(to) or seen
        self.put(
            (*before, *(TableCard(to=to, card=drawn.card, up=up, reading=drawn.reading),) * count)
        )
        if drawn.card is None:
            index = len(dealt(before, to)) + 1
            readings, asks = readings_of(drawn), self.state.asks
            self.irregular("card_unread", asks=asks, detail=f"{to} {index}", readings=readings)
        self.settle()

    def settle(self) -> None:
        """Make the moves that follow from the cards; then announce where the next card belongs."""
        self.advance()
        self.expect()

    def next_place(self) -> str | None:
        """The announced place of the next card; None while none may come."""
        current = self.state.current
        closed = current is not None and current.closed
        return self.belongs() if closed and not self.holds else None

    def expect(self) -> None:
        """Announce where the next card belongs, if that changed."""
        to = self.next_place()
        if to != self.state.expected:
            self.change(expected=to)
            self.emit(CardExpected(round=self.number, to=to))

    def after_input(self) -> None:
        """Announce where the next card belongs."""
        self.expect()

    # The outcome of a round

    def record(self, entry: DealtEntry) -> None:
        """Store an outcome; if it is that of the round in progress, the round is over."""
        current = self.state.current
        self.state = self.state.with_entry(entry)
        if current is not None and current.round == entry.round:
            self.leave()

    @abstractmethod
    def leave(self) -> None:
        """End the round in progress and clear its state."""

    def void(self, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
        """Void the round, by the rules or by a person's command (``by``)."""
        article = law.article
        self.record(self.entry_type(round=number, kind="void", reason=reason, article=article))
        self.emit_void(number, reason, law, by, self.call("void"))

    def emit_correction(self, entry: Any, was: str | None, by: Command) -> None:
        """Report that a result is replaced."""
        self.emit(
            ResultCorrected(
                round=entry.round,
                replaces=None,
                replaces_boot=None,
                outcome=self.outcome_of(entry),
                was=was,
                by=by.by,
                role=by.role,
            )
        )


Turn = DealtTurn[Any, Any, Any]
