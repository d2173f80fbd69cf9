"""One step of a table of poker against the dealer: the moves by which readings and commands take
effect.

Each move changes the state and publishes its event together, so that they always agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec.structs import replace

from controller.contract.commands import CardsShow, Command, VoidReason
from controller.contract.events import (
    BetPlaced,
    BetsClosed,
    CardDealt,
    CardExpected,
    CardRemoved,
    CardTurned,
    Frame,
    Hand,
    HandDecided,
    JackpotStaked,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
)
from controller.contract.refusals import RejectedError
from controller.games.dealt.cards import (
    Table,
    dealt,
    drop,
    frames,
    is_up,
    laid_down,
    place_card,
    seen,
    take_up,
    turned,
    up,
)
from controller.games.dealt.state import Entry
from controller.games.house_poker import course
from controller.games.house_poker.course import HousePokerRules
from controller.games.house_poker.discards import bank_discards
from controller.games.house_poker.outcome import outcome
from controller.games.house_poker.settings import HousePokerSettings
from controller.games.house_poker.state import (
    DEALER,
    HousePokerRound,
    HousePokerSeat,
    HousePokerState,
    HousePokerStop,
)
from controller.games.poker.moves import PokerMoves
from controller.games.stakes import cited
from controller.rulebooks.house_poker import HousePoker
from controller.rulebooks.law import Law
from devices.readings import CardDrawn, ShufflerPacket

MISDEALS: Mapping[str, VoidReason] = {
    "card_foreign": "deck_defective",
    "card_duplicate": "deck_defective",
    "card_exposed": "card_exposed",
    "card_extra": "wrong_count",
    "card_order": "wrong_order",
    "packet_wrong": "wrong_count",
}
"""Device reports of a misdeal, and the void reason of each."""
ASKS: Mapping[str, tuple[str, ...]] = {
    "card_before_close": ("bets.close", "card.decide", "round.void"),
    "silence": ("cards.deal", "card.decide", "round.void"),
    "shown": ("cards.show", "card.decide", "round.void"),
}
"""The commands each stop waits for; other stops wait for ``card.decide`` or ``round.void``."""


class HousePokerTurn(PokerMoves[HousePoker, HousePokerSettings, HousePokerState]):
    """One step of a table of poker against the dealer."""

    def __init__(self, rules: HousePokerRules, state: HousePokerState) -> None:
        super().__init__(rules.book, rules.settings, state)
        self.rules = rules

    @property
    def current(self) -> HousePokerRound:
        """The round in progress. Raises ``RejectedError`` if there is none."""
        if self.state.current is None:
            raise RejectedError("no_round_in_progress")
        return self.state.current

    @property
    def number(self) -> int:
        """The number of the round in progress; 0 if there is none."""
        return self.state.current.round if self.state.current else 0

    def change_current(self, **fields: Any) -> None:
        """Replace these fields of the round in progress."""
        self.change(current=replace(self.current, **fields))

    def call(self, name: str) -> dict[str, str] | None:
        """The decree's wording of this call; None if it gives none."""
        return self.book.announcements.get(name)

    def stakes(self, bet: str) -> tuple[int | None, int | None]:
        """The lowest and highest stake of a bet, in minor units; None where no limit is known."""
        minimum = self.state.minimum
        if minimum is None:
            return None, None
        if bet == "ante":
            return minimum, minimum * self.rules.limit
        own = self.book.sides[bet]
        least, most = (part and minimum * part[0] // part[1] for part in (own.least, own.most))
        return least, most

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

    # The course of a round

    def open_bets(self, by: str) -> None:
        """Open bets for the next round."""
        number = self.state.round + 1
        self.change(round=number, current=HousePokerRound(round=number))
        self.say(RoundOpened(round=number, by=by, announcement=self.call("bets_open")))

    def close_bets(self, by: str) -> None:
        """Close bets; cards may be dealt from now on."""
        self.change_current(closed=True)
        self.say(BetsClosed(round=self.current.round, by=by, announcement=self.call("bets_closed")))

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
            name: held for name, held in self.current.bets.get(who, {}).items() if name != bet
        } | ({} if withdrawn else {bet: amount})
        self.change_current(bets={**self.current.bets, who: own})
        if bet == "jackpot":
            others = tuple(each for each in self.current.slotted if each != who)
            self.change_current(slotted=(*others, who) if by is None and not withdrawn else others)
        self.say(
            BetPlaced(
                round=self.current.round,
                who=who,
                bet=bet,
                withdrawn=withdrawn,
                amount=amount,
                by=by,
            )
        )

    def place_card(
        self, to: str, card: str | None = None, frame: Frame | None = None, count: int = 1
    ) -> None:
        """Deal cards to a hand, face up where the rules say so."""
        for _ in range(count):
            faced = course.faces_up(self.rules, self.current, to)
            self.put(place_card(self.current.cards, to, card, up=faced, frame=frame))

    def put(self, after: Table) -> None:
        """Replace the cards on the table, and publish those dealt and those turned face up."""
        before = self.current.cards
        self.change_current(cards=after)
        said: list[CardDealt | CardTurned] = [*laid_down(before, after), *turned(before, after)]
        for event in said:
            self.say(replace(event, round=self.current.round))

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
        said = HandDecided(
            round=self.current.round,
            who=seat.who,
            decision=decision,
            by=by,
            count=count,
            announcement=call,
        )
        self.say(said)
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
            self.change_current(cards=take_up(self.current.cards, seat.who))
        self.say(
            HandDecided(
                round=self.current.round, who=seat.who, decision=decision, by=by, valid=False
            )
        )

    # Suspending a round and continuing it

    def stop(
        self,
        what: str,
        given: CardDrawn | ShufflerPacket | CardsShow | None = None,
        detail: str | None = None,
    ) -> None:
        """Suspend the round until a person decides. A misdeal may void it at once."""
        reason = None if isinstance(given, CardsShow) else MISDEALS.get(what)
        if reason is not None and self.settings.misdeal == "void":
            self.irregular(what, detail=detail)
            self.void(self.current, reason, self.book.void[reason])
            return
        asks = ASKS.get(
            "shown" if isinstance(given, CardsShow) else what, ("card.decide", "round.void")
        )
        self.change_current(stop=HousePokerStop(what=what, asks=asks, given=given))
        self.irregular(what, asks=asks, detail=detail)

    def settle(self) -> None:
        """Make the moves that need no input: the bank's discards, the result, and who receives the
        next card.
        """
        hand = self.state.current
        if hand is not None and hand.stop is None and not hand.gap:
            if self._bank_discards_now(hand):
                self._discard(hand)
            hand = self.current
            if course.stage(self.rules, hand) == "over":
                self.result(hand)
        self.expect()

    def _bank_discards_now(self, hand: HousePokerRound) -> bool:
        whole = hand.closed and not course.to_come(self.rules, hand) and is_up(hand.cards, DEALER)
        return course.to_discard(self.rules, hand) and whole

    def _discard(self, hand: HousePokerRound) -> None:
        """Discard the bank's cards by its fixed rule."""
        gone = bank_discards(up(hand.cards, DEALER), self.rules.ranking)
        self.change_current(cards=drop(hand.cards, DEALER, gone), discards=len(gone))
        self.say(HandDecided(round=hand.round, who=DEALER, decision="discard", count=len(gone)))
        for card in gone:
            self.say(CardRemoved(round=hand.round, why="discarded", card=card, to=DEALER))

    def undo_discards(self) -> None:
        """Return the bank's discards to its hand, so that the hand can be shown again."""
        hand = self.current
        self.change_current(cards=take_up(hand.cards, DEALER), discards=None)
        decided = HandDecided(
            round=hand.round, who=DEALER, decision="discard", count=hand.discards, valid=False
        )
        self.say(decided)
        for index, each in enumerate(dealt(hand.cards, DEALER), 1):
            if each.gone and each.card is not None:
                self.say(CardTurned(round=hand.round, to=DEALER, index=index, card=each.card))

    def expect(self) -> None:
        """Publish who receives the next card, if that changed."""
        hand = self.state.current
        to_come = course.to_come(self.rules, hand) if hand is not None and hand.stop is None else ()
        to = next(iter(to_come), None)
        if to != self.state.expected:
            self.change(expected=to)
            self.say(CardExpected(round=hand.round if hand else 0, to=to))

    # The outcome of a round

    def result(self, hand: HousePokerRound, confirmed_by: str | None = None) -> None:
        """Settle every bet by the cards that are face up, and end the round."""
        rules, cards = self.rules, hand.cards
        lie = {
            seat.who: up(cards, seat.who)
            for seat in hand.seats
            if course.is_open(rules, hand, seat)
        } | {DEALER: up(cards, DEALER)}
        made = outcome(rules, hand, lie, judged=course.plays(rules, hand) is not None)
        entry = Entry(round=hand.round, kind="result", hands=made.hands, marks=made.marks)
        self.record(entry)
        self.say(
            RoundResult(
                round=hand.round,
                outcome=self.outcome_of(entry),
                frames=frames(cards),
                confirmed_by=confirmed_by or hand.confirmed_by,
            )
        )
        for award in made.awards:
            self.say(award)
        if staked := {
            who: own["jackpot"] or 0 for who, own in hand.bets.items() if "jackpot" in own
        }:
            slots = sum(amount for who, amount in staked.items() if who in hand.slotted)
            self.say(JackpotStaked(round=hand.round, amount=sum(staked.values()), slots=slots))
        self.count_down(hand.round)

    def void(
        self,
        of: HousePokerRound | Entry,
        reason: VoidReason,
        law: Law,
        by: Command | None = None,
    ) -> None:
        """Void the round."""
        self.annul(of.round, reason, law, by, self.call("void"))

    def unresolved(self, hand: HousePokerRound) -> None:
        """End the round without a result, and keep its face-up cards for the person who decides."""
        lying = (
            Hand(who=who, cards=up(hand.cards, who))
            for who in (*(seat.who for seat in hand.seats), DEALER)
        )
        self.record(
            Entry(
                round=hand.round,
                kind="unresolved",
                hands=tuple(each for each in lying if each.cards),
            )
        )
        self.say(
            RoundUnresolved(
                round=hand.round, why="undecided", candidate=None, frames=frames(hand.cards)
            )
        )

    def record(self, entry: Entry) -> None:
        """Record an outcome. If it belongs to the round in progress, that round ends."""
        hand = self.state.current
        if hand is not None and hand.round == entry.round:
            self.change(current=None)
            if entry.kind == "result":
                kept = seen(hand.cards, [card for each in entry.hands for card in each.cards])
                self.change(
                    played=(*self.state.played, replace(hand, cards=kept, stop=None, queue=()))
                )
        self.state = self.state.with_entry(entry)
