"""One step of a table of black jack: the moves that readings and commands consist of.

Each move changes the state and emits its event together, so that the two cannot diverge.
"""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from common.contract.commands import Command, VoidReason
from common.contract.events import (
    BlackjackOutcome,
    CardDealt,
    CardExpected,
    CardRemoved,
    CardsBurned,
    Hand,
    HandDecided,
    Insurance,
    LastRounds,
    LimitChanged,
    RoundResult,
    RoundUnresolved,
    Settled,
)
from common.readings import CardDrawn
from controller.games import shoe, stakes, talla
from controller.games.blackjack import course, jackpot
from controller.games.blackjack.course import BlackjackRules, keys
from controller.games.blackjack.hands import dealer_hands, points
from controller.games.blackjack.settings import BlackjackSettings
from controller.games.blackjack.state import (
    BURN,
    DEALER,
    TABLE,
    BlackjackDeal,
    BlackjackSeat,
    BlackjackState,
    Doubt,
)
from controller.games.dealt.cards import place_card, readings
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry, Held, Stop
from controller.games.dealt.turn import Course, DealtTurn, admit
from controller.games.session import count_down
from controller.rulebooks.blackjack import Blackjack
from controller.rulebooks.law import Law

# Phases, and where cards go


def stage(turn: BlackjackTurn) -> Phase:
    """The phase, regardless of any stop."""
    state = turn.state
    if not state.open:
        return Phase.CLOSED
    if state.shoe is None:
        return Phase.NO_SHOE
    if state.burn:
        return Phase.BURNING
    if state.current is not None:
        return course.stage(turn.rules, state.current)
    return Phase.SHOE_OVER if state.shoe.over else Phase.WAITING


def belongs(turn: BlackjackTurn) -> str | None:
    """Where the next card belongs; None if none may come now."""
    state = turn.state
    if not state.open or state.shoe is None:
        return None
    if state.burn:
        return BURN
    if state.shoe.over and (state.current is None or not state.current.begun):
        return None
    if state.current is None:
        return None if turn.settings.keys else TABLE
    return course.next_card(turn.rules, state.current)


def question(turn: BlackjackTurn) -> str | None:
    """The irregularity that a person must decide; None without one."""
    state = turn.state
    if state.doubt is not None:
        return state.doubt
    over = state.shoe is not None and state.shoe.over
    if over and state.current is not None and not state.current.begun:
        return "shoe_over"
    if not state.held:
        return None
    trouble = state.held[0].trouble
    if trouble is not None and (
        trouble == "card_exposed" or not state.burn
    ):  # burn cards are unseen if face down
        return trouble
    if belongs(turn) is not None:
        return None
    if over and state.current is None:
        return "shoe_over"
    return "card_before_decision" if state.current and state.current.begun else "card_out_of_round"


def stop(turn: BlackjackTurn) -> Stop | None:
    """The stop of the table. The course decides whether a held card stops it."""
    what, deal = question(turn), turn.state.current
    void = ("round.void",) if deal else ()
    if what is None:
        return None
    if what == "hands_too_few":
        return Stop(what, ("boxes.set", "round.confirm"))
    if what == "card_out_of_round":
        return Stop(what, ("boxes.set", "card.decide", *void))
    if what == "card_before_decision" and deal and course.turn(turn.rules, deal):
        return Stop(what, (*keys(turn.rules), "card.decide", *void))
    return Stop(what, ("card.decide", *void))


def holds(turn: BlackjackTurn) -> bool:
    """True while the table is stopped or a card waits: a card that comes waits."""
    return bool(turn.state.held) or turn.stop is not None


def arrived(turn: BlackjackTurn, drawn: CardDrawn) -> Held | None:
    """Count a card that left the shoe. None if it goes to no hand."""
    state = turn.state
    if not state.open:
        return admit(turn, drawn)
    if state.shoe is None:
        talla.missing(turn, drawn)
        return None
    counted, trouble = shoe.draw(state.shoe, drawn.card)
    turn.change(shoe=counted)
    why: str | None = trouble or (
        "silence" if drawn.late else "card_unsure" if drawn.unsure else None
    )
    burned = state.burn > 0 and not state.doubt
    if drawn.exposed and why is None:
        # One that is burned or waits is unseen, and not disclosed on a device's word.
        if not (state.burn or holds(turn)) and belongs(turn) is not None:
            remove_card(turn, "card_exposed", drawn.card)
            return None
        why = "card_exposed"
    if burned and trouble not in (None, "card_unread"):
        turn.irregular(str(trouble))  # the burn card itself stays unknown
    if burned and not (drawn.exposed or state.held):
        place(turn, drawn, BURN)
        return None
    return Held(given=drawn, trouble="card_exposed" if burned and drawn.exposed else why)


