"""Covered poker with discards: who opens the pot, what the players draw, and a pack that runs
short.

The street of the draw has a place for each player at which no card comes: he says ``discard`` and
how many, and as many come before the next one discards. They are not seen; the hands shown at the
end reveal them, see ``circle.drawn``. Where a hand is needed to open, ``circle.opening`` says
whether it was there.
"""

from __future__ import annotations

from typing import Any

from common.contract.commands import BoxesSet, CardsShow, CardsTurn, HandAct
from common.contract.events import BettingClosed, HandDecided
from common.contract.refusals import RejectedError
from common.contract.shown import CircleDrawShown
from controller.games.circle import acts, commands, doubts, drawn, moves
from controller.games.circle.course import EVERY_CIRCLE, circle_course
from controller.games.circle.errors import REMEDIES, in_round
from controller.games.circle.opening import FIRST_DEAL_CARDS, lowest, proved
from controller.games.circle.showdown import CircleShown, compare
from controller.games.circle.state import CirclePlace, CircleSeat
from controller.games.circle.streets import pack, streets
from controller.games.circle.turn import CircleDealError, CircleTurn
from controller.games.dealt.guards import decided_first
from controller.games.dealt.state import DealtEntry
from controller.games.guards import require
from controller.rulebooks.circle import DrawRules

# What players say


def act(turn: DrawTurn, command: HandAct) -> None:
    """Handle ``open`` and ``discard``; others as in the base game, but betting begins only when the
    pot is opened.
    """
    acts.allow_no_return(command)
    if command.action == "open":
        _opens(turn, command)
    elif command.action == "discard":
        _discards(turn, command)
    elif command.action in ("bet", "raise", "call", "all_in") and unopened(turn):
        raise RejectedError("pot_not_open")
    else:
        if command.action == "check":
            _has_not_opened(turn, command.who)
        acts.act(turn, command)


def _opens(turn: DrawTurn, command: HandAct) -> None:
    if not unopened(turn):
        raise RejectedError("no_pot_to_open")
    seat = moves.player(turn, command.who)
    if seat.status != "in":
        raise RejectedError("not_in_the_pot", who=command.who, players=turn.current.live_names)
    turn.change_current(
        opener=seat.number, bet=True, bettor=seat.number, bets_begun=True, spoken=True
    )
    turn.emit(HandDecided(round=turn.current.round, who=seat.who, decision="open", by=command.by))


def _has_not_opened(turn: DrawTurn, who: str) -> None:
    """Undo an opening if the player only checked and there was no raise: another player opened."""
    hand = turn.state.current
    seat = hand.seat(who) if hand is not None and hand.open and hand.interval == 1 else None
    if hand is not None and seat is not None and hand.opener == seat.number == hand.bettor:
        turn.change_current(opener=None, bet=False, bettor=None)


def _discards(turn: DrawTurn, command: HandAct) -> None:
    """A player draws as many cards as he discards; of four, the last one after all others are
    served, if the decree requires it.

    The number may be sent again before betting opens.
    """
    hand, draw = turn.state.current, rules(turn)
    seat = hand.seat(command.who) if hand is not None else None
    if (
        hand is None
        or hand.street < 1
        or not hand.due
        or hand.open
        or seat not in hand.live
        or seat is None
    ):
        raise RejectedError("discards_not_due")
    require(turn, decided_first)
    first = hand.due[0]
    if not first.turn and first.to != seat.who:
        raise RejectedError("discards_not_due")
    if first.to != seat.who and CirclePlace(to=seat.who, turn=True) in hand.due:
        raise RejectedError("discards_first", who=first.to)
    if command.count is None or not 0 <= command.count <= draw.most:
        raise RejectedError("discards_counted", most=draw.most)
    left = command.count - (
        len(hand.cards_of(seat.who)) - FIRST_DEAL_CARDS
    )  # a number stated again means that cards are already there
    if left < 0:
        raise RejectedError("discards_replaced", who=seat.who, count=command.count - left)
    call = turn.book.announcements.get("served") if command.count == 0 else None
    turn.change_seat(seat.who, discards=command.count, shown=False)
    turn.emit(
        HandDecided(
            round=hand.round,
            who=seat.who,
            decision="discard",
            by=command.by,
            count=command.count,
            announcement=call,
        ),
    )
    rest = tuple(place for place in hand.due if place.to != seat.who)
    later = min(left, 1) if command.count == draw.last_apart else 0
    card = CirclePlace(to=seat.who)
    turn.change_current(due=(*[card] * (left - later), *rest, *[card] * later))
    dealt(turn)


