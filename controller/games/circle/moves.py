"""The phase of a table of circle poker, and the moves that readings and commands are made of.

A round goes ``open_bets``, ``close_bets``, then for each street ``next_street``, ``deal`` card by
card, ``open_betting``, ``close_betting``; at last ``show_down`` and the result.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import (
    Command,
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
from controller.games.circle.doubts import doubt
from controller.games.circle.first_to_act import FIRST_TO_ACT
from controller.games.circle.showdown import CircleShown, compare, open_boards, remembered
from controller.games.circle.state import (
    EARLY_PLACE,
    OUT_PLACE,
    CirclePlace,
    CircleRound,
    CircleSeat,
)
from controller.games.circle.streets import around, places, streets
from controller.games.circle.turn import CircleDealError, CircleTurn
from controller.games.dealt.cards import TableCard, readings
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry
from controller.games.dealt.turn import announced_place
from controller.games.session import count_down
from controller.rulebooks.law import Law

# Phases


def stage(turn: CircleTurn) -> Phase:
    """The phase, regardless of any stop."""
    hand = turn.state.current
    if hand is None:
        return Phase.WAITING if turn.state.open else Phase.CLOSED
    if not hand.closed:
        return Phase.ANTES
    if hand.showdown:
        return Phase.SHOWDOWN
    return Phase.BETTING if hand.open else Phase.DEALING


def lacks(turn: CircleTurn) -> tuple[str, ...]:
    """The requests without a stop: cards to turn, show or discard."""
    hand = turn.state.current
    if hand is None:
        return ()
    found = ["cards.show"] if hand.unread_up else []
    if hand.due and hand.due[0].turn:
        seat = hand.due[0].to.startswith("seat:")
        found += ["hand.act"] if seat else ["cards.turn", "cards.show"]
    if hand.showdown:
        found += ["cards.show", "cards.turn", "hand.act", "round.confirm"]
    return tuple(dict.fromkeys(found))


def player(turn: CircleTurn, who: str | None) -> CircleSeat:
    """A player who still plays for the pot. Raises ``RejectedError`` for anybody else."""
    seat = turn.current.seat(who)
    if seat is None or seat not in turn.current.live:
        raise RejectedError("not_in_the_pot", who=who or "", players=turn.current.live_names)
    return seat


# Which card is due


def belongs(turn: CircleTurn) -> str | None:
    """Where the next card of the street goes."""
    hand = turn.state.current
    place = hand.due[0] if hand is not None and hand.due and not hand.open else None
    return place.to if place is not None and not place.turn else None


def due_first(turn: CircleTurn, who: str, count: int) -> tuple[CirclePlace, ...]:
    """The next ``count`` cards of this hand come before all others. Gives their places."""
    left = list(turn.current.due)
    own = tuple(place for place in left if place.to == who)[:count]
    for place in own:
        left.remove(place)
    turn.change_current(due=(*own, *left))
    return own


def none_due(turn: CircleTurn, who: str) -> None:
    """No further card goes to this hand."""
    turn.change_current(due=tuple(place for place in turn.current.due if place.to != who))


def deal_several(
    turn: CircleTurn, due: tuple[CirclePlace, ...], cards: tuple[str, ...] = ()
) -> None:
    """Deal cards where they are due, the named ones face up, unless the deal takes another
    course.
    """
    named = iter(cards)
    for place in due:
        if turn.state.current is None or turn.current.due[:1] != (place,):
            return
        turn.variant.deal(turn, next(named, None) if place.up else None)


def count_used(turn: CircleTurn, count: int) -> None:
    """Count cards that left the pack."""
    used = turn.current.used
    turn.change_current(used=None if used is None else used + count)


def lose_place(turn: CircleTurn, detail: str | None = None) -> None:
    """Record that cards may have come unseen. If some are due, a person reports how many lie
    where.
    """
    hand = turn.state.current
    if hand is None:
        return
    turn.change_current(used=None)
    if hand.closed and (to := belongs(turn)) is not None:
        turn.change_current(gap=True)
        due = sum(not place.turn for place in hand.due)
        lies = (
            f"{due} cards are due, the next to {to}; cards.deal, cards.burn or cards.show say "
            "first what lies there already"
        )
        doubt(turn, "silence", detail=detail or lies)


def apply(turn: CircleTurn, error: CircleDealError) -> None:
    """Apply the decree's remedy for an error that a person or a device reported."""
    turn.variant.remedies[turn.book.errors[error.name]](turn, error)


# The button and the antes


def move_button(turn: CircleTurn, by: str | None = None) -> None:
    """Move the button to the next taken seat."""
    previous = turn.state.button
    assert previous is not None
    order = around(turn.book, turn.settings, {*turn.state.seated, previous}, previous)
    set_button(
        turn, next(number for number in (*order[1:], previous) if number in turn.state.seated), by
    )