def objection(_turn: BlackjackTurn, held: Held) -> tuple[str, str | None] | None:
    """The card's own trouble."""
    return None if held.trouble is None else (held.trouble, None)


def wait(turn: BlackjackTurn, held: Held) -> None:
    """Make the card wait; there is no limit."""
    turn.change(held=(*turn.state.held, held))


def hold(turn: BlackjackTurn, held: Held, what: str, detail: str | None = None) -> None:  # noqa: ARG001
    """Stop the table with this card; the stop is published once nothing else follows."""
    wait(turn, held)


def lose_place(turn: BlackjackTurn, what: Doubt = "silence") -> None:
    """Record that cards may have come unseen; a person knows what is on the table."""
    state = turn.state
    if state.shoe is None:
        return
    turn.change(shoe=shoe.lose_count(state.shoe))
    burning = state.burn > 0 and state.burn != turn.book.shoe.burn
    doubtful = state.current is not None or state.held or burning or what == "shoe_reset"
    if doubtful and state.doubt != "hands_too_few":
        turn.change(doubt=what)


# The course of a round


def allow_highest(turn: BlackjackTurn, minimum: int) -> None:
    """Reject a minimum of which the highest bets are not multiples that the decree allows."""
    lawful, law = bands(turn.book, turn.settings), turn.book.laws.get("bet_limit")
    stakes.require_lawful(turn.settings.highest, lawful, minimum, law)


def open_bets(turn: BlackjackTurn, by: str | None = None, *, relaunch: bool = False) -> None:
    """Begin a round. A silent device may hide cards of it."""
    turn.open_bets(by, relaunch=relaunch)
    turn.change(doubt="silence" if turn.state.silent else None)


def advance(turn: BlackjackTurn) -> None:
    """Proceed as far as the rules require."""
    while True:
        state = turn.state
        if (
            state.current
            and state.doubt != "hands_too_few"
            and course.is_over(turn.rules, state.current)
        ):
            conclude(turn)
        elif state.held and question(turn) is None and (to := belongs(turn)) is not None:
            turn.change(held=state.held[1:])
            place(turn, state.held[0].given, to)
        else:
            return


def expect(turn: BlackjackTurn) -> None:
    """Announce the open question, and after each card where the next one belongs."""
    stop, now = turn.stop, turn.state.shoe
    what = stop.what if stop else None
    about = (
        f"{what} {now.drawn - len(turn.state.held)}"
        if now and turn.state.held and not turn.state.doubt
        else what
    )
    if about != turn.state.asked:
        turn.change(asked=about)
        if stop is not None:
            turn.irregular(stop.what, asks=stop.asks)
    to = belongs(turn)
    if to != turn.state.expected or turn.changed_since:
        turn.change(expected=to)
        turn.emit(CardExpected(round=turn.number, to=to))


def place(turn: BlackjackTurn, drawn: CardDrawn, to: str, **_how: bool | int) -> None:
    """Put the card face up where it belongs, or burn it unseen."""
    if to == BURN:
        turn.change(burn=turn.state.burn - 1)
        if turn.state.burn == 0:
            assert isinstance(turn.book.shoe.burn, int)
            turn.emit(CardsBurned(count=turn.book.shoe.burn))
        return
    card, deal, turn.changed_since = drawn.card, turn.state.current, True
    assert card is not None
    if deal is None:  # the beginning of a round is not reported
        assert turn.state.shoe is not None
        turn.emit(CardDealt(to=TABLE, index=turn.state.shoe.drawn, card=card))
        return
    if not deal.closed:
        turn.close_bets()
    if deal.insurance and not (to in (DEALER, TABLE) and not deal.dealer):
        turn.change_current(insurance=False)
        turn.emit(Insurance(round=deal.round, offered=False))
    if deal.play > 1 and len(deal.dealer) == 1:
        turn.change(round=deal.round)
    turn.change_current(latest=to)
    turn.put(place_card(deal.cards, to, card, up=True, reading=drawn.reading))
    if (seat := deal.seat(to)) is not None:
        change_hand(turn, replace(seat, asked=False))
    _after(turn, to)