def set_seats(turn: DrawTurn, command: BoxesSet) -> None:
    """As in the base game; if the number of players calls for another deck, that deck counts as
    unchecked.
    """
    before = pack(turn.book, len(turn.state.seated))
    commands.set_seats(turn, command)
    if pack(turn.book, len(turn.state.seated)) != before:
        turn.change(deck=None, unchecked=None)


# Errors


def _restart_if_first(turn: DrawTurn, error: CircleDealError) -> None:
    """A player's first card was exposed: the round is dealt again. A person decides about any other
    card.
    """
    hand = in_round(turn)
    index = error.index or len(hand.cards_of(error.who or ""))
    if index == 1 and not hand.bets_begun:
        turn.irregular(error.what, detail=error.who)
        moves.void(turn, hand.round, "card_exposed", turn.book.laws[error.what], error.by)
    else:
        doubts.doubt(turn, error.what, who=error.who)


def _top(turn: DrawTurn, error: CircleDealError) -> None:
    """If they were not seen, extra cards go back on top of the deck and missing ones come from
    there; otherwise the round is dealt again.

    It is then unknown whose the face-down cards are that a reader has read.
    """
    hand = in_round(turn)
    law = turn.book.laws[error.what]
    if error.seen and not hand.bets_begun:
        turn.irregular(error.what, detail=error.who)
        moves.void(turn, hand.round, "wrong_count", law, error.by)
        return
    if error.seen:
        doubts.doubt(turn, error.what, who=error.who)
        return
    turn.irregular(error.what, detail=error.who)
    if error.name == "too_many":
        _back(turn, error.count)
    doubts.disbelieve(turn)
    doubts.resolve(turn, *(doubt for doubt in turn.state.doubts if doubt.what == "deal_premature"))
    moves.expect(turn)


def _back(turn: DrawTurn, count: int) -> None:
    """Return cards to the top of the deck: first those without a receiver, then those read last."""
    hand = turn.current
    lying = hand.lying
    strays = 0 if hand.used is None else min(count, max(hand.used - len(lying), 0))
    read = hand.street == 0 and bool(hand.due) and any(card.reading is not None for card in lying)
    back = lying[max(len(lying) - (count - strays), 0) :] if read else ()
    redealt = tuple(CirclePlace(to=card.to) for card in back)
    used = None if hand.used is None else hand.used - strays - len(redealt)
    others = tuple(card for card in hand.cards if card.gone)
    left = (*others, *lying[: len(lying) - len(back)], *hand.early[count:])
    turn.change_current(cards=left, due=(*redealt, *hand.due), used=used)


def _recut(turn: DrawTurn, error: CircleDealError) -> None:
    """The deck was put away too early. Its top part is found; otherwise the unused cards are
    shuffled and cut, and a card is burned.
    """
    hand = turn.state.current
    if hand is None or not hand.due or hand.open:
        raise RejectedError("deck_not_needed")
    found = error.by is not None and error.by.recoverable
    turn.irregular(
        error.what,
        detail="the top of the pack was found" if found else "shuffled and cut, one card is burned",
    )
    if not found:
        turn.change_current(due=(CirclePlace(to="burn"), *turn.current.due))
    dealt(turn)


