"""One step of a table of poker against the dealer: the moves by which readings and commands take
effect.

Each move changes the state and publishes its event together, so that they always agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec.structs import replace

from common.contract.commands import CardsShow, VoidReason
from common.contract.events import (
    AnyEvent,
    BetPlaced,
    CardRemoved,
    CardTurned,
    HandDecided,
    JackpotStaked,
)
from common.readings import CardDrawn, ShufflerPacket
from controller.games.dealt.cards import dealt, drop, is_up, place_card, restore, trouble, up
from controller.games.dealt.phases import PHASES, Phase
from controller.games.dealt.state import Held
from controller.games.dealt.turn import Course, DealtTurn, is_stopped, lose_late, stop_with
from controller.games.guards import Refused
from controller.games.house_poker import course
from controller.games.house_poker.course import HousePokerRules
from controller.games.house_poker.discards import bank_discards
from controller.games.house_poker.outcome import outcome
from controller.games.house_poker.settings import HousePokerSettings
from controller.games.house_poker.state import (
    DEALER,
    MAX_WAITING_CARDS,
    HousePokerRound,
    HousePokerSeat,
    HousePokerState,
)
from controller.games.jackpot import out_of_play
from controller.games.poker import moves as poker
from controller.games.poker.correction import PokerOutcome
from controller.games.poker.deal import packet
from controller.games.stakes import cited
from controller.rulebooks.house_poker import HousePoker

MISDEALS: Mapping[str, VoidReason] = {
    "card_foreign": "deck_defective",
    "card_duplicate": "deck_defective",
    "card_exposed": "card_exposed",
    "card_extra": "wrong_count",
    "card_order": "wrong_order",
    "packet_wrong": "wrong_count",
}
"""Device reports of a misdeal, and the void reason of each."""


# Phases, and where cards go


def stage(turn: HousePokerTurn) -> Phase:
    """The phase, regardless of any stop."""
    hand = turn.state.current
    if hand is None:
        return Phase.WAITING if turn.state.open else Phase.CLOSED
    return going(turn) or Phase.SHOWDOWN


def going(turn: HousePokerTurn) -> Phase | None:
    """The phase of the round in progress, cached; None if it waits for nothing."""
    hand = turn.current
    if turn.cached is None or turn.cached[0] is not hand:
        turn.cached = hand, course.stage(turn.rules, hand)
    return turn.cached[1]


def lacks(turn: HousePokerTurn) -> tuple[str, ...]:
    """The requests without a stop: a right deck, a shuffler that is ready, or hands to show."""
    hand, state = turn.state.current, turn.state
    if hand is None:
        return ()
    if not hand.closed and (state.shuffler is not None or state.deck is False):
        return ("deck.check",)
    unknown = course.shows_unknown(turn.rules, hand)
    return ("cards.show", "round.confirm", "round.void") if unknown else ()


def belongs(turn: HousePokerTurn) -> str | None:
    """The hand that gets the next card."""
    return next(iter(course.to_come(turn.rules, turn.current)), None)


def faces_up(turn: HousePokerTurn, to: str) -> bool:
    """Whether the next card of this hand is face up."""
    return course.faces_up(turn.rules, turn.current, to)


def arrived(turn: HousePokerTurn, reading: CardDrawn | ShufflerPacket) -> Held | None:
    """The card or packet as a held one; None without a round."""
    if not turn.state.open or turn.state.current is None:
        turn.refuse(reading)
        return None
    if isinstance(reading, CardDrawn):
        return Held(given=reading)
    return Held(given=_unread(reading), packet=reading.size)


def wait(turn: HousePokerTurn, held: Held) -> None:
    """Make the card wait until a person decides, up to a whole deck."""
    first = bool(turn.state.held) and turn.state.held[0].trouble is not None
    turn.change(held=(*turn.state.held, held)[: MAX_WAITING_CARDS + first])


def divert(turn: HousePokerTurn, held: Held) -> bool:  # noqa: ARG001 - any reason
    """Drop a waiting card whose round was voided meanwhile."""
    return turn.state.current is None


def objection(turn: HousePokerTurn, held: Held) -> tuple[str, str | None] | None:
    """Why this card must not go where the next one belongs."""
    why = PHASES[stage(turn)].card or _wrong(turn, held) or _elsewhere(turn, held.given)
    return None if why is None else (why, None)


def _wrong(turn: HousePokerTurn, held: Held) -> str | None:
    drawn, to_come = held.given, course.to_come(turn.rules, turn.current)
    if held.packet is not None:
        return None if _fits(turn, held.packet, packet(to_come)) else "packet_wrong"
    faced = faces_up(turn, to_come[0])
    if drawn.card is None and faced:
        return "card_unread"
    cards = () if drawn.card is None else (drawn.card,)
    if wrong := trouble(turn.current.cards, cards, turn.rules.deck):
        return wrong
    if drawn.unsure:
        return "card_unsure"
    return "card_exposed" if drawn.exposed and not faced else None


def _fits(turn: HousePokerTurn, size: int, expected_size: int) -> bool:
    """Whether a packet has the expected size. Requested cards may also come one by one."""
    return size == expected_size or (
        0 < size < expected_size and course.is_dealt(turn.rules, turn.current)
    )


def _elsewhere(turn: HousePokerTurn, drawn: CardDrawn) -> str | None:
    claimed = (drawn.to or "").startswith(("box:", DEALER, "burn"))  # it may have its own words
    return "card_order" if claimed and drawn.to != belongs(turn) else None


def hold(turn: HousePokerTurn, held: Held, what: str, detail: str | None = None) -> None:
    """Stop the round with this card; a misdeal may void it at once."""
    reason = MISDEALS.get(what)
    if reason is None or turn.settings.misdeal == "ask":
        stop_with(turn, replace(held, trouble=what), what, detail)
        return
    turn.irregular(what, detail=detail)
    turn.void(turn.number, reason, turn.book.void[reason])


def lose_place(turn: HousePokerTurn) -> None:
    """Ask a person for the dealt cards if one may have come unseen."""
    hand, stopped = turn.state.current, turn.state.stop is not None
    if hand is None or hand.gap:
        return
    if course.to_come(turn.rules, hand) or (stopped and not hand.closed):
        turn.change_current(gap=True)
        if not stopped:
            turn.irregular("silence", asks=turn.state.asks)


# Bets


def stakes(turn: HousePokerTurn, bet: str) -> tuple[int | None, int | None]:
    """The lowest and highest stake of a bet, in minor units; None where no limit is known."""
    minimum = turn.state.minimum
    if minimum is None:
        return None, None
    if bet == "ante":
        return minimum, minimum * turn.rules.limit
    own = turn.book.sides[bet]
    least, expected_size = (part and minimum * part[0] // part[1] for part in (own.least, own.most))
    return least, expected_size


def jackpot_decided(turn: HousePokerTurn) -> bool:
    """Whether the jackpot requires the one stake that the house has fixed and displays."""
    return turn.book.jackpot is not None and turn.book.jackpot.decided


def no_jackpot(turn: HousePokerTurn, amount: int | None) -> Refused | None:
    """The refusal of a jackpot bet of this amount; None if the bet is valid."""
    stake, law = turn.settings.jackpot_stake, cited(turn.book.laws.get("jackpot_stake"))
    if jackpot_decided(turn) and stake is None:
        return Refused("no_jackpot", law=law)
    if amount is None and stake is None:
        return Refused("jackpot_amount_required", law=law)
    if amount is None and stake is not None:
        return Refused("jackpot_stake_required", {"stake": stake}, law=law)
    if amount is not None and stake is not None and amount != stake:
        return Refused("jackpot_stake_wrong", {"amount": amount, "stake": stake}, law=law)
    return None


def bet(
    turn: HousePokerTurn,
    who: str,
    bet: str,
    amount: int | None = None,
    by: str | None = None,
    *,
    withdrawn: bool = False,
) -> None:
    """Place or withdraw a bet."""
    own = {
        name: held for name, held in turn.current.amounts.get(who, {}).items() if name != bet
    } | ({} if withdrawn else {bet: amount})
    turn.change_current(amounts={**turn.current.amounts, who: own})
    if bet == "jackpot":
        others = tuple(player for player in turn.current.slotted if player != who)
        turn.change_current(slotted=(*others, who) if by is None and not withdrawn else others)
        coins = by is None and who in turn.current.marked  # some of them fell out of play
        marked = not withdrawn and (coins or out_of_play(turn.state) is not None)
        unmarked = tuple(player for player in turn.current.marked if player != who)
        turn.change_current(marked=(*unmarked, who) if marked else unmarked)
    turn.emit(
        BetPlaced(
            round=turn.current.round,
            who=who,
            bet=bet,
            withdrawn=withdrawn,
            amount=amount,
            by=by,
            out_of_play=bet == "jackpot" and who in turn.current.marked,
        )
    )


# The course of a round


def place(turn: HousePokerTurn, drawn: CardDrawn, to: str, *, count: int = 1) -> None:
    """Deal a card, or a packet."""
    deal_cards(turn, to, drawn.card, drawn.reading, count)


def deal_cards(
    turn: HousePokerTurn,
    to: str,
    card: str | None = None,
    reading: int | None = None,
    count: int = 1,
) -> None:
    """Deal cards to a hand, face up if the rules require it."""
    for _ in range(count):
        up = faces_up(turn, to)
        turn.put(place_card(turn.current.cards, to, card, up=up, reading=reading))


def decide(
    turn: HousePokerTurn,
    seat: HousePokerSeat,
    decision: Literal["go", "pass", "buy", "discard"],
    by: str,
    count: int | None = None,
) -> None:
    """Record a hand's decision. A hand that folds loses its cards unless a side bet still needs
    them.
    """
    turn.change(current=turn.current.with_seat(seat))
    call = turn.call(decision)
    event = HandDecided(
        round=turn.current.round,
        who=seat.who,
        decision=decision,
        by=by,
        count=count,
        announcement=call,
    )
    turn.emit(event)
    if decision == "pass" and not course.side_bets(turn.rules, turn.current, seat):
        turn.change_current(cards=drop(turn.current.cards, seat.who))


def take_back(
    turn: HousePokerTurn,
    seat: HousePokerSeat,
    decision: Literal["go", "pass", "buy", "discard"],
    by: str,
) -> None:
    """Undo a decision that was sent by mistake; a folded hand gets its cards back."""
    before = {"discard": replace(seat, discards=None), "buy": replace(seat, bought=False)}
    turn.change(current=turn.current.with_seat(before.get(decision, replace(seat, decision=None))))
    if decision == "pass":
        turn.change_current(cards=restore(turn.current.cards, seat.who))
    turn.emit(
        HandDecided(round=turn.current.round, who=seat.who, decision=decision, by=by, valid=False)
    )


# Suspending a round and continuing it


def doubt(
    turn: HousePokerTurn, what: str, *, shown: CardsShow | None = None, detail: str | None = None
) -> None:
    """Suspend the round until a person decides. ``shown``: the command with the contradictory
    cards.
    """
    turn.change(doubt=what, shown=shown)
    turn.irregular(what, asks=turn.state.asks, detail=detail)


def advance(turn: HousePokerTurn) -> None:
    """Make the moves that need no input: the bank's discards, the result."""
    hand = turn.state.current
    if hand is None or turn.state.stop is not None or hand.gap:
        return
    if _bank_discards_now(turn, hand):
        _discard(turn, hand)
    if going(turn) is None:
        settle_bets(turn)