def change_hand(turn: BlackjackTurn, seat: BlackjackSeat) -> None:
    """Change a hand of the round in progress."""
    assert turn.state.current is not None
    turn.change(current=turn.state.current.with_seat(seat))


def _after(turn: BlackjackTurn, to: str) -> None:
    """Make the moves that the rules require after a card."""
    deal = turn.state.current
    assert deal is not None
    seat = deal.seat(to)
    if seat is not None and len(seat.cards) > 1 and course.closed(turn.rules, seat):
        total = course.worth(turn.rules, seat)
        decision: Literal["natural", "bust", "stand"] = (
            "natural" if course.natural(seat) else "bust" if total > 21 else "stand"
        )
        turn.emit(HandDecided(round=deal.round, who=to, decision=decision))
    if deal.insurance is None and deal.first_deal and deal.dealer[0][0] == "A" and deal.play == 1:
        turn.change_current(insurance=True)
        turn.emit(Insurance(round=deal.round, offered=True))


def take_back(turn: BlackjackTurn, who: str) -> str:
    """Take back the latest card of a hand. If it was requested, another is due."""
    deal = turn.state.current
    assert deal is not None
    at = max(at for at, card in enumerate(deal.cards) if card.to == who)
    latest, seat = deal.cards[at], deal.seat(who)
    nowhere = replace(latest, to="", gone=True)
    turn.change_current(latest=None, cards=(*deal.cards[:at], nowhere, *deal.cards[at + 1 :]))
    assert latest.card is not None
    if seat is None:
        return latest.card
    if deal.insurance:  # it is offered again when the hand has its two cards
        turn.change_current(insurance=None)
        turn.emit(Insurance(round=deal.round, offered=False))
    requested = len(seat.cards) > 2 and not seat.doubled
    change_hand(turn, replace(seat, asked=requested, even_money=False))
    return latest.card


# Its outcome: a result, void, or unresolved


def conclude(turn: BlackjackTurn) -> None:
    """End the round. In a game of several plays the dealer keeps his first card for the
    next.
    """
    deal = turn.state.current
    assert deal is not None
    if deal.insurance:
        turn.change_current(insurance=False)
        turn.emit(Insurance(round=deal.round, offered=False))
        deal = replace(deal, insurance=False)
    _result(
        turn,
        deal,
        course.hands(turn.rules, deal),
        course.marks(turn.rules, deal),
        course.side_bets(turn.rules, deal),
    )
    for event in jackpot.jackpot_events(turn.rules, deal):
        turn.emit(event)
    if deal.play < turn.book.plays and any(course.remains(turn.rules, seat) for seat in deal.seats):
        seats = tuple(replace(seat, even_money=False) for seat in deal.hands)
        number, play = deal.round + 1, deal.play + 1
        first = next(card for card in deal.cards if card.to == DEALER)
        cards = tuple(
            card for card in deal.cards if not card.gone and (card.to != DEALER or card is first)
        )
        turn.change(
            current=replace(deal, round=number, hands=seats, cards=cards, play=play, latest=None)
        )


def conclude_unkeyed(turn: BlackjackTurn) -> None:
    """End a round whose decisions were not reported: the dealer's hand is published if his rule
    leaves only one.
    """
    deal = turn.state.current
    assert deal is not None
    found: tuple[tuple[str, ...], ...] = ()
    if (
        deal.seats
        and deal.dealer
        and turn.book.plays == 1
        and turn.state.doubt is None
        and not turn.state.held
    ):
        alone = turn.settings.dealer_alone == "stops" and not any(
            points(seat.cards) == 21 for seat in deal.seats
        )
        found = dealer_hands(deal.dealer[0], deal.unplaced, alone=alone)
    if len(found) == 1:
        _result(turn, deal, (course.dealer_hand(found[0]),), ("hands_unknown",))
    else:
        unresolved(turn, "undecided")


def _result(
    turn: BlackjackTurn,
    deal: BlackjackDeal,
    hands: tuple[Hand, ...],
    marks: tuple[str, ...],
    bets: tuple[Settled, ...] = (),
) -> None:
    entry = DealtEntry(round=deal.round, kind="result", hands=hands, marks=marks)
    turn.emit(
        RoundResult(
            round=deal.round,
            outcome=outcome_of(turn, entry),
            bets=bets,
            frames=(),
            readings=readings(deal.cards),
            confirmed_by=deal.confirmed_by,
        )
    )
    turn.record(entry)
    _count_down(turn, deal.round)