def _false_opening(turn: DrawTurn, error: CircleDealError) -> None:
    """Handle an opener who cannot prove the hand."""
    hand = turn.state.current
    if hand is None or hand.opener is None:
        raise RejectedError("pot_not_open")
    seat = next(seat for seat in hand.seats if seat.number == hand.opener)
    if error.who not in (None, seat.who):
        raise RejectedError("opened_by_another", who=seat.who)
    false_opening(turn, moves.player(turn, seat.who))


def rules(turn: DrawTurn) -> DrawRules:
    """The rules of discards and draws."""
    assert turn.book.draw is not None
    return turn.book.draw


def unopened(turn: DrawTurn) -> bool:
    """Whether betting is open and the pot must still be opened."""
    hand = turn.state.current
    first = hand is not None and hand.open and hand.interval == 1 and hand.opener is None
    return first and bool(rules(turn).opening)


def view(turn: DrawTurn, **fields: Any) -> CircleDrawShown:
    """Besides, the lowest pair that opens, and how many cards each discarded."""
    seats = turn.state.current.seats if turn.state.current is not None else ()
    return CircleDrawShown(
        **fields,
        opening=lowest(rules(turn), turn.state.blanks),
        opener=None if turn.state.current is None else turn.state.current.opener,
        discards={seat.who: seat.discards for seat in seats},
    )


# The draw


def coming(turn: DrawTurn, street: int) -> tuple[CirclePlace, ...]:
    """As in the base game; in the draw the opener discards first, or else the first seat from
    the button.
    """
    if streets(turn.book, turn.settings)[street]:
        return moves.coming(turn, street)
    numbers = [seat.number for seat in turn.current.seats]
    start = numbers.index(turn.current.opener) if turn.current.opener in numbers else 0
    order = (*turn.current.seats[start:], *turn.current.seats[:start])
    return tuple(CirclePlace(to=seat.who, turn=True) for seat in order if seat in turn.current.live)


def dealt(turn: DrawTurn) -> None:
    """As in the base game; a folded player neither discards nor draws, and the discards are
    added to a deck that runs short.
    """
    hand = turn.state.current
    if hand is not None and hand.street > 0 and not hand.open:
        live = {seat.who for seat in hand.live} | {"burn"}
        turn.change_current(due=tuple(place for place in hand.due if place.to in live))
        _check_discards(turn)
    if turn.state.current is not None:
        moves.dealt(turn)


def _check_discards(turn: DrawTurn) -> None:
    hand = turn.current
    if hand.used is None or not hand.due or hand.due[0].turn:
        return
    left, needed = len(turn.pack) - hand.used, sum(not place.turn for place in hand.due)
    penultimate = rules(turn).short == "penultimate"
    if needed <= left or left > penultimate:
        return
    following = next(place.to for place in hand.due if place.to != "burn")
    alone = {place.to for place in hand.due} - {"burn"} == {following}
    back = [
        seat
        for seat in hand.seats
        if seat.discards and not seat.returned and not _stays_out(turn, seat, following, alone)
    ]
    detail = f"{left} cards are left, {needed} are needed"
    whose = ", ".join(seat.who for seat in back)
    cuts = f"; {_before(turn, following)} cuts" if penultimate else ""
    turn.irregular(
        "deck_short",
        detail=f"{detail}: the discards of {whose} are mixed in{cuts}" if back else detail,
    )
    for seat in back:
        turn.change_seat(seat.who, returned=True)
    used = hand.used - sum(seat.discards for seat in back)
    lacking = needed > len(turn.pack) - used
    turn.change_current(used=None if lacking else used)
    if lacking:
        doubts.doubt(turn, "cards_lacking", detail=detail)


def _stays_out(turn: DrawTurn, seat: CircleSeat, following: str, alone: bool) -> bool:
    """Whether the discards of a player are not mixed in."""
    if rules(turn).short == "penultimate":
        return seat.who == following or seat.number == turn.current.opener
    return alone and seat.who == following


def _before(turn: DrawTurn, who: str) -> str:
    """Who sits before a player in the order of the deal."""
    live = [seat.who for seat in turn.current.live]
    return live[live.index(who) - 1]


