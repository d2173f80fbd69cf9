"""Stud with five and with seven cards: most are face up, and the best or lowest face-up cards
decide who acts first.

Betting opens when all face-up cards are known. Seven cards have remedies of their own: dead cards,
which are kept for a last deal that goes wrong or short, face-down cards that were seen, a last card
that was, a card that came too early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec.structs import replace

from common.contract.commands import CardsShow, HandAct
from common.contract.events import (
    BetPlaced,
    BettingClosed,
    BettingOpened,
    CardDealt,
    HandDecided,
)
from common.contract.refusals import RejectedError
from controller.games.circle import acts, cards
from controller.games.circle.errors import REMEDIES, in_round, of_a_player
from controller.games.circle.state import EARLY_PLACE, CirclePlace, CircleSeat
from controller.games.circle.streets import streets
from controller.games.circle.turn import CircleDealError, CircleTurn
from controller.games.dealt.cards import TableCard

DEAD_PLACE = "dead"
HOLE_CARDS = 2
"""Hole cards of a player's first deal."""

# Covered cards that were seen


def _hole_cards(turn: StudTurn, error: CircleDealError) -> None:
    """A hole card was exposed: in the first deal it becomes the face-up card, in the last the
    player chooses.
    """
    seat = _player(turn, error)
    index = _index(turn, error, seat)
    if seat is None:
        turn.irregular(error.what, detail=error.who)  # a dead card belongs to no hand
    elif 0 < index <= HOLE_CARDS and turn.current.street == 0 and not turn.current.bets_begun:
        _first_cards(turn, error, seat, index)
    elif turn.dealing_last and index == turn.size:
        _last_card(turn, error, seat, index)
    else:
        turn.doubt(error.what, who=error.who)
    turn.release()


def _next_up(turn: StudTurn, error: CircleDealError) -> None:
    """The player showed them: they are turned down again, and the next card is dealt face up."""
    seat = of_a_player(turn, error)
    turn.irregular(error.what, detail=seat.who)
    turn.change_seat(seat.who, shown_by_player=True)
    turn.release()


def _first_cards(turn: StudTurn, error: CircleDealError, seat: CircleSeat, index: int) -> None:
    """One of the first two: it is the face-up card, the third comes covered. Both: the player has
    his ante back, and is out.
    """
    both = any(
        card.up
        for place, card in turn.current.by_index(seat.who).items()
        if place <= HOLE_CARDS and place != index
    )
    third = next((place for place in turn.current.due if place.to == seat.who and place.up), None)
    if not both and third is None:
        turn.doubt(error.what, who=seat.who)  # the third lies open already
        return
    what = "deal_both_exposed" if both else error.what
    turn.irregular(what, detail=f"{seat.who}, card {index}")
    _is_face_up(turn, seat.who, index)
    if both:
        law = turn.book.laws[what]
        by = None if error.by is None else error.by.by
        turn.emit(
            BetPlaced(round=turn.current.round, who=seat.who, bet="ante", withdrawn=True, by=by)
        )
        turn.change_seat(seat.who, status="annulled")
        turn.collect(seat.who, error.name, law)
        turn.none_due(seat.who)
        turn.advance()
    else:
        turn.change_current(
            due=tuple(
                replace(place, up=False) if place is third else place for place in turn.current.due
            )
        )


def _last_card(turn: StudTurn, error: CircleDealError, seat: CircleSeat, index: int) -> None:
    """The last card. Of two players: no more bets, both show. Otherwise the player may continue
    betting.
    """
    hand = turn.current
    if hand.spoken and hand.open:
        turn.doubt(error.what, who=seat.who)
        return
    _is_face_up(turn, seat.who, index)
    if len(hand.live) > HOLE_CARDS:
        turn.doubt("deal_last_card", who=seat.who, asks=("hand.act", "round.void"))
        return
    turn.irregular("deal_last_of_two", detail=seat.who)
    turn.change_current(straight_to_showdown=True)
    if hand.open:
        turn.close_unspoken()


def _is_face_up(turn: StudTurn, who: str, index: int) -> None:
    card = turn.current.by_index(who)[index]
    if not card.up and card.card is not None:
        turn.turn_up(who, index, card.card)
    elif not card.up:
        turn.change_card(who, index, up=True)
        turn.irregular("card_unread", asks=("cards.show",), detail=f"{who} {index}")


def _player(turn: StudTurn, error: CircleDealError) -> CircleSeat | None:
    """Whose card it was; None if a device saw a card without a holder."""
    hand = in_round(turn)
    seat = hand.seat(error.who)
    if seat in hand.live:
        return seat
    if error.by is not None:
        raise RejectedError("who_one_of", players=hand.live_names)
    return None


def _index(turn: StudTurn, error: CircleDealError, seat: CircleSeat | None) -> int:
    """The number of one of the player's cards, by default the last one; 0 without one."""
    own = () if seat is None else turn.current.positions(seat.who)
    return next((index for index in reversed(tuple(own)) if error.index in (None, index)), 0)


