"""Stud with five and with seven cards: most are face up, and the best or lowest face-up cards
decide who acts first.

Betting opens when all face-up cards are known. Seven cards have remedies of their own: dead cards,
which are kept for a last deal that goes wrong or short, face-down cards that were seen, a last card
that was, a card that came too early.
"""

from __future__ import annotations

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
from controller.games.circle import acts, cards, doubts, moves
from controller.games.circle.course import EVERY_CIRCLE, circle_course
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
    elif dealing_last(turn) and index == size(turn):
        _last_card(turn, error, seat, index)
    else:
        doubts.doubt(turn, error.what, who=error.who)
    release(turn)


def _next_up(turn: StudTurn, error: CircleDealError) -> None:
    """The player showed them: they are turned down again, and the next card is dealt face up."""
    seat = of_a_player(turn, error)
    turn.irregular(error.what, detail=seat.who)
    turn.change_seat(seat.who, shown_by_player=True)
    release(turn)


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
        doubts.doubt(turn, error.what, who=seat.who)  # the third lies open already
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
        moves.collect(turn, seat.who, error.name, law)
        moves.none_due(turn, seat.who)
        advance(turn)
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
        doubts.doubt(turn, error.what, who=seat.who)
        return
    _is_face_up(turn, seat.who, index)
    if len(hand.live) > HOLE_CARDS:
        doubts.doubt(turn, "deal_last_card", who=seat.who, asks=("hand.act", "round.void"))
        return
    turn.irregular("deal_last_of_two", detail=seat.who)
    turn.change_current(straight_to_showdown=True)
    if hand.open:
        close_unspoken(turn)


def _is_face_up(turn: StudTurn, who: str, index: int) -> None:
    card = turn.current.by_index(who)[index]
    if not card.up and card.card is not None:
        moves.turn_up(turn, who, index, card.card)
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
    before = speaker(turn)
    _show(turn, command)
    after = speaker(turn)
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
    doubts.resolve(turn, doubt)
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
        close_unspoken(turn, command.by)
    dealt(turn)


# Who was skipped, and what came too early


def _dead_card(turn: StudTurn, error: CircleDealError) -> None:
    """A player was skipped. At the last card, if the others have seen theirs, he gets the first
    dead one, after them.
    """
    seat = _player(turn, error)
    assert seat is not None
    if not dealing_last(turn):
        moves.apply(turn, replace(error, name="order"))
        return
    hand = turn.current
    order = [
        place.to
        for place in coming(turn, hand.street)
        if place.to != seat.who and place.to.startswith("seat:")
    ]
    lasts = [hand.positions(seat.who).get(size(turn)) for seat in hand.seats]
    lying = sorted(place for place in lasts if place is not None)
    if (
        not error.seen
        or not hand.cards_of(DEAD_PLACE)
        or len(lying) > len(order)
        or hand.open
        or hand.showdown
    ):
        doubts.doubt(turn, error.what, who=seat.who)
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
    dealt(turn)


def _moves(turn: StudTurn, place: int, to: str) -> None:
    cards = turn.current.cards
    card = cards[place]
    if card.to != to:
        turn.change_current(cards=(*cards[:place], replace(card, to=to), *cards[place + 1 :]))
        turn.emit(
            CardDealt(
                round=turn.current.round, to=to, index=size(turn), card=card.face, was=card.to
            )
        )


def _burn(turn: StudTurn, error: CircleDealError) -> None:
    """A card came before the bets were closed: it waits, and leaves with as many as there are
    players.
    """
    hand = turn.state.current
    if hand is None or not hand.open:
        raise RejectedError("betting_not_open")
    turn.irregular(error.what, detail=error.who)
    moves.count_used(turn, error.count)
    moves.add(turn, *[TableCard(to=EARLY_PLACE)] * error.count)


def size(turn: StudTurn) -> int:
    """Cards that a player has at the end."""
    deals = [deal.partition(" ") for street in streets(turn.book, turn.settings) for deal in street]
    return sum(len(letters) for to, _, letters in deals if to == "seats")


def speaker(turn: StudTurn) -> str | None:
    """Who acts first, while betting is open and has not begun."""
    hand = turn.state.current
    return moves.first_to_act(turn) if hand is not None and hand.open and not hand.spoken else None


def dealing_last(turn: StudTurn) -> bool:
    """Whether the last street is dealt, or was."""
    return turn.current.street == len(streets(turn.book, turn.settings)) - 1


def deal(
    turn: StudTurn,
    card: str | None,
    reading: int | None = None,
    *,
    exposed: bool = False,
    **how: bool,
) -> None:
    """As in the base game; a face-down card that was seen holds up what follows."""
    place = turn.current.due[0]
    own = turn.book.errors["exposed"] == "hole_cards"
    turn.waits = own and exposed and not place.up and place.to != "burn"
    moves.deal(turn, card, reading, exposed=exposed, **how)


