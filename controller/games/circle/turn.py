"""One step of a table of circle poker: its phase, the fate of a card that comes, and the moves that
readings and commands are made of.

A round goes ``open_bets``, ``close_bets``, then for each street ``next_street``, ``deal`` card by
card, ``open_betting``, ``close_betting``; at last ``show_down`` and the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from common.contract.commands import (
    Command,
    DealError,
    VoidReason,
)
from common.contract.events import (
    BettingClosed,
    BettingOpened,
    ButtonMoved,
    CardDealt,
    CardExpected,
    CardRemoved,
    CardsBurned,
    CardTurned,
    CirclePokerOutcome,
    RoundResult,
)
from common.contract.refusals import RejectedError
from common.contract.shown import CirclePokerShown
from common.readings import CardDrawn, ShufflerPacket
from controller.games.circle.first_to_act import FIRST_TO_ACT
from controller.games.circle.settings import CircleSettings
from controller.games.circle.showdown import CircleShown, compare, open_boards, remembered
from controller.games.circle.state import (
    DECISIONS,
    EARLY_PLACE,
    MAX_WAITING_CARDS,
    OUT_PLACE,
    CircleDoubt,
    CirclePlace,
    CircleRound,
    CircleSeat,
    CircleState,
)
from controller.games.circle.streets import around, pack, places, streets
from controller.games.dealt.cards import TableCard, readings
from controller.games.dealt.inherited import InheritedTurn
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry, Held
from controller.games.session import count_down
from controller.rulebooks.circle import Circle
from controller.rulebooks.law import Law


class CircleDealError(msgspec.Struct, frozen=True, kw_only=True):
    """An error of the deal. ``by``: the command that reported it, None if a device saw it."""

    name: str
    who: str | None = None
    index: int | None = None
    count: int = 1
    seen: bool = False
    by: DealError | None = None

    @property
    def what(self) -> str:
        """The irregularity."""
        return f"deal_{self.name}"


class CircleTurn(InheritedTurn[Circle, CircleSettings, CircleState]):
    """One step of a table of circle poker. Each family of variants derives from it."""

    round_type = CircleRound
    max_held = MAX_WAITING_CARDS
    takes: ClassVar[Mapping[type[Any], Callable[[Any, Any], None]]] = {}
    """Who takes an input where a variant does it in its own way."""
    remedies: ClassVar[Mapping[str, Callable[[Any, Any], None]]] = {}
    """The remedies for errors of the deal, by the rulebook's name."""
    resumed: int | None = None
    """The street that continues in this step, after a card of it had waited."""

    @property
    def current(self) -> CircleRound:
        """The round in progress. Raises ``RejectedError`` without one."""
        if self.state.current is None:
            raise RejectedError("no_round_in_progress")
        return self.state.current

    @property
    def pack(self) -> tuple[str, ...]:
        """The cards that are played with."""
        hand = self.state.current
        return pack(self.book, hand.players if hand is not None else len(self.state.seated))

    def change_seat(self, who: str, **fields: Any) -> None:
        """Change the state of a player of the round in progress."""
        self.change_current(
            seats=tuple(
                replace(seat, **fields) if seat.who == who else seat for seat in self.current.seats
            )
        )

    # Phases

    def stage(self) -> Phase:
        """The phase, regardless of any stop."""
        hand = self.state.current
        if hand is None:
            return Phase.WAITING if self.state.open else Phase.CLOSED
        if not hand.closed:
            return Phase.ANTES
        if hand.showdown:
            return Phase.SHOWDOWN
        return Phase.BETTING if hand.open else Phase.DEALING

    def lacks(self) -> tuple[str, ...]:
        """The requests without a stop: cards to turn, show or discard."""
        hand = self.state.current
        if hand is None:
            return ()
        found = ["cards.show"] if hand.unread_up else []
        if hand.due and hand.due[0].turn:
            seat = hand.due[0].to.startswith("seat:")
            found += ["hand.act"] if seat else ["cards.turn", "cards.show"]
        if hand.showdown:
            found += ["cards.show", "cards.turn", "hand.act", "round.confirm"]
        return tuple(dict.fromkeys(found))

    def player(self, who: str | None) -> CircleSeat:
        """A player who still plays for the pot. Raises ``RejectedError`` for anybody else."""
        seat = self.current.seat(who)
        if seat is None or seat not in self.current.live:
            raise RejectedError("not_in_the_pot", who=who or "", players=self.current.live_names)
        return seat

    # A card comes

    def arrived(self, reading: CardDrawn | ShufflerPacket) -> Held | None:
        """The card or packet as a held one; None if no card may come."""
        shut = any(doubt.what == "deal_exposed_in_cut" for doubt in self.state.doubts)
        none = self.state.current is None or shut
        if not self.state.open or (none and not reading.late):
            self.refuse(reading)
            return None
        if isinstance(reading, CardDrawn):
            return Held(given=reading)
        unread = CardDrawn(
            at=reading.at,
            device=reading.device,
            reading=reading.reading,
            card=None,
            late=reading.late,
        )
        return Held(given=unread, packet=reading.size)

    def late(self, held: Held) -> None:  # noqa: ARG002 - it reports only that a card came unseen
        """Never act upon a card that came in a silence."""
        self.lose_place()

    def divert(self, held: Held) -> bool:
        """Whether it is more or less than the card that is due: betting is open, none is due, a
        packet came, or it may not be the next one. The first card closes the antes.
        """
        if self.state.current is None:
            return True
        if self.current.open:
            self._premature(held)
            return True
        if not self.current.closed:
            unseen = self.current.used is None
            self.close_bets(unobserved=True)
            if unseen:
                self.lose_place()  # it need not be the first
        if self.belongs() is None:
            self.leave_out(held)
            self.irregular("card_out_of_round")
            return True
        if held.packet is not None:
            self._packet(self.current.due[0].to, held.packet)
        elif held.given.unsure:
            self.lose_place("a reading that is not sure")
        return held.packet is not None or held.given.unsure

    def belongs(self) -> str | None:
        """Where the next card of the street goes."""
        hand = self.state.current
        place = hand.due[0] if hand is not None and hand.due and not hand.open else None
        return place.to if place is not None and not place.turn else None

    def objection(self, held: Held) -> tuple[str, str | None] | None:
        """A device's word turns no card."""
        place = self.current.due[0]
        wrong = held.given.exposed and not place.up and place.to != "burn"
        return ("deal_exposed", place.to) if wrong else None

    def hold(self, held: Held, what: str, detail: str | None = None) -> None:
        """The card stops the table: until a person has looked, its reading is no evidence."""
        self.change(held=(held, *self.state.held))
        self.irregular(what, asks=self.state.asks, detail=detail)
        self.expect()

    def place(self, drawn: CardDrawn, to: str, *, seen: bool = False, count: int = 1) -> None:  # noqa: ARG002 - a packet is diverted
        """Deal a card."""
        burned = drawn.exposed and not self.current.due[0].up
        self.deal(drawn.card, drawn.reading, exposed=seen, unread=drawn.card is None)
        if burned and self.state.current is not None:
            self.apply(CircleDealError(name="exposed", who=to))

    def _packet(self, to: str, size: int) -> None:
        own = sum(place.to == to for place in self.current.due)
        self.deal_several(self.due_first(to, min(size, own)))
        if size > own and self.state.current is not None:
            self.apply(CircleDealError(name="too_many", who=to))

    def due_first(self, who: str, count: int) -> tuple[CirclePlace, ...]:
        """The next ``count`` cards of this hand come before all others. Gives their places."""
        left = list(self.current.due)
        own = tuple(place for place in left if place.to == who)[:count]
        for place in own:
            left.remove(place)
        self.change_current(due=(*own, *left))
        return own

    def none_due(self, who: str) -> None:
        """No further card goes to this hand."""
        self.change_current(due=tuple(place for place in self.current.due if place.to != who))

    def deal_several(self, due: tuple[CirclePlace, ...], cards: tuple[str, ...] = ()) -> None:
        """Deal cards where they are due, the named ones face up, unless the deal takes another
        course.
        """
        named = iter(cards)
        for place in due:
            if self.state.current is None or self.current.due[:1] != (place,):
                return
            self.deal(next(named, None) if place.up else None)

    def _premature(self, held: Held) -> None:
        """A card came while betting was open. A common card is replaced if the decree requires it;
        otherwise a person decides.
        """
        hand, remedy = self.current, self.book.errors["premature"]
        following = self._following()
        if remedy == "replace" and following is not None and following.up and not following.turn:
            why = "premature" if hand.spoken else "extra_common"
            law = self.book.laws[f"deal_{why}"]
            self.irregular(f"deal_{why}")
            early_card = self.believed(held.given.card)
            self.leave_out(held)
            self.emit_removed(why, law, following.to, early_card)
            return
        believed, count = self.believed(held.given.card), held.packet or 1
        self.count_used(count)
        self.add(TableCard(to=EARLY_PLACE, card=believed, reading=held.given.reading))
        self.add(*[TableCard(to=EARLY_PLACE)] * (count - 1))
        if remedy == "burn":
            self.irregular("deal_premature")
        else:
            self.doubt("deal_premature")

    def _following(self) -> CirclePlace | None:
        """Where the first card of the next street goes."""
        every, number = streets(self.book, self.settings), self.current.street + 1
        if number == len(every):
            return None
        return next(iter(places(every[number], self.current.live, self.current)), None)

    def leave_out(self, held: Held) -> None:
        """Record cards that left the pack and belong nowhere."""
        self.count_used(held.packet or 1)
        card = held.given.card if held.given.card in self.pack else None
        self.add(TableCard(to=OUT_PLACE, card=card, gone=True))

    def count_used(self, count: int) -> None:
        """Count cards that left the pack."""
        used = self.current.used
        self.change_current(used=None if used is None else used + count)

    def lose_place(self, detail: str | None = None) -> None:
        """Record that cards may have come unseen. If some are due, a person reports how many lie
        where.
        """
        hand = self.state.current
        if hand is None:
            return
        self.change_current(used=None)
        if hand.closed and (to := self.belongs()) is not None:
            self.change_current(gap=True)
            due = sum(not place.turn for place in hand.due)
            lies = (
                f"{due} cards are due, the next to {to}; cards.deal, cards.burn or cards.show say "
                "first what lies there already"
            )
            self.doubt("silence", detail=detail or lies)

    def apply(self, error: CircleDealError) -> None:
        """Apply the decree's remedy for an error that a person or a device reported."""
        self.remedies[self.book.errors[error.name]](self, error)

    # The button and the antes

    def move_button(self, by: str | None = None) -> None:
        """Move the button to the next taken seat."""
        previous = self.state.button
        assert previous is not None
        order = around(self.book, self.settings, {*self.state.seated, previous}, previous)
        self.set_button(
            next(number for number in (*order[1:], previous) if number in self.state.seated), by
        )

    def set_button(self, seat: int, by: str | None = None) -> None:
        """Give the button to a seat."""
        self.change(button=seat)
        self.emit(ButtonMoved(seat=seat, by=by))

    def new_round(self, number: int) -> CircleRound:
        """The next round, with all players who do not sit out: the antes are due."""
        button = self.state.button
        assert button is not None
        order = around(self.book, self.settings, self.state.playing, button)
        if self.settings.first_card == "next" and order[0] == button:
            order = (*order[1:], button)
        seats = tuple(CircleSeat(number=number) for number in order)
        return CircleRound(round=number, seats=seats, players=len(self.state.seated))

    def close_bets(self, by: str | None = None, *, unobserved: bool = False) -> None:
        """Close the antes and begin the deal. Without a command the first card does so; one may
        have come unseen before.
        """
        if by is not None:
            self.change_current(used=0)
        super().close_bets(by, unobserved=unobserved)
        self.next_street()

    # Streets and cards

    def next_street(self) -> None:
        """Begin the next street, or the showdown after the last one."""
        number = self.current.street + 1
        if number == len(streets(self.book, self.settings)):
            self.show_down()
            return
        self.change_current(street=number, due=self.coming(number), gap=False, blind=False)
        self.check_shortage()
        if self.state.current is not None:
            self._place_early()
        self.expect()

    def _place_early(self) -> None:
        """Deal the cards that came while betting was open where the first cards are due."""
        early = self.current.early
        self.change_current(
            cards=tuple(card for card in self.current.cards if card.to != EARLY_PLACE)
        )
        for card in early:
            if self.belongs() is not None:
                self.deal(card.card, card.reading, counted=True)

    def coming(self, street: int) -> tuple[CirclePlace, ...]:
        """The places of the cards of a street, in order."""
        return places(streets(self.book, self.settings)[street], self.current.live, self.current)

    def check_shortage(self) -> None:
        """Void the round if the deck has too few cards left. Early cards are already counted."""
        hand = self.current
        coming = sum(not place.turn for place in hand.due) - len(hand.early)
        if hand.used is not None and hand.used + coming > len(self.pack):
            self.irregular(
                "cards_lacking",
                detail=f"{len(self.pack) - hand.used} cards are left, {coming} are needed",
            )
            self.void(hand.round, "cards_lacking", self.book.void["cards_lacking"])

    def deal(
        self,
        card: str | None,
        reading: int | None = None,
        *,
        exposed: bool = False,
        unread: bool = False,
        counted: bool = False,
    ) -> None:
        """Deal a card where the next one is due. An unknown card stays unknown.

        ``exposed``: it came face up where it should be face down; ``unread``: a reader should have
        known it; ``counted``: it left the pack before.
        """
        hand, place = self.current, self.current.due[0]
        hidden = not place.up and place.to != "burn"
        believed = None if hand.blind and hidden else self.believed(card, 0 if counted else 1)
        self.change_current(due=hand.due[1:])
        self.count_used(0 if counted else 1)
        if place.to == "burn":
            self.add(TableCard(to="burn", card=believed, gone=True))
            self.emit(CardsBurned(round=hand.round, count=1))
        else:
            lies, index = place.up or exposed, hand.next_index(place.to)
            self.add(TableCard(to=place.to, up=lies, card=believed, reading=reading))
            self.emit(
                CardDealt(
                    round=hand.round, to=place.to, index=index, card=believed if lies else None
                )
            )
            if not lies or believed is None:
                self.change_seat(place.to, shown=False)
            if lies and unread:
                self.irregular("card_unread", asks=("cards.show",), detail=f"{place.to} {index}")
        self.dealt()

    def dealt(self) -> None:
        """Open betting once all cards of the street are dealt."""
        hand = self.state.current
        if hand is None or hand.due or hand.open or hand.showdown:
            self.expect()
            return
        for seat in hand.seats:
            if seat.status == "away":
                self.collect(seat.who, "absent", self.book.laws["deal_absent"])
        self.open_betting()

    def add(self, *cards: TableCard) -> None:
        """Add cards to the table."""
        self.change_current(cards=(*self.current.cards, *cards))

    def change_card(self, who: str, index: int, **fields: Any) -> None:
        """Change a card of the round in progress."""
        cards, place = self.current.cards, self.current.positions(who)[index]
        self.change_current(
            cards=(*cards[:place], replace(cards[place], **fields), *cards[place + 1 :])
        )

    def turn_up(self, who: str, index: int, value: str) -> None:
        """Turn a face-down card: it is this one."""
        self.change_card(who, index, up=True, card=value)
        self.emit(CardTurned(round=self.current.round, to=who, index=index, card=value))

    def remove_hand(self, who: str) -> None:
        """Remove the cards of a hand, or those that came too early, from the table."""
        self.change_current(
            cards=tuple(
                TableCard(to=OUT_PLACE, card=card.card, gone=True) if card.to == who else card
                for card in self.current.cards
            )
        )

    def collect(self, who: str, why: str, law: Law) -> None:
        """Collect the cards of a hand, unseen."""
        if self.current.cards_of(who):
            self.remove_hand(who)
            self.emit_removed(why, law, who)

    def remove(self, who: str, index: int, why: str, law: Law) -> None:
        """Remove a card, which does not count. It is published if it was face up."""
        card = self.current.by_index(who)[index]
        self.change_card(who, index, gone=True)
        self.emit_removed(why, law, who, card.face)

    def emit_removed(
        self, why: str, law: Law, to: str | None = None, card: str | None = None
    ) -> None:
        """Report that a card, or a hand, left the table."""
        number, article = self.current.round, law.article
        self.emit(
            CardRemoved(round=number, why=why, card=card, to=to, law=law.rule, article=article)
        )

    # Readers

    def believed(self, card: str | None, times: int = 1) -> str | None:
        """The card as read; None if it is impossible: not in the pack, or already in the round.

        ``times`` is 0 for a card that is counted among those known already.
        """
        if card is None:
            return None
        if card not in self.pack:
            self.doubt("card_foreign")
            return None
        if self.current.known.count(card) + times > 1:
            self.doubt("card_duplicate")
            return None
        return card

    def disbelieve(self) -> None:
        """Forget the reader's reports of face-down cards; they are known once shown."""
        cards = tuple(
            card if card.up and not card.gone else replace(card, card=None, reading=None)
            for card in self.current.cards
        )
        self.change_current(cards=cards, blind=True)

    def mistrust(self) -> None:
        """Forget the reader's reports if a card may have gone unseen: it is unknown which hand has
        which card.
        """
        if self.current.gap:
            self.disbelieve()

    def doubt(
        self,
        what: str,
        *,
        who: str | None = None,
        asks: tuple[str, ...] = DECISIONS,
        detail: str | None = None,
    ) -> None:
        """Stop the table until a person decides; reported once."""
        if not any((doubt.what, doubt.who) == (what, who) for doubt in self.state.doubts):
            doubt = CircleDoubt(what=what, who=who, asks=asks)
            self.change(doubts=(*self.state.doubts, doubt))
            self.irregular(what, asks=asks, detail=detail or who)

    def resolve(self, *doubts: CircleDoubt) -> None:
        """Remove these doubts."""
        self.change(doubts=tuple(doubt for doubt in self.state.doubts if doubt not in doubts))

    # Bets

    def open_betting(self) -> None:
        """Begin a betting interval, unless at most one player has anything left to bet."""
        if sum(seat.status == "in" for seat in self.current.live) <= 1:
            self.next_street()
            return
        number = self.current.interval + 1
        seats = tuple(replace(seat, raises=0) for seat in self.current.seats)
        self.change_current(interval=number, open=True, bet=False, spoken=False, seats=seats)
        call = self.call("first_interval") if number == 1 else None
        first = self.first_to_act
        self.emit(
            BettingOpened(round=self.current.round, interval=number, first=first, announcement=call)
        )
        self.expect()

    @property
    def first_to_act(self) -> str | None:
        """Who acts first in the betting interval."""
        words = self.book.first_to_act
        rule = FIRST_TO_ACT[words[min(self.current.interval, len(words)) - 1]]
        return rule(self.current, self.book)

    def close_betting(self, by: str | None = None) -> None:
        """Close the betting interval."""
        self.change_current(open=False, bets_begun=True)
        self.emit(BettingClosed(round=self.current.round, interval=self.current.interval, by=by))
        self.next_street()

    # The end of a round

    def show_down(self) -> None:
        """Begin the showdown."""
        self.change_current(showdown=True, due=())
        self.settle()

    def advance(self) -> None:
        """Publish the result once everything that it needs is face up and nothing waits for a
        person.
        """
        hand = self.state.current
        if hand is None or self.stop is not None:
            return
        if len(hand.live) == 1 and hand.closed:
            self.win(hand.live[0].who)
        elif hand.showdown and hand.open_whole:
            self.result(hand, compare(self.book, hand))

    def win(self, who: str, confirmed_by: str | None = None) -> None:
        """Let the last player win without showing: all others folded or do not show."""
        hand = self.current
        self.result(hand, CircleShown(open_boards(hand), who, ("no_showdown",)), confirmed_by)

    def result(
        self, round_: CircleRound | DealtEntry, shown: CircleShown, confirmed_by: str | None = None
    ) -> None:
        """Publish the result."""
        entry = DealtEntry(
            round=round_.round,
            kind="result",
            winner=shown.winner,
            hands=shown.hands,
            marks=shown.marks,
        )
        evidence = readings(round_.lying) if isinstance(round_, CircleRound) else ()
        confirmer = confirmed_by or (
            round_.confirmed_by if isinstance(round_, CircleRound) else None
        )
        if isinstance(round_, CircleRound):
            self.change(played=(*self.state.played, remembered(round_, shown.hands)))
        self.record(entry)
        self.emit(
            RoundResult(
                round=round_.round,
                outcome=self.outcome_of(entry),
                frames=(),
                readings=evidence,
                confirmed_by=confirmer,
            )
        )
        count_down(self, round_.round)
        self.expect()

    def void(self, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
        """Void the round: its cards are collected and it is dealt again."""
        redealt = number == self.number
        super().void(number, reason, law, by)
        if redealt:
            self.change(anew=True)
        self.expect()

    def leave(self) -> None:
        """End the round in progress and clear what stopped it."""
        self.change(current=None, held=(), doubts=())

    def outcome_of(self, entry: DealtEntry) -> CirclePokerOutcome:
        """The outcome of a round that has a result."""
        return CirclePokerOutcome(winner=entry.winner, hands=entry.hands, marks=entry.marks)

    # Published state

    def expect(self) -> None:
        """Announce where the next card belongs, if that changed; the last card is called."""
        hand, to = self.state.current, self.next_place()
        if to == self.state.expected:
            return
        last = hand is not None and hand.street == len(self.book.streets) - 1 != self.resumed
        call = self.call("last_card") if last and self.state.expected is None else None
        self.change(expected=to)
        self.emit(CardExpected(round=self.number, to=to, announcement=call))

    def view(self, **fields: Any) -> CirclePokerShown:
        """The retained state: these fields, and those of the variant."""
        return CirclePokerShown(**fields)
