"""One step of a table of circle poker: the moves that readings and commands are made of.

Each move changes the state and says its event in one go, so that the two cannot part. A round goes
``open_round``, ``close_antes``, then for each street ``next_street``, ``put`` card by card,
``open_betting``, ``close_betting``; at last ``show_down`` and ``settle``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from msgspec.structs import replace

from controller.contract.commands import Command, VoidReason
from controller.contract.events import (
    BetsClosed,
    BettingClosed,
    BettingOpened,
    ButtonMoved,
    CardDealt,
    CardExpected,
    CardRemoved,
    CardsBurned,
    CardTurned,
    CirclePokerOutcome,
    Frame,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
)
from controller.contract.shown import CirclePokerShown
from controller.games.circle.first_to_act import FIRST_TO_ACT
from controller.games.circle.settings import CircleSettings
from controller.games.circle.showdown import (
    CircleShown,
    compare,
    open_boards,
    open_hands,
    remembered,
)
from controller.games.circle.state import (
    CircleCard,
    CirclePlace,
    CircleRound,
    CircleSeat,
    CircleState,
    CircleTrouble,
)
from controller.games.circle.streets import around, free, pack, places, streets
from controller.games.dealt.state import Entry
from controller.games.poker.moves import PokerMoves
from controller.rulebooks.circle import Circle
from controller.rulebooks.law import Law

DECISIONS = ("card.decide", "round.void")


class CircleTurn(PokerMoves[Circle, CircleSettings, CircleState]):
    """One step of a table of circle poker. A family of variants with moves of its own derives from
    it.
    """

    takes: ClassVar[Mapping[type[Any], Callable[[Any, Any], None]]] = {}
    """Who takes an input where a variant does it in its own way."""
    remedies: ClassVar[Mapping[str, Callable[[Any, Any], None]]] = {}
    """What becomes of errors that only a variant knows."""
    resumed: int | None = None
    """The street that goes on in this step, where a card of it had waited."""

    @property
    def current(self) -> CircleRound:
        """The round in progress."""
        assert self.state.current is not None
        return self.state.current

    @property
    def pack(self) -> tuple[str, ...]:
        """The cards that are played with."""
        return pack(
            self.book,
            self.state.current.players
            if self.state.current is not None
            else len(self.state.seated),
        )

    @property
    def number(self) -> int:
        """The round in progress; 0 without one."""
        return self.state.current.round if self.state.current else 0

    def change_current(self, **fields: Any) -> None:
        """Change the round in progress."""
        self.change(current=replace(self.current, **fields))

    def change_seat(self, who: str, **fields: Any) -> None:
        """Change how a player of the round in progress stands."""
        self.change_current(
            seats=tuple(
                replace(seat, **fields) if seat.who == who else seat for seat in self.current.seats
            )
        )

    # The course of a round

    def move_button(self, by: str | None = None) -> None:
        """The button moves on to the next taken seat."""
        was = self.state.button
        assert was is not None
        order = around(self.book, self.settings, {*self.state.seated, was}, was)
        self.set_button(
            next(number for number in (*order[1:], was) if number in self.state.seated), by
        )

    def set_button(self, seat: int, by: str | None = None) -> None:
        """A player gets the button."""
        self.change(button=seat)
        self.say(ButtonMoved(seat=seat, by=by))

    def open_round(self, playing: tuple[int, ...], by: str | None = None) -> None:
        """A round begins with these players: the antes are due."""
        number, button = self.state.round + 1, self.state.button
        assert button is not None
        order = around(self.book, self.settings, playing, button)
        if self.settings.first_card == "next" and order[0] == button:
            order = (*order[1:], button)
        hand = CircleRound(
            round=number,
            seats=tuple(CircleSeat(number=each) for each in order),
            players=len(self.state.seated),
        )
        relaunch = self.state.anew
        self.change(round=number, current=hand, anew=False, fresh=False)
        call = self.book.announcements.get("bets_open")
        self.say(RoundOpened(round=number, by=by, relaunch=relaunch, announcement=call))

    def close_antes(self, by: str | None = None) -> None:
        """The antes are in and the deal begins. Without a command the first card shows it; one may
        have come unseen before.
        """
        self.change_current(closed=True, used=self.current.used if by is None else 0)
        self.say(BetsClosed(round=self.current.round, by=by, unobserved=by is None))
        self.next_street()

    def next_street(self) -> None:
        """The next cards may come; after the last street the hands are shown."""
        all_streets = streets(self.book, self.settings)
        number = self.current.street + 1
        if number == len(all_streets):
            self.show_down()
            return
        self.change_current(street=number, due=self.coming(number), doubted=False, blind=False)
        self.look_for_lack()
        if self.state.current is not None:
            self.place_held()
        self.expect()

    def place_held(self) -> None:
        """Deal the cards that came while betting was open where the first cards are due."""
        held = self.current.held
        self.change_current(held=())
        for card in held:
            if self.state.current is not None and self.current.due and not self.current.due[0].turn:
                self.put(card.card, card.frame, counted=True)

    def coming(self, street: int) -> tuple[CirclePlace, ...]:
        """Where the cards of a street go."""
        return places(
            streets(self.book, self.settings)[street], self.current.live, self.current.cards
        )

    def look_for_lack(self) -> None:
        """Void the round if the deck has too few cards left. Held cards have come already."""
        hand = self.current
        coming = sum(not place.turn for place in hand.due) - len(hand.held)
        if hand.used is not None and hand.used + coming > len(self.pack):
            self.irregular(
                "cards_lacking",
                detail=f"{len(self.pack) - hand.used} cards are left, {coming} are needed",
            )
            self.void(hand, "cards_lacking", self.book.void["cards_lacking"])

    def put(
        self,
        card: str | None,
        frame: Frame | None = None,
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
        known = None if hand.blind and hidden else self.believed(card, 0 if counted else 1)
        used = hand.used if counted or hand.used is None else hand.used + 1
        self.change_current(due=hand.due[1:], used=used)
        if place.to == "burn":
            self.change_current(gone=(*self.current.gone, known) if known else self.current.gone)
            self.say(CardsBurned(round=hand.round, count=1))
        else:
            lies = place.up or exposed
            index = free(hand.of(place.to))
            self.change_current(
                cards=(
                    *self.current.cards,
                    CircleCard(to=place.to, index=index, up=lies, card=known, frame=frame),
                )
            )
            self.say(
                CardDealt(round=hand.round, to=place.to, index=index, card=known if lies else None)
            )
            if not lies or known is None:
                self.change_seat(place.to, shown=False)
            if lies and unread:
                self.irregular("card_unread", asks=("cards.show",), detail=f"{place.to} {index}")
        self.dealt()

    def dealt(self) -> None:
        """Open betting once all cards of the street are dealt."""
        if (
            self.state.current is None
            or self.current.due
            or self.current.open
            or self.current.showdown
        ):
            self.expect()
            return
        for seat in self.current.seats:
            if seat.status == "away":
                self.collect(seat.who, "absent", self.book.laws["deal_absent"])
        self.open_betting()

    def believed(self, card: str | None, times: int = 1) -> str | None:
        """The card as read; None where it cannot be: it is none of the pack, or it is in the round
        already.

        ``times`` is 0 for a card that is counted among those known already.
        """
        if card is None:
            return None
        if card not in self.pack:
            self.trouble("card_foreign")
            return None
        if self.current.known.count(card) + times > 1:
            self.trouble("card_duplicate")
            return None
        return card

    def disbelieve(self) -> None:
        """Forget what a reader said of face-down cards; they are known once shown."""
        cards = tuple(
            each if each.up else replace(each, card=None, frame=None) for each in self.current.cards
        )
        self.change_current(
            cards=cards,
            gone=(),
            held=tuple(replace(each, card=None) for each in self.current.held),
            blind=True,
        )

    def doubt(self) -> None:
        """Some cards did not come from the reader. If one may have gone unseen, which hand has
        which card is unknown.
        """
        if self.current.doubted:
            self.disbelieve()

    def collect(self, who: str, why: str, law: Law) -> None:
        """The cards of a hand leave the table, unseen."""
        own = self.current.of(who)
        if own:
            left = tuple(each for each in self.current.cards if each.to != who)
            self.change_current(
                cards=left,
                gone=(*self.current.gone, *(each.card for each in own if each.card is not None)),
            )
            self.say(
                CardRemoved(
                    round=self.current.round,
                    why=why,
                    card=None,
                    to=who,
                    law=law.rule,
                    article=law.article,
                )
            )

    def remove(self, card: CircleCard, why: str, law: Law) -> None:
        """A card does not count; it is published if it was face up."""
        hand = self.current
        left = tuple(each for each in hand.cards if each != card)
        self.change_current(cards=left, gone=(*hand.gone, card.card) if card.card else hand.gone)
        self.say(
            CardRemoved(
                round=hand.round,
                why=why,
                card=card.told,
                to=card.to,
                law=law.rule,
                article=law.article,
            )
        )

    def turn(self, card: CircleCard, value: str) -> None:
        """Turn a face-down card: it is this one."""
        frame = (
            card.frame if card.card == value else None
        )  # else it would tell what the reader took it for
        opened = replace(card, up=True, card=value, frame=frame)
        self.change_current(
            cards=tuple(opened if each == card else each for each in self.current.cards)
        )
        self.say(CardTurned(round=self.current.round, to=card.to, index=card.index, card=value))

    # Bets

    def open_betting(self) -> None:
        """A betting interval begins; there is none where at most one player has anything left to
        bet.
        """
        able = [seat for seat in self.current.live if seat.status == "in"]
        if len(able) <= 1:
            self.next_street()
            return
        number = self.current.interval + 1
        seats = tuple(replace(seat, raises=0) for seat in self.current.seats)
        words = self.book.first_to_act
        first = FIRST_TO_ACT[words[min(number, len(words)) - 1]](self.current, self.book)
        self.change_current(interval=number, open=True, bet=False, spoken=False, seats=seats)
        call = self.book.announcements.get("first_interval") if number == 1 else None
        self.say(
            BettingOpened(round=self.current.round, interval=number, first=first, announcement=call)
        )
        self.expect()

    def close_betting(self, by: str | None = None) -> None:
        """The bets are equal."""
        self.change_current(open=False, begun=True)
        self.say(BettingClosed(round=self.current.round, interval=self.current.interval, by=by))
        self.next_street()

    # The end of a round

    def show_down(self) -> None:
        """The hands are shown."""
        self.change_current(showdown=True, due=())
        self.settle()
        self.expect()

    def settle(self) -> None:
        """The result, once everything that it needs is face up and nothing waits for a person."""
        hand = self.state.current
        if hand is None or hand.waiting or self.state.troubles:
            return
        if len(hand.live) == 1 and hand.closed:
            self.win(hand.live[0].who)
        elif hand.showdown and hand.open_whole:
            self.result(hand, compare(self.book, hand))

    def win(self, who: str, confirmed_by: str | None = None) -> None:
        """All others folded or do not show: the last player wins without showing."""
        hand = self.current
        self.result(hand, CircleShown(open_boards(hand), who, ("no_showdown",)), confirmed_by)

    def result(
        self, of: CircleRound | Entry, shown: CircleShown, confirmed_by: str | None = None
    ) -> None:
        """Give the result. Only face-up cards are evidence."""
        entry = Entry(
            round=of.round, kind="result", winner=shown.winner, hands=shown.hands, marks=shown.marks
        )
        frames = (
            tuple(each.frame for each in of.cards if each.frame and each.told)
            if isinstance(of, CircleRound)
            else ()
        )
        confirmer = confirmed_by or (of.confirmed_by if isinstance(of, CircleRound) else None)
        if isinstance(of, CircleRound):
            self.change(played=(*self.state.played, remembered(of, shown.hands)))
        self.record(entry)
        self.say(
            RoundResult(
                round=of.round,
                outcome=self.outcome_of(entry),
                frames=frames,
                confirmed_by=confirmer,
            )
        )
        self.count_down(of.round)
        self.expect()

    def void(
        self, of: CircleRound | Entry, reason: VoidReason, law: Law, by: Command | None = None
    ) -> None:
        """Void the round: its cards are collected and it is dealt again."""
        self.annul(of.round, reason, law, by)
        if isinstance(of, CircleRound):
            self.change(anew=True)
        self.expect()

    def unresolved(self, hand: CircleRound, why: Literal["undecided"]) -> None:
        """End the round without a result."""
        self.record(Entry(round=hand.round, kind="unresolved", hands=open_hands(hand)))
        self.say(RoundUnresolved(round=hand.round, why=why, candidate=None))
        self.expect()

    def record(self, entry: Entry) -> None:
        """Keep an outcome; if it is that of the round in progress, the round is over."""
        self.state = self.state.with_entry(entry)
        if self.state.current is not None and self.state.current.round == entry.round:
            self.change(current=None, troubles=())

    def outcome_of(self, entry: Entry) -> CirclePokerOutcome:
        """What a round that has a result came to."""
        return CirclePokerOutcome(winner=entry.winner, hands=entry.hands, marks=entry.marks)

    # What is said besides

    def expect(self) -> None:
        """Announce where the next card belongs, if that changed."""
        hand = self.state.current
        due: tuple[CirclePlace, ...] = (
            hand.due if hand is not None and not (hand.open or hand.waiting) else ()
        )
        to = due[0].to if due and not due[0].turn else None
        if to != self.state.expected:
            begins = (
                hand is not None
                and self.state.expected is None
                and hand.street == len(self.book.streets) - 1 != self.resumed
            )
            call = self.book.announcements.get("last_card") if begins else None
            self.change(expected=to)
            self.say(CardExpected(round=hand.round if hand else 0, to=to, announcement=call))

    def view(self, **fields: Any) -> CirclePokerShown:
        """What the retained state tells: these fields, and those that a variant has besides."""
        return CirclePokerShown(**fields)

    def trouble(
        self,
        what: str,
        *,
        who: str | None = None,
        asks: tuple[str, ...] = DECISIONS,
        detail: str | None = None,
    ) -> None:
        """Stop the table until a person decides; reported once."""
        if not any((each.what, each.who) == (what, who) for each in self.state.troubles):
            self.change(
                troubles=(*self.state.troubles, CircleTrouble(what=what, who=who, asks=asks))
            )
            self.irregular(what, asks=asks, detail=detail or who)