def set_button(turn: CircleTurn, seat: int, by: str | None = None) -> None:
    """Give the button to a seat."""
    turn.change(button=seat)
    turn.emit(ButtonMoved(seat=seat, by=by))


def new_round(turn: CircleTurn, number: int) -> CircleRound:
    """The next round, with all players who do not sit out: the antes are due."""
    button = turn.state.button
    assert button is not None
    order = around(turn.book, turn.settings, turn.state.playing, button)
    if turn.settings.first_card == "next" and order[0] == button:
        order = (*order[1:], button)
    seats = tuple(CircleSeat(number=number) for number in order)
    return CircleRound(round=number, seats=seats, players=len(turn.state.seated))


def close_bets(turn: CircleTurn, by: str | None = None, *, unobserved: bool = False) -> None:
    """Close the antes and begin the deal. Without a command the first card does so; one may
    have come unseen before.
    """
    if by is not None:
        turn.change_current(used=0)
    turn.close_bets(by, unobserved=unobserved)
    turn.variant.next_street(turn)


# Streets and cards


def next_street(turn: CircleTurn) -> None:
    """Begin the next street, or the showdown after the last one."""
    number = turn.current.street + 1
    if number == len(streets(turn.book, turn.settings)):
        show_down(turn)
        return
    turn.change_current(
        street=number, due=turn.variant.coming(turn, number), gap=False, blind=False
    )
    turn.variant.check_shortage(turn)
    if turn.state.current is not None:
        _place_early(turn)
    expect(turn)


def _place_early(turn: CircleTurn) -> None:
    """Deal the cards that came while betting was open where the first cards are due."""
    early = turn.current.early
    turn.change_current(cards=tuple(card for card in turn.current.cards if card.to != EARLY_PLACE))
    for card in early:
        if belongs(turn) is not None:
            turn.variant.deal(turn, card.card, card.reading, counted=True)


def coming(turn: CircleTurn, street: int) -> tuple[CirclePlace, ...]:
    """The places of the cards of a street, in order."""
    return places(streets(turn.book, turn.settings)[street], turn.current.live, turn.current)


def check_shortage(turn: CircleTurn) -> None:
    """Void the round if the deck has too few cards left. Early cards are already counted."""
    hand = turn.current
    coming = sum(not place.turn for place in hand.due) - len(hand.early)
    if hand.used is not None and hand.used + coming > len(turn.pack):
        turn.irregular(
            "cards_lacking",
            detail=f"{len(turn.pack) - hand.used} cards are left, {coming} are needed",
        )
        void(turn, hand.round, "cards_lacking", turn.book.void["cards_lacking"])


