"""One step of a table of black jack: the moves that readings and commands consist of.

Each move changes the state and emits its event together, so that the two cannot diverge.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec.structs import replace

from controller.contract.commands import Command, VoidReason
from controller.contract.events import (
    BetsClosed,
    CardDealt,
    CardExpected,
    CardRemoved,
    CardsBurned,
    Hand,
    HandDecided,
    Insurance,
    LastRounds,
    LimitChanged,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    Settled,
)
from controller.games import shoe
from controller.games.blackjack import course, jackpot
from controller.games.blackjack.course import BURN, DEALER, TABLE, BlackjackRules, keys
from controller.games.blackjack.hands import dealer_hands, points
from controller.games.blackjack.settings import BlackjackSettings
from controller.games.blackjack.state import (
    BlackjackDeal,
    BlackjackEntry,
    BlackjackHeld,
    BlackjackSeat,
    BlackjackState,
    Doubt,
)
from controller.games.rounds import LawfulMoves
from controller.rulebooks.blackjack import Blackjack
from controller.rulebooks.law import Law


class BlackjackTurn(LawfulMoves[Blackjack, BlackjackSettings, BlackjackState]):
    """One step of a table of black jack."""

    def __init__(self, rules: BlackjackRules, state: BlackjackState) -> None:
        super().__init__(rules.book, rules.settings, state)
        self.rules = rules

    def change_deal(self, **fields: Any) -> None:
        """Change the round in progress."""
        assert self.state.deal is not None
        self.change(deal=replace(self.state.deal, **fields))

    @property
    def number(self) -> int:
        """The round in progress; 0 without one."""
        return self.state.deal.round if self.state.deal else 0

    # The course of a round

    def open_round(self, by: str) -> None:
        """Begin a round. A silent device may hide cards of it."""
        number = self.state.round + 1
        doubt: Doubt | None = "silence" if self.state.silent else None
        self.change(round=number, deal=BlackjackDeal(round=number), doubt=doubt)
        self.say(RoundOpened(round=number, by=by))

    def close_bets(self, by: str | None = None) -> None:
        """No more bets: a person closes them, or the first card shows it."""
        self.change_deal(closed=True)
        self.say(BetsClosed(round=self.number, by=by))

    def settle(self) -> None:
        """Proceed as far as the rules require; then announce what is asked, and where the next card
        belongs.
        """
        while True:
            state = self.state
            if (
                state.deal
                and state.doubt != "hands_too_few"
                and course.is_over(self.rules, state.deal)
            ):
                self.conclude()
            elif (
                state.held
                and question(self.rules, state) is None
                and (to := expected(self.rules, state)) is not None
            ):
                self.change(held=state.held[1:])
                self.place(state.held[0], to)
            else:
                break
        what, now = question(self.rules, self.state), self.state.shoe
        about = (
            f"{what} {now.drawn - len(self.state.held)}"
            if now and self.state.held and not self.state.doubt
            else what
        )
        if about != self.state.asked:
            self.change(asked=about)
            if what is not None:
                self.irregular(what, asks=asks(self.rules, self.state))
        to = expected(self.rules, self.state)
        if to != self.state.expected or any(
            isinstance(event, CardDealt | CardRemoved) for event in self.events
        ):
            self.change(expected=to)
            self.say(CardExpected(round=self.number, to=to))

    def place(self, held: BlackjackHeld, to: str) -> None:
        """Put the card there face up; or burn it unseen."""
        if to == BURN:
            self.change(burn=self.state.burn - 1)
            if self.state.burn == 0:
                assert isinstance(self.book.shoe.burn, int)
                self.say(CardsBurned(count=self.book.shoe.burn))
            return
        card, deal = held.card, self.state.deal
        assert card is not None
        if deal is None:  # nobody reports when a round begins
            assert self.state.shoe is not None
            self.say(CardDealt(to=TABLE, index=self.state.shoe.drawn, card=card))
            return
        if not deal.closed:
            self.close_bets()
        if deal.insurance and not (to in (DEALER, TABLE) and not deal.dealer):
            self.change_deal(insurance=False)
            self.say(Insurance(round=deal.round, offered=False))
        if deal.play > 1 and len(deal.dealer) == 1:
            self.change(round=deal.round)
        frames = (*deal.frames, held.frame) if held.frame else deal.frames
        self.change_deal(frames=frames, latest=to)
        self.say(CardDealt(round=deal.round, to=to, index=self._add(card, to), card=card))
        self._after(to)

    def _add(self, card: str, to: str) -> int:
        deal = self.state.deal
        assert deal is not None
        if to == DEALER:
            self.change_deal(dealer=(*deal.dealer, card))
            return len(deal.dealer) + 1
        if (seat := deal.seat(to)) is None:
            self.change_deal(unplaced=(*deal.unplaced, card))
            return len(deal.unplaced) + 1
        self.change(deal=deal.with_seat(replace(seat, cards=(*seat.cards, card), asked=False)))
        return len(seat.cards) + 1

    def _after(self, to: str) -> None:
        """What follows from a card at once, by the rules."""
        deal = self.state.deal
        assert deal is not None
        seat = deal.seat(to)
        if seat is not None and len(seat.cards) > 1 and course.closed(self.rules, seat):
            total = course.worth(self.rules, seat)
            decision: Literal["natural", "bust", "stand"] = (
                "natural" if course.natural(seat) else "bust" if total > 21 else "stand"
            )
            self.say(HandDecided(round=deal.round, who=to, decision=decision))
        if (
            deal.insurance is None
            and deal.first_deal
            and deal.dealer[0][0] == "A"
            and deal.play == 1
        ):
            self.change_deal(insurance=True)
            self.say(Insurance(round=deal.round, offered=True))

    def take_back(self, who: str) -> str:
        """Take back the latest card of a hand; if it was asked for, another is due."""
        deal = self.state.deal
        assert deal is not None
        self.change_deal(latest=None)
        if who == DEALER:
            self.change_deal(dealer=deal.dealer[:-1])
            return deal.dealer[-1]
        seat = deal.seat(who)
        if seat is None:
            self.change_deal(unplaced=deal.unplaced[:-1])
            return deal.unplaced[-1]
        left = seat.cards[:-1]
        if deal.insurance:  # it is offered again when the hand has its two cards
            deal = replace(deal, insurance=None)
            self.say(Insurance(round=deal.round, offered=False))
        self.change(
            deal=replace(deal, latest=None).with_seat(
                replace(
                    seat, cards=left, asked=len(left) > 1 and not seat.doubled, even_money=False
                )
            )
        )
        return seat.cards[-1]

    # Its outcome: a result, void, or unresolved

    def conclude(self) -> None:
        """End the round. In a game of several plays the dealer keeps his first card for the
        next.
        """
        deal = self.state.deal
        assert deal is not None
        if deal.insurance:
            self.change_deal(insurance=False)
            self.say(Insurance(round=deal.round, offered=False))
            deal = replace(deal, insurance=False)
        self._result(
            deal,
            course.hands(self.rules, deal),
            course.marks(self.rules, deal),
            course.side_bets(self.rules, deal),
        )
        for event in jackpot.told(self.rules, deal):
            self.say(event)
        if deal.play < self.book.plays and any(
            course.remains(self.rules, seat) for seat in deal.seats
        ):
            seats = tuple(replace(seat, even_money=False) for seat in deal.seats)
            number, play = deal.round + 1, deal.play + 1
            self.change(
                deal=replace(
                    deal,
                    round=number,
                    seats=seats,
                    dealer=deal.dealer[:1],
                    play=play,
                    frames=(),
                    latest=None,
                )
            )

    def conclude_unkeyed(self) -> None:
        """End a round whose decisions nobody reported: the dealer's hand is published where his
        rule leaves only one.
        """
        deal = self.state.deal
        assert deal is not None
        found: tuple[tuple[str, ...], ...] = ()
        if (
            deal.seats
            and deal.dealer
            and self.book.plays == 1
            and self.state.doubt is None
            and not self.state.held
        ):
            alone = self.settings.dealer_alone == "stops" and not any(
                points(seat.cards) == 21 for seat in deal.seats
            )
            found = dealer_hands(deal.dealer[0], deal.unplaced, alone=alone)
        if len(found) == 1:
            self._result(
                replace(deal, dealer=found[0]), (course.dealer_hand(found[0]),), ("hands_unknown",)
            )
        else:
            self.unresolved("undecided")

    def _result(
        self,
        deal: BlackjackDeal,
        hands: tuple[Hand, ...],
        marks: tuple[str, ...],
        bets: tuple[Settled, ...] = (),
    ) -> None:
        entry = BlackjackEntry(round=deal.round, kind="result", hands=hands, marks=marks)
        self.say(
            RoundResult(
                round=deal.round,
                outcome=entry.outcome,
                bets=bets,
                frames=deal.frames,
                confirmed_by=deal.confirmed_by,
            )
        )
        self._record(entry)
        self._count_down(deal.round)

    def void(self, reason: VoidReason, law: Law, by: Command) -> None:
        """Void the round."""
        deal = self.state.deal
        assert deal is not None
        self.say_void(deal.round, reason, law, by)
        self._record(
            BlackjackEntry(round=deal.round, kind="void", reason=reason, article=law.article)
        )

    def unresolved(self, why: Literal["silence", "undecided"]) -> None:
        """The result is not known; nobody invents it."""
        deal = self.state.deal
        assert deal is not None
        self.say(RoundUnresolved(round=deal.round, why=why, candidate=None, frames=deal.frames))
        self._record(BlackjackEntry(round=deal.round, kind="unresolved"))

    def _record(self, entry: BlackjackEntry) -> None:
        state, deal = self.state, self.state.deal
        if deal is not None and deal.last:
            self.end_talla()
        doubt: Doubt | None = "silence" if state.silent and state.doubt else None
        self.change(round=max(state.round, entry.round), deal=None, doubt=doubt)
        self.state = self.state.with_entry(entry)

    def end_talla(self) -> None:
        """The last round of the shoe is over: no other begins."""
        now = self.state.shoe
        if now is not None and not now.over:
            self.change(shoe=replace(now, over=True))
            self.say(shoe.ended(now, "cut"))

    def _count_down(self, number: int) -> None:
        """Count down the announced last rounds; after the last of them the new minimum holds."""
        state = self.state
        if state.last_rounds:
            self.change(last_rounds=state.last_rounds - 1)
            self.say(LastRounds(round=number, purpose="close", left=state.last_rounds - 1))
        if state.limit and state.limit.left is not None:
            left = state.limit.left - 1
            self.change(limit=replace(state.limit, left=left))
            self.say(LastRounds(round=number, purpose="limit", left=left))
            if left == 0:
                self.change_limit()

    def change_limit(self) -> None:
        """Apply the announced minimum."""
        state = self.state
        if state.limit is not None:
            self.change(minimum=state.limit.minimum, limit=None)
            self.say(
                LimitChanged(
                    minimum=state.limit.minimum, was=state.minimum, currency=state.currency
                )
            )

    # Irregularities

    def remove(self, why: str, card: str | None) -> None:
        """Remove a card that no hand has had."""
        law = self.book.laws[why]
        self.say(
            CardRemoved(round=self.number, why=why, card=card, law=law.rule, article=law.article)
        )


# What a table waits for


def expected(rules: BlackjackRules, state: BlackjackState) -> str | None:
    """Where the next card belongs; None where none may come now."""
    if not state.open or state.shoe is None:
        return None
    if state.burn:
        return BURN
    if state.shoe.over and (state.deal is None or not state.deal.begun):
        return None
    if state.deal is None:
        return None if rules.settings.keys else TABLE
    return course.next_card(rules, state.deal)


def question(rules: BlackjackRules, state: BlackjackState) -> str | None:
    """The irregularity for which the table waits for a person; None if it does not."""
    if state.doubt is not None:
        return state.doubt
    over = state.shoe is not None and state.shoe.over
    if over and state.deal is not None and not state.deal.begun:
        return "shoe_over"
    if not state.held:
        return None
    trouble = state.held[0].trouble
    if trouble is not None and (
        trouble == "card_exposed" or not state.burn
    ):  # burn cards are unseen if face down
        return trouble
    if expected(rules, state) is not None:
        return None
    if over and state.deal is None:
        return "shoe_over"
    return "card_before_decision" if state.deal and state.deal.begun else "card_out_of_round"


def asks(rules: BlackjackRules, state: BlackjackState) -> tuple[str, ...]:
    """Commands that would answer the table's question."""
    what = question(rules, state)
    void = ("round.void",) if state.deal else ()
    if what is None:
        return ()
    if what == "hands_too_few":
        return ("boxes.set", "round.confirm")
    if what == "card_out_of_round":
        return ("boxes.set", "card.decide", *void)
    if what == "card_before_decision" and state.deal and course.turn(rules, state.deal):
        return (*keys(rules), "card.decide", *void)
    return ("card.decide", *void)


def seat_in_turn(rules: BlackjackRules, state: BlackjackState) -> BlackjackSeat | None:
    """The hand to act."""
    return course.turn(rules, state.deal) if state.deal else None
