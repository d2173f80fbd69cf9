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
    BetPlaced,
    CardRemoved,
    CardTurned,
    HandDecided,
    JackpotStaked,
)
from common.contract.refusals import RejectedError
from common.readings import CardDrawn, ShufflerPacket
from controller.games.dealt.cards import dealt, drop, is_up, place_card, restore, trouble, up
from controller.games.dealt.phases import PHASES, Phase
from controller.games.dealt.state import Held
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
from controller.games.poker.correction import PokerOutcome
from controller.games.poker.deal import packet
from controller.games.poker.turn import AgainstBankTurn
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


class HousePokerTurn(AgainstBankTurn[HousePoker, HousePokerSettings, HousePokerState]):
    """One step of a table of poker against the dealer."""

    round_type = HousePokerRound
    max_held = MAX_WAITING_CARDS
    _going: tuple[HousePokerRound, Phase | None] | None = None

    def __init__(self, rules: HousePokerRules, state: HousePokerState) -> None:
        super().__init__(rules.book, rules.settings, state)
        self.rules = rules

    @property
    def current(self) -> HousePokerRound:
        """The round in progress; the caller ensures that there is one."""
        assert self.state.current is not None
        return self.state.current

    # Phases, and where cards go

    def stage(self) -> Phase:
        """The phase, regardless of any stop."""
        hand = self.state.current
        if hand is None:
            return Phase.WAITING if self.state.open else Phase.CLOSED
        return self.going() or Phase.SHOWDOWN

    def going(self) -> Phase | None:
        """The phase of the round in progress, cached; None if it waits for nothing."""
        hand = self.current
        if self._going is None or self._going[0] is not hand:
            self._going = hand, course.stage(self.rules, hand)
        return self._going[1]

    def lacks(self) -> tuple[str, ...]:
        """The requests without a stop: a right deck, a shuffler that is ready, or hands to show."""
        hand, state = self.state.current, self.state
        if hand is None:
            return ()
        if not hand.closed and (state.shuffler is not None or state.deck is False):
            return ("deck.check",)
        unknown = course.shows_unknown(self.rules, hand)
        return ("cards.show", "round.confirm", "round.void") if unknown else ()

    def belongs(self) -> str | None:
        """The hand that gets the next card."""
        return next(iter(course.to_come(self.rules, self.current)), None)

    def faces_up(self, to: str) -> bool:
        """Whether the next card of this hand is face up."""
        return course.faces_up(self.rules, self.current, to)

    def arrived(self, reading: CardDrawn | ShufflerPacket) -> Held | None:
        """The card or packet as a held one; None without a round."""
        if not self.state.open or self.state.current is None:
            self.refuse(reading)
            return None
        if isinstance(reading, CardDrawn):
            return Held(given=reading)
        return Held(given=_unread(reading), packet=reading.size)

    @property
    def holds(self) -> bool:
        """True while the round is stopped: a card that comes waits."""
        return self.state.stop is not None

    def wait(self, held: Held) -> None:
        """Make the card wait until a person decides, up to a whole deck."""
        first = bool(self.state.held) and self.state.held[0].trouble is not None
        self.change(held=(*self.state.held, held)[: self.max_held + first])

    def divert(self, held: Held) -> bool:  # noqa: ARG002 - any reason
        """Drop a waiting card whose round was voided meanwhile."""
        return self.state.current is None

    def objection(self, held: Held) -> tuple[str, str | None] | None:
        """Why this card must not go where the next one belongs."""
        why = PHASES[self.stage()].card or self._wrong(held) or self._elsewhere(held.given)
        return None if why is None else (why, None)

    def _wrong(self, held: Held) -> str | None:
        drawn, to_come = held.given, course.to_come(self.rules, self.current)
        if held.packet is not None:
            return None if self._fits(held.packet, packet(to_come)) else "packet_wrong"
        faced = self.faces_up(to_come[0])
        if drawn.card is None and faced:
            return "card_unread"
        cards = () if drawn.card is None else (drawn.card,)
        if wrong := trouble(self.current.cards, cards, self.rules.deck):
            return wrong
        if drawn.unsure:
            return "card_unsure"
        return "card_exposed" if drawn.exposed and not faced else None

    def _fits(self, size: int, expected_size: int) -> bool:
        """Whether a packet has the expected size. Requested cards may also come one by one."""
        return size == expected_size or (
            0 < size < expected_size and course.is_dealt(self.rules, self.current)
        )

    def _elsewhere(self, drawn: CardDrawn) -> str | None:
        claimed = (drawn.to or "").startswith(("box:", DEALER, "burn"))  # it may have its own words
        return "card_order" if claimed and drawn.to != self.belongs() else None

    def hold(self, held: Held, what: str, detail: str | None = None) -> None:
        """Stop the round with this card; a misdeal may void it at once."""
        reason = MISDEALS.get(what)
        if reason is None or self.settings.misdeal == "ask":
            super().hold(replace(held, trouble=what), what, detail)
            return
        self.irregular(what, detail=detail)
        self.void(self.number, reason, self.book.void[reason])

    def late(self, held: Held) -> None:  # noqa: ARG002 - it reports only that a card came unseen
        """Never act upon a card that came in a silence; a card may be missing."""
        self.lose_place()

    def lose_place(self) -> None:
        """Ask a person for the dealt cards if one may have come unseen."""
        hand, stopped = self.state.current, self.state.stop is not None
        if hand is None or hand.gap:
            return
        if course.to_come(self.rules, hand) or (stopped and not hand.closed):
            self.change_current(gap=True)
            if not stopped:
                self.irregular("silence", asks=self.state.asks)

    # Bets

    def stakes(self, bet: str) -> tuple[int | None, int | None]:
        """The lowest and highest stake of a bet, in minor units; None where no limit is known."""
        minimum = self.state.minimum
        if minimum is None:
            return None, None
        if bet == "ante":
            return minimum, minimum * self.rules.limit
        own = self.book.sides[bet]
        least, expected_size = (
            part and minimum * part[0] // part[1] for part in (own.least, own.most)
        )
        return least, expected_size

    @property
    def jackpot_decided(self) -> bool:
        """Whether the jackpot requires the one stake that the house has fixed and displays."""
        return self.book.jackpot is not None and self.book.jackpot.decided

    def no_jackpot(self, amount: int | None) -> RejectedError | None:
        """The refusal of a jackpot bet of this amount; None if the bet is valid."""
        stake, law = self.settings.jackpot_stake, cited(self.book.laws.get("jackpot_stake"))
        if self.jackpot_decided and stake is None:
            return RejectedError("no_jackpot", law=law)
        if amount is None and stake is None:
            return RejectedError("jackpot_amount_required", law=law)
        if amount is None and stake is not None:
            return RejectedError("jackpot_stake_required", stake=stake, law=law)
        if amount is not None and stake is not None and amount != stake:
            return RejectedError("jackpot_stake_wrong", amount=amount, stake=stake, law=law)
        return None

    def bet(
        self,
        who: str,
        bet: str,
        amount: int | None = None,
        by: str | None = None,
        *,
        withdrawn: bool = False,
    ) -> None:
        """Place or withdraw a bet."""
        own = {
            name: held for name, held in self.current.amounts.get(who, {}).items() if name != bet
        } | ({} if withdrawn else {bet: amount})
        self.change_current(amounts={**self.current.amounts, who: own})
        if bet == "jackpot":
            others = tuple(player for player in self.current.slotted if player != who)
            self.change_current(slotted=(*others, who) if by is None and not withdrawn else others)
            coins = by is None and who in self.current.marked  # some of them fell out of play
            marked = not withdrawn and (coins or out_of_play(self.state) is not None)
            unmarked = tuple(player for player in self.current.marked if player != who)
            self.change_current(marked=(*unmarked, who) if marked else unmarked)
        self.emit(
            BetPlaced(
                round=self.current.round,
                who=who,
                bet=bet,
                withdrawn=withdrawn,
                amount=amount,
                by=by,
                out_of_play=bet == "jackpot" and who in self.current.marked,
            )
        )

    # The course of a round

    def place(self, drawn: CardDrawn, to: str, *, seen: bool = False, count: int = 1) -> None:  # noqa: ARG002 - the rules say it
        """Deal a card, or a packet."""
        self.place_card(to, drawn.card, drawn.reading, count)

    def place_card(
        self, to: str, card: str | None = None, reading: int | None = None, count: int = 1
    ) -> None:
        """Deal cards to a hand, face up if the rules require it."""
        for _ in range(count):
            up = self.faces_up(to)
            self.put(place_card(self.current.cards, to, card, up=up, reading=reading))

    def decide(
        self,
        seat: HousePokerSeat,
        decision: Literal["go", "pass", "buy", "discard"],
        by: str,
        count: int | None = None,
    ) -> None:
        """Record a hand's decision. A hand that folds loses its cards unless a side bet still needs
        them.
        """
        self.change(current=self.current.with_seat(seat))
        call = self.call(decision)
        event = HandDecided(
            round=self.current.round,
            who=seat.who,
            decision=decision,
            by=by,
            count=count,
            announcement=call,
        )
        self.emit(event)
        if decision == "pass" and not course.side_bets(self.rules, self.current, seat):
            self.change_current(cards=drop(self.current.cards, seat.who))

    def take_back(
        self, seat: HousePokerSeat, decision: Literal["go", "pass", "buy", "discard"], by: str
    ) -> None:
        """Undo a decision that was sent by mistake; a folded hand gets its cards back."""
        before = {"discard": replace(seat, discards=None), "buy": replace(seat, bought=False)}
        self.change(
            current=self.current.with_seat(before.get(decision, replace(seat, decision=None)))
        )
        if decision == "pass":
            self.change_current(cards=restore(self.current.cards, seat.who))
        self.emit(
            HandDecided(
                round=self.current.round, who=seat.who, decision=decision, by=by, valid=False
            )
        )

    # Suspending a round and continuing it

    def doubt(
        self, what: str, *, shown: CardsShow | None = None, detail: str | None = None
    ) -> None:
        """Suspend the round until a person decides. ``shown``: the command with the contradictory
        cards.
        """
        self.change(doubt=what, shown=shown)
        self.irregular(what, asks=self.state.asks, detail=detail)

    def advance(self) -> None:
        """Make the moves that need no input: the bank's discards, the result."""
        hand = self.state.current
        if hand is None or self.state.stop is not None or hand.gap:
            return
        if self._bank_discards_now(hand):
            self._discard(hand)
        if self.going() is None:
            self.settle_bets()

    def follow_up(self) -> None:
        """Make the moves that follow from an input."""
        self.settle()

    def _bank_discards_now(self, hand: HousePokerRound) -> bool:
        whole = hand.closed and not course.to_come(self.rules, hand) and is_up(hand.cards, DEALER)
        return course.to_discard(self.rules, hand) and whole

    def _discard(self, hand: HousePokerRound) -> None:
        """Discard the bank's cards by its fixed rule."""
        discards = bank_discards(up(hand.cards, DEALER), self.rules.ranking)
        self.change_current(cards=drop(hand.cards, DEALER, discards), discards=len(discards))
        self.emit(
            HandDecided(round=hand.round, who=DEALER, decision="discard", count=len(discards))
        )
        for card in discards:
            self.emit(CardRemoved(round=hand.round, why="discarded", card=card, to=DEALER))

    def undo_discards(self) -> None:
        """Return the bank's discards to its hand, so that the hand can be shown again."""
        hand = self.current
        self.change_current(cards=restore(hand.cards, DEALER), discards=None)
        decided = HandDecided(
            round=hand.round, who=DEALER, decision="discard", count=hand.discards, valid=False
        )
        self.emit(decided)
        for index, card in enumerate(dealt(hand.cards, DEALER), 1):
            if card.gone and card.card is not None:
                self.emit(CardTurned(round=hand.round, to=DEALER, index=index, card=card.card))

    # The outcome of a round

    def settle_bets(self, by: str | None = None) -> None:
        """Settle every bet by the cards that are face up, and end the round."""
        rules, hand = self.rules, self.current
        names = [seat.who for seat in hand.seats if course.is_open(rules, hand, seat)]
        lie = {who: up(hand.cards, who) for who in (*names, DEALER)}
        self.result(outcome(rules, hand, lie, judged=course.plays(rules, hand) is not None), by)

    def emit_payments(self, made: PokerOutcome) -> None:
        """Report the jackpot awards, and the stakes on it."""
        deal = self.current
        for award in made.awards:
            self.emit(award)
        if staked := {
            who: own["jackpot"] or 0 for who, own in deal.amounts.items() if "jackpot" in own
        }:
            slots = sum(amount for who, amount in staked.items() if who in deal.slotted)
            self.emit(JackpotStaked(round=deal.round, amount=sum(staked.values()), slots=slots))

    def leave(self) -> None:
        """End the round in progress and clear what stopped it."""
        self.change(current=None, held=(), doubt=None, shown=None)


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