def _bank_discards_now(turn: HousePokerTurn, hand: HousePokerRound) -> bool:
    whole = hand.closed and not course.to_come(turn.rules, hand) and is_up(hand.cards, DEALER)
    return course.to_discard(turn.rules, hand) and whole


def _discard(turn: HousePokerTurn, hand: HousePokerRound) -> None:
    """Discard the bank's cards by its fixed rule."""
    discards = bank_discards(up(hand.cards, DEALER), turn.rules.ranking)
    turn.change_current(cards=drop(hand.cards, DEALER, discards), discards=len(discards))
    turn.emit(HandDecided(round=hand.round, who=DEALER, decision="discard", count=len(discards)))
    for card in discards:
        turn.emit(CardRemoved(round=hand.round, why="discarded", card=card, to=DEALER))


def undo_discards(turn: HousePokerTurn) -> None:
    """Return the bank's discards to its hand, so that the hand can be shown again."""
    hand = turn.current
    turn.change_current(cards=restore(hand.cards, DEALER), discards=None)
    decided = HandDecided(
        round=hand.round, who=DEALER, decision="discard", count=hand.discards, valid=False
    )
    turn.emit(decided)
    for index, card in enumerate(dealt(hand.cards, DEALER), 1):
        if card.gone and card.card is not None:
            turn.emit(CardTurned(round=hand.round, to=DEALER, index=index, card=card.card))


