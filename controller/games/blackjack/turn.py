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
from controller.games.dealt.inherited import InheritedTurn
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry, Held, Stop
from controller.games.session import count_down
from controller.rulebooks.blackjack import Blackjack
from controller.rulebooks.law import Law


class BlackjackTurn(InheritedTurn[Blackjack, BlackjackSettings, BlackjackState]):
    """One step of a table of black jack."""

    round_type = BlackjackDeal

    def __init__(self, rules: BlackjackRules, state: BlackjackState) -> None:
        super().__init__(rules.book, rules.settings, state)
        self.rules = rules
        self.changed_since = False
        """True if the next place is announced again though it is unchanged."""

    @property
    def current(self) -> BlackjackDeal:
        """The round in progress; the caller ensures that there is one."""
        assert self.state.current is not None
        return self.state.current

    # Phases, and where cards go

    def stage(self) -> Phase:
        """The phase, regardless of any stop."""
        state = self.state
        if not state.open:
            return Phase.CLOSED
        if state.shoe is None:
            return Phase.NO_SHOE
        if state.burn:
            return Phase.BURNING
        if state.current is not None:
            return course.stage(self.rules, state.current)
        return Phase.SHOE_OVER if state.shoe.over else Phase.WAITING

    def belongs(self) -> str | None:
        """Where the next card belongs; None if none may come now."""
        state = self.state
        if not state.open or state.shoe is None:
            return None
        if state.burn:
            return BURN
        if state.shoe.over and (state.current is None or not state.current.begun):
            return None
        if state.current is None:
            return None if self.settings.keys else TABLE
        return course.next_card(self.rules, state.current)

    def question(self) -> str | None:
        """The irregularity that a person must decide; None without one."""
        state = self.state
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
        if self.belongs() is not None:
            return None
        if over and state.current is None:
            return "shoe_over"
        return (
            "card_before_decision" if state.current and state.current.begun else "card_out_of_round"
        )

    def inherited_stop(self) -> Stop | None:
        """The stop of the table. The course decides whether a held card stops it."""
        what, deal = self.question(), self.state.current
        void = ("round.void",) if deal else ()
        if what is None:
            return None
        if what == "hands_too_few":
            return Stop(what, ("boxes.set", "round.confirm"))
        if what == "card_out_of_round":
            return Stop(what, ("boxes.set", "card.decide", *void))
        if what == "card_before_decision" and deal and course.turn(self.rules, deal):
            return Stop(what, (*keys(self.rules), "card.decide", *void))
        return Stop(what, ("card.decide", *void))

    @property
    def holds(self) -> bool:
        """True while the table is stopped or a card waits: a card that comes waits."""
        return bool(self.state.held) or self.stop is not None

    def arrived(self, drawn: CardDrawn) -> Held | None:
        """Count a card that left the shoe. None if it goes to no hand."""
        state = self.state
        if not state.open:
            return super().arrived(drawn)
        if state.shoe is None:
            talla.missing(self, drawn)
            return None
        counted, trouble = shoe.draw(state.shoe, drawn.card)
        self.change(shoe=counted)
        why: str | None = trouble or (
            "silence" if drawn.late else "card_unsure" if drawn.unsure else None
        )
        burned = state.burn > 0 and not state.doubt
        if drawn.exposed and why is None:
            # One that is burned or waits is unseen, and not disclosed on a device's word.
            if not (state.burn or self.holds) and self.belongs() is not None:
                self.remove("card_exposed", drawn.card)
                return None
            why = "card_exposed"
        if burned and trouble not in (None, "card_unread"):
            self.irregular(str(trouble))  # the burn card itself stays unknown
        if burned and not (drawn.exposed or state.held):
            self.place(drawn, BURN)
            return None
        return Held(given=drawn, trouble="card_exposed" if burned and drawn.exposed else why)

    def objection(self, held: Held) -> tuple[str, str | None] | None:
        """The card's own trouble."""
        return None if held.trouble is None else (held.trouble, None)

    def wait(self, held: Held) -> None:
        """Make the card wait; there is no limit."""
        self.change(held=(*self.state.held, held))

    def hold(self, held: Held, what: str, detail: str | None = None) -> None:  # noqa: ARG002
        """Stop the table with this card; the stop is published once nothing else follows."""
        self.wait(held)

    def late(self, held: Held) -> None:
        """Make a card wait that is known only after a silence."""
        self.wait(held)

    def lose_place(self, what: Doubt = "silence") -> None:
        """Record that cards may have come unseen; a person knows what is on the table."""
        state = self.state
        if state.shoe is None:
            return
        self.change(shoe=shoe.lose_count(state.shoe))
        burning = state.burn > 0 and state.burn != self.book.shoe.burn
        doubtful = state.current is not None or state.held or burning or what == "shoe_reset"
        if doubtful and state.doubt != "hands_too_few":
            self.change(doubt=what)

    # The course of a round

    def require_highest(self, minimum: int) -> None:
        """Reject a minimum of which the highest bets are not multiples that the decree allows."""
        lawful, law = bands(self.book, self.settings), self.book.laws.get("bet_limit")
        stakes.require_lawful(self.settings.highest, lawful, minimum, law)

    def open_bets(self, by: str | None = None, *, relaunch: bool = False) -> None:
        """Begin a round. A silent device may hide cards of it."""
        super().open_bets(by, relaunch=relaunch)
        self.change(doubt="silence" if self.state.silent else None)

    def advance(self) -> None:
        """Proceed as far as the rules require."""
        while True:
            state = self.state
            if (
                state.current
                and state.doubt != "hands_too_few"
                and course.is_over(self.rules, state.current)
            ):
                self.conclude()
            elif state.held and self.question() is None and (to := self.belongs()) is not None:
                self.change(held=state.held[1:])
                self.place(state.held[0].given, to)
            else:
                return

    def expect(self) -> None:
        """Announce the open question, and after each card where the next one belongs."""
        stop, now = self.stop, self.state.shoe
        what = stop.what if stop else None
        about = (
            f"{what} {now.drawn - len(self.state.held)}"
            if now and self.state.held and not self.state.doubt
            else what
        )
        if about != self.state.asked:
            self.change(asked=about)
            if stop is not None:
                self.irregular(stop.what, asks=stop.asks)
        to = self.belongs()
        if to != self.state.expected or self.changed_since:
            self.change(expected=to)
            self.emit(CardExpected(round=self.number, to=to))

    def follow_up(self) -> None:
        """Make the moves that follow from an input."""
        self.settle()

    def place(self, drawn: CardDrawn, to: str, *, seen: bool = False, count: int = 1) -> None:  # noqa: ARG002
        """Put the card face up where it belongs, or burn it unseen."""
        if to == BURN:
            self.change(burn=self.state.burn - 1)
            if self.state.burn == 0:
                assert isinstance(self.book.shoe.burn, int)
                self.emit(CardsBurned(count=self.book.shoe.burn))
            return
        card, deal, self.changed_since = drawn.card, self.state.current, True
        assert card is not None
        if deal is None:  # the beginning of a round is not reported
            assert self.state.shoe is not None
            self.emit(CardDealt(to=TABLE, index=self.state.shoe.drawn, card=card))
            return
        if not deal.closed:
            self.close_bets()
        if deal.insurance and not (to in (DEALER, TABLE) and not deal.dealer):
            self.change_current(insurance=False)
            self.emit(Insurance(round=deal.round, offered=False))
        if deal.play > 1 and len(deal.dealer) == 1:
            self.change(round=deal.round)
        self.change_current(latest=to)
        self.put(place_card(deal.cards, to, card, up=True, reading=drawn.reading))
        if (seat := deal.seat(to)) is not None:
            self.seat(replace(seat, asked=False))
        self._after(to)

    def seat(self, seat: BlackjackSeat) -> None:
        """Change a hand of the round in progress."""
        assert self.state.current is not None
        self.change(current=self.state.current.with_seat(seat))

    def _after(self, to: str) -> None:
        """Make the moves that the rules require after a card."""
        deal = self.state.current
        assert deal is not None
        seat = deal.seat(to)
        if seat is not None and len(seat.cards) > 1 and course.closed(self.rules, seat):
            total = course.worth(self.rules, seat)
            decision: Literal["natural", "bust", "stand"] = (
                "natural" if course.natural(seat) else "bust" if total > 21 else "stand"
            )
            self.emit(HandDecided(round=deal.round, who=to, decision=decision))
        if (
            deal.insurance is None
            and deal.first_deal
            and deal.dealer[0][0] == "A"
            and deal.play == 1
        ):
            self.change_current(insurance=True)
            self.emit(Insurance(round=deal.round, offered=True))

    def take_back(self, who: str) -> str:
        """Take back the latest card of a hand. If it was requested, another is due."""
        deal = self.state.current
        assert deal is not None
        at = max(at for at, card in enumerate(deal.cards) if card.to == who)
        latest, seat = deal.cards[at], deal.seat(who)
        nowhere = replace(latest, to="", gone=True)
        self.change_current(latest=None, cards=(*deal.cards[:at], nowhere, *deal.cards[at + 1 :]))
        assert latest.card is not None
        if seat is None:
            return latest.card
        if deal.insurance:  # it is offered again when the hand has its two cards
            self.change_current(insurance=None)
            self.emit(Insurance(round=deal.round, offered=False))
        requested = len(seat.cards) > 2 and not seat.doubled
        self.seat(replace(seat, asked=requested, even_money=False))
        return latest.card

    # Its outcome: a result, void, or unresolved

    def conclude(self) -> None:
        """End the round. In a game of several plays the dealer keeps his first card for the
        next.
        """
        deal = self.state.current
        assert deal is not None
        if deal.insurance:
            self.change_current(insurance=False)
            self.emit(Insurance(round=deal.round, offered=False))
            deal = replace(deal, insurance=False)
        self._result(
            deal,
            course.hands(self.rules, deal),
            course.marks(self.rules, deal),
            course.side_bets(self.rules, deal),
        )
        for event in jackpot.jackpot_events(self.rules, deal):
            self.emit(event)
        if deal.play < self.book.plays and any(
            course.remains(self.rules, seat) for seat in deal.seats
        ):
            seats = tuple(replace(seat, even_money=False) for seat in deal.hands)
            number, play = deal.round + 1, deal.play + 1
            first = next(card for card in deal.cards if card.to == DEALER)
            cards = tuple(
                card
                for card in deal.cards
                if not card.gone and (card.to != DEALER or card is first)
            )
            self.change(
                current=replace(
                    deal, round=number, hands=seats, cards=cards, play=play, latest=None
                )
            )

    def conclude_unkeyed(self) -> None:
        """End a round whose decisions were not reported: the dealer's hand is published if his rule
        leaves only one.
        """
        deal = self.state.current
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
            self._result(deal, (course.dealer_hand(found[0]),), ("hands_unknown",))
        else:
            self.unresolved("undecided")

    def _result(
        self,
        deal: BlackjackDeal,
        hands: tuple[Hand, ...],
        marks: tuple[str, ...],
        bets: tuple[Settled, ...] = (),
    ) -> None:
        entry = DealtEntry(round=deal.round, kind="result", hands=hands, marks=marks)
        self.emit(
            RoundResult(
                round=deal.round,
                outcome=self.outcome_of(entry),
                bets=bets,
                frames=(),
                readings=readings(deal.cards),
                confirmed_by=deal.confirmed_by,
            )
        )
        self.record(entry)
        self._count_down(deal.round)

    def outcome_of(self, entry: DealtEntry) -> BlackjackOutcome:
        """The outcome of a round that has a result."""
        return BlackjackOutcome(hands=entry.hands, marks=entry.marks)

    def void(self, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
        """Void the round; it may be the last of the shoe."""
        self.emit_void(number, reason, law, by)
        self.record(DealtEntry(round=number, kind="void", reason=reason, article=law.article))

    def unresolved(self, why: Literal["silence", "undecided"]) -> None:
        """Leave the result open: it is unknown, and is not invented."""
        deal = self.state.current
        assert deal is not None
        evidence = readings(deal.cards)
        self.emit(RoundUnresolved(round=deal.round, why=why, candidate=None, readings=evidence))
        self.record(DealtEntry(round=deal.round, kind="unresolved"))

    def leave(self) -> None:
        """End the round in progress; waiting cards may belong to the next one."""
        state, deal = self.state, self.state.current
        if deal is not None and deal.last:
            self.end_talla()
        doubt: Doubt | None = "silence" if state.silent and state.doubt else None
        self.change(round=max(state.round, self.number), current=None, doubt=doubt)

    def end_talla(self) -> None:
        """End the shoe after its last round."""
        now = self.state.shoe
        if now is not None and not now.over:
            self.change(shoe=replace(now, over=True))
            self.emit(shoe.ended(now, "cut"))
            self.count_shoe()

    def count_shoe(self) -> None:
        """Count the announced last shoe as over."""
        if self.state.last_shoe == 1:
            self.change(last_shoe=0)
            self.emit(LastRounds(round=self.state.round, purpose="close", left=0))

    def _count_down(self, number: int) -> None:
        """Count down the announced last rounds; after the last of them the new minimum holds."""
        count_down(self, number)
        state = self.state
        if state.limit and state.limit.left is not None:
            left = state.limit.left - 1
            self.change(limit=replace(state.limit, left=left))
            self.emit(LastRounds(round=number, purpose="limit", left=left))
            if left == 0:
                self.change_limit()

    def change_limit(self) -> None:
        """Apply the announced minimum."""
        state = self.state
        if state.limit is not None:
            self.change(minimum=state.limit.minimum, limit=None)
            self.emit(
                LimitChanged(
                    minimum=state.limit.minimum, was=state.minimum, currency=state.currency
                )
            )

    # Irregularities

    def remove(self, why: str, card: str | None) -> None:
        """Remove a card that was never dealt to a hand."""
        law = self.book.laws[why]
        self.emit(
            CardRemoved(round=self.number, why=why, card=card, law=law.rule, article=law.article)
        )


def bands(book: Blackjack, settings: BlackjackSettings) -> dict[str, stakes.Band]:
    """The highest bets that the decree allows on a hand, and on its pairs if they are offered."""
    hands = stakes.Band(book.limits, raised=book.limits_raised)
    if not settings.pair_bets:
        return {"hands": hands}
    return {"hands": hands, "pairs": stakes.Band(book.side_bet_limits["pairs_most"])}