def deal(
    turn: CircleTurn,
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
    hand, place = turn.current, turn.current.due[0]
    hidden = not place.up and place.to != "burn"
    believed = (
        None if hand.blind and hidden else turn.variant.believed(turn, card, 0 if counted else 1)
    )
    turn.change_current(due=hand.due[1:])
    count_used(turn, 0 if counted else 1)
    if place.to == "burn":
        add(turn, TableCard(to="burn", card=believed, gone=True))
        turn.emit(CardsBurned(round=hand.round, count=1))
    else:
        lies, index = place.up or exposed, hand.next_index(place.to)
        add(turn, TableCard(to=place.to, up=lies, card=believed, reading=reading))
        turn.emit(
            CardDealt(round=hand.round, to=place.to, index=index, card=believed if lies else None)
        )
        if not lies or believed is None:
            turn.change_seat(place.to, shown=False)
        if lies and unread:
            turn.irregular("card_unread", asks=("cards.show",), detail=f"{place.to} {index}")
    turn.variant.dealt(turn)


def dealt(turn: CircleTurn) -> None:
    """Open betting once all cards of the street are dealt."""
    hand = turn.state.current
    if hand is None or hand.due or hand.open or hand.showdown:
        expect(turn)
        return
    for seat in hand.seats:
        if seat.status == "away":
            collect(turn, seat.who, "absent", turn.book.laws["deal_absent"])
    turn.variant.open_betting(turn)


def add(turn: CircleTurn, *cards: TableCard) -> None:
    """Add cards to the table."""
    turn.change_current(cards=(*turn.current.cards, *cards))


def turn_up(turn: CircleTurn, who: str, index: int, value: str) -> None:
    """Turn a face-down card: it is this one."""
    turn.change_card(who, index, up=True, card=value)
    turn.emit(CardTurned(round=turn.current.round, to=who, index=index, card=value))


def remove_hand(turn: CircleTurn, who: str) -> None:
    """Remove the cards of a hand, or those that came too early, from the table."""
    turn.change_current(
        cards=tuple(
            TableCard(to=OUT_PLACE, card=card.card, gone=True) if card.to == who else card
            for card in turn.current.cards
        )
    )


def collect(turn: CircleTurn, who: str, why: str, law: Law) -> None:
    """Collect the cards of a hand, unseen."""
    if turn.current.cards_of(who):
        remove_hand(turn, who)
        emit_removed(turn, why, law, who)


def remove(turn: CircleTurn, who: str, index: int, why: str, law: Law) -> None:
    """Remove a card, which does not count. It is published if it was face up."""
    card = turn.current.by_index(who)[index]
    turn.change_card(who, index, gone=True)
    emit_removed(turn, why, law, who, card.face)


def emit_removed(
    turn: CircleTurn, why: str, law: Law, to: str | None = None, card: str | None = None
) -> None:
    """Report that a card, or a hand, left the table."""
    number, article = turn.current.round, law.article
    turn.emit(CardRemoved(round=number, why=why, card=card, to=to, law=law.rule, article=article))


# Bets


def open_betting(turn: CircleTurn) -> None:
    """Begin a betting interval, unless at most one player has anything left to bet."""
    if sum(seat.status == "in" for seat in turn.current.live) <= 1:
        turn.variant.next_street(turn)
        return
    number = turn.current.interval + 1
    seats = tuple(replace(seat, raises=0) for seat in turn.current.seats)
    turn.change_current(interval=number, open=True, bet=False, spoken=False, seats=seats)
    call = turn.call("first_interval") if number == 1 else None
    first = first_to_act(turn)
    turn.emit(
        BettingOpened(round=turn.current.round, interval=number, first=first, announcement=call)
    )
    expect(turn)


def first_to_act(turn: CircleTurn) -> str | None:
    """Who acts first in the betting interval."""
    words = turn.book.first_to_act
    rule = FIRST_TO_ACT[words[min(turn.current.interval, len(words)) - 1]]
    return rule(turn.current, turn.book)


def close_betting(turn: CircleTurn, by: str | None = None) -> None:
    """Close the betting interval."""
    turn.change_current(open=False, bets_begun=True)
    turn.emit(BettingClosed(round=turn.current.round, interval=turn.current.interval, by=by))
    turn.variant.next_street(turn)


# The end of a round


def show_down(turn: CircleTurn) -> None:
    """Begin the showdown."""
    turn.change_current(showdown=True, due=())
    turn.settle()


def advance(turn: CircleTurn) -> None:
    """Publish the result once everything that it needs is face up and nothing waits for a
    person.
    """
    hand = turn.state.current
    if hand is None or turn.stop is not None:
        return
    if len(hand.live) == 1 and hand.closed:
        turn.variant.win(turn, hand.live[0].who)
    elif hand.showdown and hand.open_whole:
        result(turn, hand, compare(turn.book, hand))


def win(turn: CircleTurn, who: str, confirmed_by: str | None = None) -> None:
    """Let the last player win without showing: all others folded or do not show."""
    hand = turn.current
    result(turn, hand, CircleShown(open_boards(hand), who, ("no_showdown",)), confirmed_by)


def result(
    turn: CircleTurn,
    round_: CircleRound | DealtEntry,
    shown: CircleShown,
    confirmed_by: str | None = None,
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
    confirmer = confirmed_by or (round_.confirmed_by if isinstance(round_, CircleRound) else None)
    if isinstance(round_, CircleRound):
        turn.change(played=(*turn.state.played, remembered(round_, shown.hands)))
    if turn.number == entry.round:
        turn.variant.noted(turn, entry)
    turn.record(entry)
    turn.emit(
        RoundResult(
            round=round_.round,
            outcome=outcome_of(turn, entry),
            frames=(),
            readings=evidence,
            confirmed_by=confirmer,
        )
    )
    count_down(turn, round_.round)
    expect(turn)


def void(
    turn: CircleTurn, number: int, reason: VoidReason, law: Law, by: Command | None = None
) -> None:
    """Void the round: its cards are collected and it is dealt again."""
    redealt = number == turn.number
    turn.void(number, reason, law, by)
    if redealt:
        turn.change(anew=True)
    expect(turn)


def leave(turn: CircleTurn) -> None:
    """End the round in progress and clear what stopped it."""
    turn.change(current=None, held=(), doubts=())


def outcome_of(_turn: CircleTurn, entry: DealtEntry) -> CirclePokerOutcome:
    """The outcome of a round that has a result."""
    return CirclePokerOutcome(winner=entry.winner, hands=entry.hands, marks=entry.marks)


# Published state


def expect(turn: CircleTurn) -> None:
    """Announce where the next card belongs, if that changed; the last card is called."""
    hand, to = turn.state.current, announced_place(turn)
    if to == turn.state.expected:
        return
    last = hand is not None and hand.street == len(turn.book.streets) - 1 != turn.resumed
    call = turn.call("last_card") if last and turn.state.expected is None else None
    turn.change(expected=to)
    turn.emit(CardExpected(round=turn.number, to=to, announcement=call))