def release(turn: StudTurn) -> None:
    """Continue the deal."""
    turn.waits = False
    if turn.state.current is not None:
        dealt(turn)


def dealt(turn: StudTurn) -> None:
    """As in the base game; who was skipped gets a dead card when the others have theirs."""
    if turn.waits:
        return
    while turn.state.current is not None and turn.current.due and turn.current.due[0].turn:
        _give_dead(turn, turn.current.due[0].to)
    moves.dealt(turn)


def _give_dead(turn: StudTurn, to: str) -> None:
    dead = turn.current.cards_of(DEAD_PLACE)[0]
    index = turn.current.next_index(to)
    left = tuple(card for card in turn.current.cards if card is not dead)
    turn.change_current(due=turn.current.due[1:], cards=(*left, replace(dead, to=to)))
    turn.change_seat(to, shown=False)
    turn.emit(CardDealt(round=turn.current.round, to=to, index=index, card=None, was=DEAD_PLACE))


def advance(turn: StudTurn) -> None:
    """As in the base game; betting opens when the face-up cards are known."""
    moves.advance(turn)
    hand = turn.state.current
    if hand is not None and hand.street >= 0 and not (hand.due or hand.open or hand.showdown):
        dealt(turn)


def open_betting(turn: StudTurn) -> None:
    """As in the base game, but not before it is known which cards are face up, and who bets."""
    unread = any(
        card.up and card.card is None
        for seat in turn.current.live
        for card in turn.current.cards_of(seat.who)
    )
    if turn.current.straight_to_showdown:
        moves.show_down(turn)
    elif unread or any(doubt.what == "deal_last_card" for doubt in turn.state.doubts):
        moves.expect(turn)
    else:
        moves.open_betting(turn)


def close_unspoken(turn: StudTurn, by: str | None = None) -> None:
    """Cancel an opened betting interval."""
    turn.change_current(open=False)
    turn.emit(BettingClosed(round=turn.current.round, interval=turn.current.interval, by=by))
    moves.show_down(turn)


def next_street(turn: StudTurn) -> None:
    """As in the base game; cards that came too early leave first, and as many as there are
    players with them.
    """
    hand = turn.current
    if hand.early and turn.book.errors["premature"] == "burn" and not dealing_last(turn):
        law = turn.book.laws["deal_premature"]
        moves.remove_hand(turn, EARLY_PLACE)
        for _ in hand.early:
            moves.emit_removed(turn, "premature", law)
        turn.burns = len(hand.live)
    moves.next_street(turn)
    turn.burns = 0


def coming(turn: StudTurn, street: int) -> tuple[CirclePlace, ...]:
    """As in the base game; who has shown face-down cards gets the next one face up."""
    shown_by_player = {seat.who for seat in turn.current.live if seat.shown_by_player}
    turn.change_current(
        seats=tuple(replace(seat, shown_by_player=False) for seat in turn.current.seats)
    )
    found = tuple(
        replace(place, up=place.up or place.to in shown_by_player)
        for place in moves.coming(turn, street)
    )
    return (*[CirclePlace(to="burn")] * turn.burns, *found)


def check_shortage(turn: StudTurn) -> None:
    """Where the last cards do not suffice the dead ones are mixed in; if they still do not, one
    is for all.
    """
    hand, dead = turn.current, turn.current.cards_of(DEAD_PLACE)
    if hand.used is None or not dead or not dealing_last(turn):
        moves.check_shortage(turn)
        return
    left, needed = len(turn.pack) - hand.used, len(hand.due)
    if needed <= left:
        return
    law = turn.book.laws["cards_lacking"]
    turn.irregular(
        "cards_lacking",
        detail=f"{left} cards are left, {needed} are needed: the dead ones are mixed in",
    )
    turn.change_current(
        cards=tuple(card for card in hand.cards if card.to != DEAD_PLACE),
        used=hand.used - len(dead),
    )
    moves.emit_removed(turn, "mixed_in", law, DEAD_PLACE)
    if needed > left + len(dead):
        burns = tuple(place for place in hand.due if place.to == "burn")
        turn.change_current(due=(*burns, CirclePlace(to="board", up=True)))
        turn.irregular(
            "cards_lacking",
            detail=f"{left + len(dead)} cards are left, {needed} are needed: one is for all",
        )
    moves.check_shortage(turn)


class StudTurn(CircleTurn):
    """One step of a table of stud."""

    course = circle_course(advance)
    variant = EVERY_CIRCLE._replace(
        remedies={
            **REMEDIES,
            "hole_cards": _hole_cards,
            "next_up": _next_up,
            "dead_card": _dead_card,
            "burn": _burn,
        },
        takes={HandAct: act, CardsShow: show},
        coming=coming,
        next_street=next_street,
        check_shortage=check_shortage,
        deal=deal,
        dealt=dealt,
        open_betting=open_betting,
    )
    waits = False
    """A face-down card was seen: the deal continues when its fate is decided."""
    burns = 0
    """The cards that leave before the next street, with those that came too early."""
