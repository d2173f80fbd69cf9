"""One step of a table of circle poker: its phase, the fate of a card that comes, and the moves that
readings and commands are made of.

A round goes ``open_bets``, ``close_bets``, then for each street ``next_street``, ``deal`` card by
card, ``open_betting``, ``close_betting``; at last ``show_down`` and the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

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
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry, Held
from controller.games.dealt.turn import Course, DealtTurn, announced_place, lose_late
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


# A card comes


def arrived(turn: CircleTurn, reading: CardDrawn | ShufflerPacket) -> Held | None:
    """The card or packet as a held one; None if no card may come."""
    shut = any(doubt.what == "deal_exposed_in_cut" for doubt in turn.state.doubts)
    none = turn.state.current is None or shut
    if not turn.state.open or (none and not reading.late):
        turn.refuse(reading)
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


def divert(turn: CircleTurn, held: Held) -> bool:
    """Whether it is more or less than the card that is due: betting is open, none is due, a
    packet came, or it may not be the next one. The first card closes the antes.
    """
    if turn.state.current is None:
        return True
    if turn.current.open:
        _premature(turn, held)
        return True
    if not turn.current.closed:
        unseen = turn.current.used is None
        close_bets(turn, unobserved=True)
        if unseen:
            lose_place(turn)  # it need not be the first
    if belongs(turn) is None:
        leave_out(turn, held)
        turn.irregular("card_out_of_round")
        return True
    if held.packet is not None:
        _packet(turn, turn.current.due[0].to, held.packet)
    elif held.given.unsure:
        lose_place(turn, "a reading that is not sure")
    return held.packet is not None or held.given.unsure


def belongs(turn: CircleTurn) -> str | None:
    """Where the next card of the street goes."""
    hand = turn.state.current
    place = hand.due[0] if hand is not None and hand.due and not hand.open else None
    return place.to if place is not None and not place.turn else None


def objection(turn: CircleTurn, held: Held) -> tuple[str, str | None] | None:
    """A device's word turns no card."""
    place = turn.current.due[0]
    wrong = held.given.exposed and not place.up and place.to != "burn"
    return ("deal_exposed", place.to) if wrong else None


def hold(turn: CircleTurn, held: Held, what: str, detail: str | None = None) -> None:
    """The card stops the table: until a person has looked, its reading is no evidence."""
    turn.change(held=(held, *turn.state.held))
    turn.irregular(what, asks=turn.state.asks, detail=detail)
    expect(turn)


def place(
    turn: CircleTurn, drawn: CardDrawn, to: str, *, seen: bool = False, **_packet: int
) -> None:
    """Deal a card."""
    burned = drawn.exposed and not turn.current.due[0].up
    turn.variant.deal(turn, drawn.card, drawn.reading, exposed=seen, unread=drawn.card is None)
    if burned and turn.state.current is not None:
        apply(turn, CircleDealError(name="exposed", who=to))


def _packet(turn: CircleTurn, to: str, size: int) -> None:
    own = sum(place.to == to for place in turn.current.due)
    deal_several(turn, due_first(turn, to, min(size, own)))
    if size > own and turn.state.current is not None:
        apply(turn, CircleDealError(name="too_many", who=to))


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


def _premature(turn: CircleTurn, held: Held) -> None:
    """A card came while betting was open. A common card is replaced if the decree requires it;
    otherwise a person decides.
    """
    hand, remedy = turn.current, turn.book.errors["premature"]
    following = _following(turn)
    if remedy == "replace" and following is not None and following.up and not following.turn:
        why = "premature" if hand.spoken else "extra_common"
        law = turn.book.laws[f"deal_{why}"]
        turn.irregular(f"deal_{why}")
        early_card = turn.variant.believed(turn, held.given.card)
        leave_out(turn, held)
        emit_removed(turn, why, law, following.to, early_card)
        return
    believed, count = turn.variant.believed(turn, held.given.card), held.packet or 1
    count_used(turn, count)
    add(turn, TableCard(to=EARLY_PLACE, card=believed, reading=held.given.reading))
    add(turn, *[TableCard(to=EARLY_PLACE)] * (count - 1))
    if remedy == "burn":
        turn.irregular("deal_premature")
    else:
        doubt(turn, "deal_premature")


def _following(turn: CircleTurn) -> CirclePlace | None:
    """Where the first card of the next street goes."""
    every, number = streets(turn.book, turn.settings), turn.current.street + 1
    if number == len(every):
        return None
    return next(iter(places(every[number], turn.current.live, turn.current)), None)