# The outcome of a round


def settle_bets(turn: HousePokerTurn, by: str | None = None) -> None:
    """Settle every bet by the cards that are face up, and end the round."""
    rules, hand = turn.rules, turn.current
    names = [seat.who for seat in hand.seats if course.is_open(rules, hand, seat)]
    lie = {who: up(hand.cards, who) for who in (*names, DEALER)}
    made = outcome(rules, hand, lie, judged=course.plays(rules, hand) is not None)
    poker.result(turn, made, hand, by, _payments(turn, made))


def _payments(turn: HousePokerTurn, made: PokerOutcome) -> tuple[AnyEvent, ...]:
    """The jackpot awards, and the stakes on it."""
    deal, payments = turn.current, made.awards
    if staked := {
        who: own["jackpot"] or 0 for who, own in deal.amounts.items() if "jackpot" in own
    }:
        slots = sum(amount for who, amount in staked.items() if who in deal.slotted)
        total = sum(staked.values())
        return (*payments, JackpotStaked(round=deal.round, amount=total, slots=slots))
    return payments


def leave(turn: HousePokerTurn) -> None:
    """End the round in progress and clear what stopped it."""
    turn.change(current=None, held=(), doubt=None, shown=None)


def _unread(reading: CardDrawn | ShufflerPacket) -> CardDrawn:
    """A packet is a card that no device has read."""
    if isinstance(reading, CardDrawn):
        return reading
    return CardDrawn(
        at=reading.at,
        device=reading.device,
        frame=reading.frame,
        reading=reading.reading,
        card=None,
        to=reading.to,
    )


class HousePokerTurn(DealtTurn[HousePoker, HousePokerSettings, HousePokerState]):
    """One step of a table of poker against the dealer."""

    rules: HousePokerRules
    cached: tuple[HousePokerRound, Phase | None] | None = None
    """The phase of a round, as long as the round does not change."""
    course = Course(
        stage=stage,
        belongs=belongs,
        objection=objection,
        faces_up=faces_up,
        advance=advance,
        late=lose_late,
        lose_place=lose_place,
        leave=leave,
        outcome_of=poker.outcome_of,
        max_held=MAX_WAITING_CARDS,
        new_round=lambda _, number: HousePokerRound(round=number),
        lacks=lacks,
        arrived=arrived,
        holds=is_stopped,
        wait=wait,
        divert=divert,
        hold=hold,
        place=place,
        follow_up=DealtTurn.settle,
    )

    @property
    def current(self) -> HousePokerRound:
        """The round in progress; the caller ensures that there is one."""
        assert self.state.current is not None
        return self.state.current