def show(turn: StudTurn, command: CardsShow) -> None:
    """Show cards; announce again who acts first if it changed and betting has not begun."""
    before = turn.speaker
    _show(turn, command)
    after = turn.speaker
    if before is not None and after not in (None, before):
        turn.emit(
            BettingOpened(round=turn.current.round, interval=turn.current.interval, first=after)
        )


def _show(turn: StudTurn, command: CardsShow) -> None:
    """As in the base game; if as many face-up cards of a player were not read, these are they."""
    hand = turn.state.current
    lying = hand.by_index(command.who) if hand is not None else {}
    unread = [index for index, card in lying.items() if card.up and card.card is None]
    covered = any(not card.up for card in lying.values())
    if command.index is not None or not covered or len(unread) != len(command.cards):
        cards.show(turn, command)
        return
    for index, value in zip(unread, command.cards, strict=True):
        if turn.state.current is not None:
            cards.show(turn, replace(command, index=index, cards=(value,)))


def act(turn: StudTurn, command: HandAct) -> None:
    """A player whose last card was exposed answers ``go`` (it is turned down again) or ``pass`` (no
    more bets). All else as in the base game.
    """
    if command.action not in ("go", "pass"):
        acts.act(turn, command)
        return
    acts.allow_no_return(command)
    doubt = next(
        (
            doubt
            for doubt in turn.state.doubts
            if (doubt.what, doubt.who) == ("deal_last_card", command.who)
        ),
        None,
    )
    if doubt is None:
        raise RejectedError("not_asked_to_go_on", who=command.who)
    turn.resolve(doubt)
    turn.emit(
        HandDecided(
            round=turn.current.round, who=command.who, decision=command.action, by=command.by
        )
    )
    if command.action == "pass":
        turn.change_seat(command.who, status="side")
    else:
        *_, last = turn.current.positions(command.who)
        turn.change_card(command.who, last, up=False)
    if (
        turn.current.open
        and not turn.current.spoken
        and sum(seat.status == "in" for seat in turn.current.live) <= 1
    ):
        turn.close_unspoken(command.by)
    turn.dealt()


# Who was skipped, and what came too early


def _dead_card(turn: StudTurn, error: CircleDealError) -> None:
    """A player was skipped. At the last card, if the others have seen theirs, he gets the first
    dead one, after them.
    """
    seat = _player(turn, error)
    assert seat is not None
    if not turn.dealing_last:
        turn.apply(replace(error, name="order"))
        return
    hand = turn.current
    order = [
        place.to
        for place in turn.coming(hand.street)
        if place.to != seat.who and place.to.startswith("seat:")
    ]
    lasts = [hand.positions(seat.who).get(turn.size) for seat in hand.seats]
    lying = sorted(place for place in lasts if place is not None)
    if (
        not error.seen
        or not hand.cards_of(DEAD_PLACE)
        or len(lying) > len(order)
        or hand.open
        or hand.showdown
    ):
        turn.doubt(error.what, who=seat.who)
        return
    turn.irregular(error.what, detail=seat.who)
    if any(hand.cards[place].to == seat.who for place in lying):
        for place, to in zip(lying, order, strict=False):  # it went to the next, and so on
            _moves(turn, place, to)
        order = order[len(lying) :]
    else:
        order = [place.to for place in hand.due if place.to != seat.who]
    up = {place.to: place.up for place in hand.due}
    left = tuple(CirclePlace(to=who, up=up.get(who, False)) for who in order)
    turn.change_current(due=(*left, CirclePlace(to=seat.who, turn=True)))
    turn.dealt()


def _moves(turn: StudTurn, place: int, to: str) -> None:
    cards = turn.current.cards
    card = cards[place]
    if card.to != to:
        turn.change_current(cards=(*cards[:place], replace(card, to=to), *cards[place + 1 :]))
        turn.emit(
            CardDealt(round=turn.current.round, to=to, index=turn.size, card=card.face, was=card.to)
        )


def _burn(turn: StudTurn, error: CircleDealError) -> None:
    """A card came before the bets were closed: it waits, and leaves with as many as there are
    players.
    """
    hand = turn.state.current
    if hand is None or not hand.open:
        raise RejectedError("betting_not_open")
    turn.irregular(error.what, detail=error.who)
    turn.count_used(error.count)
    turn.add(*[TableCard(to=EARLY_PLACE)] * error.count)