def believed(turn: DrawTurn, card: str | None, times: int = 1) -> str | None:
    """As in the base game; a card that went back into the pack may come again."""
    drawn.forget(turn, (card,))
    return doubts.believed(turn, card, times)


# The opening


def close_betting(turn: DrawTurn, by: str | None = None) -> None:
    """As in the base game; without an opening the hand is blank and the next one needs a higher
    pair.
    """
    if not unopened(turn):
        moves.close_betting(turn, by)
        return
    turn.change_current(open=False)
    turn.emit(BettingClosed(round=turn.current.round, interval=turn.current.interval, by=by))
    moves.result(turn, turn.current, CircleShown((), None, ("blank",)))


def noted(turn: DrawTurn, entry: DealtEntry) -> None:
    """Blank hands are counted until one is played. A void round does not count."""
    turn.change(blanks=turn.state.blanks + 1 if "blank" in entry.marks else 0)


def advance(turn: DrawTurn) -> None:
    """As in the base game; the opener does not win before proving the hand."""
    hand = turn.state.current
    if (
        hand is not None
        and turn.stop is None
        and hand.showdown
        and hand.open_whole
        and len(hand.live) > 1
    ):
        ahead = {shown.who for shown in compare(turn.book, hand).hands if shown.outcome != "lose"}
        if f"seat:{hand.opener}" in ahead and not _opening_is_proved(turn):
            return
    moves.advance(turn)
    if turn.state.current is not None and turn.current.street > 0 and turn.current.due:
        dealt(turn)  # who was to discard may play no more


def win(turn: DrawTurn, who: str, confirmed_by: str | None = None) -> None:
    """As in the base game; the opener proves the hand even if all others folded."""
    if who != f"seat:{turn.current.opener}" or _opening_is_proved(turn):
        moves.win(turn, who, confirmed_by)


def _opening_is_proved(turn: DrawTurn) -> bool:
    """Whether the opener has proved the opening. If not, the opening is false, or the table
    asks for the opener's cards.
    """
    rank = lowest(rules(turn), turn.state.blanks)
    found = True if rank is None else proved(turn.book, turn.current, rank)
    if found is None:
        if not turn.current.showdown or not turn.current.asked:
            turn.change_current(showdown=True, open=False, due=(), asked=True)
            asks = ("cards.show", "cards.turn", "round.confirm", "deal.error")
            turn.irregular(
                "opening_unproven",
                detail=f"seat:{turn.current.opener}, a pair of {rank} or more",
                asks=asks,
            )
            moves.expect(turn)
    elif not found:
        false_opening(
            turn, next(seat for seat in turn.current.seats if seat.number == turn.current.opener)
        )
    return found is True


def false_opening(turn: DrawTurn, seat: CircleSeat) -> None:
    """The opener cannot win. The bets stay in the pot; without another player they wait for the
    next round.
    """
    law = turn.book.laws["deal_false_opening"]
    turn.irregular("deal_false_opening", detail=seat.who)
    turn.change_seat(seat.who, status="annulled")
    moves.collect(turn, seat.who, "false_opening", law)
    if turn.current.live:
        advance(turn)
    else:
        moves.result(turn, turn.current, CircleShown((), None, ("false_opening", "pot_stays")))


class DrawTurn(CircleTurn):
    """One step of a table of covered poker with discards."""

    course = circle_course(advance)
    variant = EVERY_CIRCLE._replace(
        remedies={
            **REMEDIES,
            "restart_if_first": _restart_if_first,
            "top": _top,
            "recut": _recut,
            "false_opening": _false_opening,
        },
        takes={
            HandAct: act,
            BoxesSet: set_seats,
            CardsShow: drawn.show,
            CardsTurn: drawn.turn_up,
        },
        view=view,
        coming=coming,
        dealt=dealt,
        believed=believed,
        close_betting=close_betting,
        win=win,
        noted=noted,
    )