def leave_out(turn: CircleTurn, held: Held) -> None:
    """Record cards that left the pack and belong nowhere."""
    count_used(turn, held.packet or 1)
    card = held.given.card if held.given.card in turn.pack else None
    add(turn, TableCard(to=OUT_PLACE, card=card, gone=True))


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


# Readers


def believed(turn: CircleTurn, card: str | None, times: int = 1) -> str | None:
    """The card as read; None if it is impossible: not in the pack, or already in the round.

    ``times`` is 0 for a card that is counted among those known already.
    """
    if card is None:
        return None
    if card not in turn.pack:
        doubt(turn, "card_foreign")
        return None
    if turn.current.known.count(card) + times > 1:
        doubt(turn, "card_duplicate")
        return None
    return card


def disbelieve(turn: CircleTurn) -> None:
    """Forget the reader's reports of face-down cards; they are known once shown."""
    cards = tuple(
        card if card.up and not card.gone else replace(card, card=None, reading=None)
        for card in turn.current.cards
    )
    turn.change_current(cards=cards, blind=True)


def mistrust(turn: CircleTurn) -> None:
    """Forget the reader's reports if a card may have gone unseen: it is unknown which hand has
    which card.
    """
    if turn.current.gap:
        disbelieve(turn)


def doubt(
    turn: CircleTurn,
    what: str,
    *,
    who: str | None = None,
    asks: tuple[str, ...] = DECISIONS,
    detail: str | None = None,
) -> None:
    """Stop the table until a person decides; reported once."""
    if not any((doubt.what, doubt.who) == (what, who) for doubt in turn.state.doubts):
        doubt = CircleDoubt(what=what, who=who, asks=asks)
        turn.change(doubts=(*turn.state.doubts, doubt))
        turn.irregular(what, asks=asks, detail=detail or who)


def resolve(turn: CircleTurn, *doubts: CircleDoubt) -> None:
    """Remove these doubts."""
    turn.change(doubts=tuple(doubt for doubt in turn.state.doubts if doubt not in doubts))


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


class CircleVariant(NamedTuple):
    """What differs between the families of variants, besides the course. Each function gets the
    turn first.
    """

    remedies: Mapping[str, Callable[[Any, Any], None]]
    """The remedies for errors of the deal, by the rulebook's name."""
    takes: Mapping[type[Command], Callable[[Any, Any], None]] = MappingProxyType({})
    """The moves of commands that a variant handles in its own way."""
    view: Callable[..., CirclePokerShown] = lambda _, **fields: CirclePokerShown(**fields)
    """The retained state: these fields, and those of the variant."""
    coming: Callable[[Any, int], tuple[CirclePlace, ...]] = coming
    """The places of the cards of a street, in order."""
    next_street: Callable[[Any], None] = next_street
    """Begins the next street, or the showdown after the last one."""
    check_shortage: Callable[[Any], None] = check_shortage
    """Voids the round if the deck has too few cards left."""
    deal: Callable[..., None] = deal
    """Deals a card where the next one is due."""
    dealt: Callable[[Any], None] = dealt
    """Opens betting once all cards of the street are dealt."""
    believed: Callable[..., str | None] = believed
    """The card as read; None if it is impossible."""
    open_betting: Callable[[Any], None] = open_betting
    """Begins a betting interval, unless at most one player has anything left to bet."""
    close_betting: Callable[[Any, str | None], None] = close_betting
    """Closes the betting interval, by this person."""
    win: Callable[..., None] = win
    """Lets the last player win without showing."""
    noted: Callable[[Any, DealtEntry], None] = lambda *_: None
    """Before the result of the round in progress is recorded."""


class CircleTurn(DealtTurn[Circle, CircleSettings, CircleState]):
    """One step of a table of circle poker. Each family of variants supplies its course."""

    variant: ClassVar[CircleVariant]
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

    def change_card(self, who: str, index: int, **fields: Any) -> None:
        """Change a card of the round in progress."""
        cards, place = self.current.cards, self.current.positions(who)[index]
        self.change_current(
            cards=(*cards[:place], replace(cards[place], **fields), *cards[place + 1 :])
        )


def course(advance: Callable[[Any], None]) -> Course:
    """The course of a family of variants."""
    return Course(
        stage=stage,
        belongs=belongs,
        objection=objection,
        faces_up=lambda *_: False,  # each place says it
        advance=advance,
        late=lose_late,
        lose_place=lose_place,
        leave=leave,
        outcome_of=outcome_of,
        max_held=MAX_WAITING_CARDS,
        new_round=new_round,
        lacks=lacks,
        arrived=arrived,
        divert=divert,
        hold=hold,
        place=place,
        expect=expect,
    )