def outcome_of(_turn: BlackjackTurn, entry: DealtEntry) -> BlackjackOutcome:
    """The outcome of a round that has a result."""
    return BlackjackOutcome(hands=entry.hands, marks=entry.marks)


def void(
    turn: BlackjackTurn, number: int, reason: VoidReason, law: Law, by: Command | None = None
) -> None:
    """Void the round; it may be the last of the shoe."""
    turn.emit_void(number, reason, law, by)
    turn.record(DealtEntry(round=number, kind="void", reason=reason, article=law.article))


def unresolved(turn: BlackjackTurn, why: Literal["silence", "undecided"]) -> None:
    """Leave the result open: it is unknown, and is not invented."""
    deal = turn.state.current
    assert deal is not None
    evidence = readings(deal.cards)
    turn.emit(RoundUnresolved(round=deal.round, why=why, candidate=None, readings=evidence))
    turn.record(DealtEntry(round=deal.round, kind="unresolved"))


def leave(turn: BlackjackTurn) -> None:
    """End the round in progress; waiting cards may belong to the next one."""
    state, deal = turn.state, turn.state.current
    if deal is not None and deal.last:
        end_talla(turn)
    doubt: Doubt | None = "silence" if state.silent and state.doubt else None
    turn.change(round=max(state.round, turn.number), current=None, doubt=doubt)


def end_talla(turn: BlackjackTurn) -> None:
    """End the shoe after its last round."""
    now = turn.state.shoe
    if now is not None and not now.over:
        turn.change(shoe=replace(now, over=True))
        turn.emit(shoe.ended(now, "cut"))
        count_shoe(turn)


def count_shoe(turn: BlackjackTurn) -> None:
    """Count the announced last shoe as over."""
    if turn.state.last_shoe == 1:
        turn.change(last_shoe=0)
        turn.emit(LastRounds(round=turn.state.round, purpose="close", left=0))


def _count_down(turn: BlackjackTurn, number: int) -> None:
    """Count down the announced last rounds; after the last of them the new minimum holds."""
    count_down(turn, number)
    state = turn.state
    if state.limit and state.limit.left is not None:
        left = state.limit.left - 1
        turn.change(limit=replace(state.limit, left=left))
        turn.emit(LastRounds(round=number, purpose="limit", left=left))
        if left == 0:
            change_limit(turn)


def change_limit(turn: BlackjackTurn) -> None:
    """Apply the announced minimum."""
    state = turn.state
    if state.limit is not None:
        turn.change(minimum=state.limit.minimum, limit=None)
        turn.emit(
            LimitChanged(minimum=state.limit.minimum, was=state.minimum, currency=state.currency)
        )


# Irregularities


def remove_card(turn: BlackjackTurn, why: str, card: str | None) -> None:
    """Remove a card that was never dealt to a hand."""
    law = turn.book.laws[why]
    turn.emit(CardRemoved(round=turn.number, why=why, card=card, law=law.rule, article=law.article))


def bands(book: Blackjack, settings: BlackjackSettings) -> dict[str, stakes.Band]:
    """The highest bets that the decree allows on a hand, and on its pairs if they are offered."""
    hands = stakes.Band(book.limits, raised=book.limits_raised)
    if not settings.pair_bets:
        return {"hands": hands}
    return {"hands": hands, "pairs": stakes.Band(book.side_bet_limits["pairs_most"])}


class BlackjackTurn(DealtTurn[Blackjack, BlackjackSettings, BlackjackState]):
    """One step of a table of black jack."""

    rules: BlackjackRules
    changed_since = False
    """True if the next place is announced again though it is unchanged."""
    course = Course(
        stage=stage,
        belongs=belongs,
        objection=objection,
        faces_up=lambda *_: True,
        advance=advance,
        late=wait,
        lose_place=lose_place,
        leave=leave,
        outcome_of=outcome_of,
        allow_highest=allow_highest,
        new_round=lambda _, number: BlackjackDeal(round=number),
        stop=stop,
        arrived=arrived,
        holds=holds,
        wait=wait,
        hold=hold,
        place=place,
        expect=expect,
        follow_up=DealtTurn.settle,
    )

    @property
    def current(self) -> BlackjackDeal:
        """The round in progress; the caller ensures that there is one."""
        assert self.state.current is not None
        return self.state.current