class StudTurn(CircleTurn):
    """One step of a table of stud."""

    takes: ClassVar[Mapping[type[Any], Callable[[Any, Any], None]]] = {
        HandAct: act,
        CardsShow: show,
    }
    remedies: ClassVar[Mapping[str, Callable[[Any, Any], None]]] = {
        **REMEDIES,
        "hole_cards": _hole_cards,
        "next_up": _next_up,
        "dead_card": _dead_card,
        "burn": _burn,
    }
    _waits = False
    """A face-down card was seen: the deal continues when its fate is decided."""
    _burns = 0

    @property
    def size(self) -> int:
        """Cards that a player has at the end."""
        deals = [
            deal.partition(" ") for street in streets(self.book, self.settings) for deal in street
        ]
        return sum(len(letters) for to, _, letters in deals if to == "seats")

    @property
    def speaker(self) -> str | None:
        """Who acts first, while betting is open and has not begun."""
        hand = self.state.current
        return self.first_to_act if hand is not None and hand.open and not hand.spoken else None

    @property
    def dealing_last(self) -> bool:
        """Whether the last street is dealt, or was."""
        return self.current.street == len(streets(self.book, self.settings)) - 1

    def deal(
        self, card: str | None, reading: int | None = None, *, exposed: bool = False, **how: bool
    ) -> None:
        """As in the base game; a face-down card that was seen holds up what follows."""
        place = self.current.due[0]
        own = self.book.errors["exposed"] == "hole_cards"
        self._waits = own and exposed and not place.up and place.to != "burn"
        super().deal(card, reading, exposed=exposed, **how)

    def release(self) -> None:
        """Continue the deal."""
        self._waits = False
        if self.state.current is not None:
            self.dealt()

    def dealt(self) -> None:
        """As in the base game; who was skipped gets a dead card when the others have theirs."""
        if self._waits:
            return
        while self.state.current is not None and self.current.due and self.current.due[0].turn:
            self._give_dead(self.current.due[0].to)
        super().dealt()

    def _give_dead(self, to: str) -> None:
        dead = self.current.cards_of(DEAD_PLACE)[0]
        index = self.current.next_index(to)
        left = tuple(card for card in self.current.cards if card is not dead)
        self.change_current(due=self.current.due[1:], cards=(*left, replace(dead, to=to)))
        self.change_seat(to, shown=False)
        self.emit(
            CardDealt(round=self.current.round, to=to, index=index, card=None, was=DEAD_PLACE)
        )

    def advance(self) -> None:
        """As in the base game; betting opens when the face-up cards are known."""
        super().advance()
        hand = self.state.current
        if hand is not None and hand.street >= 0 and not (hand.due or hand.open or hand.showdown):
            self.dealt()

    def open_betting(self) -> None:
        """As in the base game, but not before it is known which cards are face up, and who bets."""
        unread = any(
            card.up and card.card is None
            for seat in self.current.live
            for card in self.current.cards_of(seat.who)
        )
        if self.current.straight_to_showdown:
            self.show_down()
        elif unread or any(doubt.what == "deal_last_card" for doubt in self.state.doubts):
            self.expect()
        else:
            super().open_betting()

    def close_unspoken(self, by: str | None = None) -> None:
        """Cancel an opened betting interval."""
        self.change_current(open=False)
        self.emit(BettingClosed(round=self.current.round, interval=self.current.interval, by=by))
        self.show_down()

    def next_street(self) -> None:
        """As in the base game; cards that came too early leave first, and as many as there are
        players with them.
        """
        hand = self.current
        if hand.early and self.book.errors["premature"] == "burn" and not self.dealing_last:
            law = self.book.laws["deal_premature"]
            self.remove_hand(EARLY_PLACE)
            for _ in hand.early:
                self.emit_removed("premature", law)
            self._burns = len(hand.live)
        super().next_street()
        self._burns = 0

    def coming(self, street: int) -> tuple[CirclePlace, ...]:
        """As in the base game; who has shown face-down cards gets the next one face up."""
        shown_by_player = {seat.who for seat in self.current.live if seat.shown_by_player}
        self.change_current(
            seats=tuple(replace(seat, shown_by_player=False) for seat in self.current.seats)
        )
        found = tuple(
            replace(place, up=place.up or place.to in shown_by_player)
            for place in super().coming(street)
        )
        return (*[CirclePlace(to="burn")] * self._burns, *found)

    def check_shortage(self) -> None:
        """Where the last cards do not suffice the dead ones are mixed in; if they still do not, one
        is for all.
        """
        hand, dead = self.current, self.current.cards_of(DEAD_PLACE)
        if hand.used is None or not dead or not self.dealing_last:
            super().check_shortage()
            return
        left, needed = len(self.pack) - hand.used, len(hand.due)
        if needed <= left:
            return
        law = self.book.laws["cards_lacking"]
        self.irregular(
            "cards_lacking",
            detail=f"{left} cards are left, {needed} are needed: the dead ones are mixed in",
        )
        self.change_current(
            cards=tuple(card for card in hand.cards if card.to != DEAD_PLACE),
            used=hand.used - len(dead),
        )
        self.emit_removed("mixed_in", law, DEAD_PLACE)
        if needed > left + len(dead):
            burns = tuple(place for place in hand.due if place.to == "burn")
            self.change_current(due=(*burns, CirclePlace(to="board", up=True)))
            self.irregular(
                "cards_lacking",
                detail=f"{left + len(dead)} cards are left, {needed} are needed: one is for all",
            )
        super().check_shortage()
