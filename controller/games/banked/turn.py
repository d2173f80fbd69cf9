"""One step of a table whose boxes play with one deck: the moves by which readings and commands take
effect in all such games.

Each move changes the state and publishes its event together, so that they always agree. Each game's
own ``Turn`` supplies its rules: who receives each card, which cards are face up, who may show, what
a dealing error does, and when the round is decided.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from msgspec.structs import replace

from controller.contract.commands import CardsShow, Command, DealError, ResultCorrect, VoidReason
from controller.contract.events import (
    BetsClosed,
    CardExpected,
    Frame,
    Hand,
    HandDecided,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
)
from controller.contract.refusals import RejectedError
from controller.games.banked.state import BankedDeal, BankedState
from controller.games.dealt import cards as on_table
from controller.games.decks import deck
from controller.games.poker.correction import PokerOutcome
from controller.games.poker.moves import PokerMoves
from controller.games.poker.state import PokerEntry
from controller.rulebooks.common_poker import Banked
from controller.rulebooks.law import Law

B = TypeVar("B", bound=Banked)
S = TypeVar("S")
T = TypeVar("T", bound=BankedState)


class BankedTurn(PokerMoves[B, S, T]):
    """One step of a table whose boxes play with one deck."""

    heeds_places = True
    """Whether a shuffler can know which hand each packet is for."""

    # What each game defines

    def may_play(self) -> None:
        """Raise ``RejectedError`` if a round cannot be played with these boxes."""

    @abstractmethod
    def begin_deal(self) -> None:
        """Set the dealing order when bets close, if it is known by then."""

    def too_early(self) -> str | None:
        """The irregularity of a card dealt now, though bets are closed; None if it may come."""
        return None

    @abstractmethod
    def dealt_face_up(self, who: str) -> bool:
        """Whether the rules have the next card of this hand dealt face up."""

    @abstractmethod
    def exposed(self, who: str) -> None:
        """Act on a person's report that a covered card of this hand was exposed."""

    def void_if_seen(self, who: str) -> Law | None:  # noqa: ARG002
        """The law that voids the round when a device alone reports that a card of this hand was
        seen; None if a person must decide. The answer never depends on the card, because a void
        round would then reveal it.
        """
        return None

    @abstractmethod
    def error(self, given: DealError) -> None:
        """Act on a dealing error that does not by itself void the round."""

    def correctable(self) -> bool:
        """Whether the round stands after a dealing error that was corrected."""
        return False

    def let_pass(self) -> None:
        """Continue the round, as a person decided, despite the irregularity that stopped it."""

    @abstractmethod
    def may_show(self, who: str) -> None:
        """Raise ``RejectedError`` if this hand may not be shown or turned now."""

    def faced(self, who: str) -> None:
        """Act on a hand that was shown, or a card of it that was turned."""

    @abstractmethod
    def advance(self) -> None:
        """Make the moves that follow from the cards on the table without further input."""

    @abstractmethod
    def outcome(self, deal: Any, lie: Mapping[str, tuple[str, ...]]) -> PokerOutcome:
        """The outcome of a round from its face-up cards alone; ``lie`` has them by hand."""

    decides = False
    """Whether hands play or fold in this game, so that a wrong decision can be corrected."""

    def amended(
        self, deal: Any, entry: PokerEntry, given: ResultCorrect
    ) -> tuple[Any, PokerEntry, ResultCorrect]:
        """The round, its outcome and the correction, completed with what the correction implies.
        Raises ``RejectedError`` if it cannot be made.
        """
        return deal, entry, given

    def counted(self) -> int:
        """The number of cards that a count must find now."""
        return len(self.deck)

    def judge(self, right: bool) -> None:
        """Record whether a check found the deck complete. With a wrong deck no round begins, and a
        round in progress waits for a person.
        """
        self.change(checked=True, defective=not right)
        if right:
            self.settle("deck_wrong")
        elif self.state.deal is not None and self.state.doubt is None:
            self.doubt("deck_wrong")
        else:
            self.irregular("deck_wrong")

    @abstractmethod
    def missing(self) -> tuple[str, ...]:
        """The hands still covered that must be face up to decide the round."""

    # What all games share

    def asks(self) -> tuple[str, ...]:
        """The commands of which the table waits for one."""
        state, deal = self.state, self.state.deal
        if state.stop is not None:
            return state.stop_asks
        # Neither a wrong deck nor a shuffler that is not ready may begin a deal.
        if deal is None or not deal.closed:
            unready = state.open and (
                state.defective or (deal is not None and state.shuffler is not None)
            )
            return ("deck.check",) if unready else ()
        return ("cards.show",) if not deal.due and self.missing() else ()

    @property
    def current(self) -> BankedDeal:
        """The round in progress; the caller ensures that there is one."""
        assert self.state.deal is not None
        return self.state.deal

    @property
    def deck(self) -> tuple[str, ...]:
        """All cards of the deck in use."""
        return deck(self.book.deck)

    @property
    def number(self) -> int:
        """The number of the round in progress; 0 if there is none."""
        return self.state.deal.round if self.state.deal else 0

    def change_deal(self, **fields: Any) -> None:
        """Replace these fields of the round in progress."""
        self.change(deal=replace(self.current, **fields))

    def new_deal(self, number: int) -> BankedDeal:
        """A new round with the boxes in play."""
        return BankedDeal(round=number, boxes=self.state.boxes)

    def open_bets(self, by: str) -> None:
        """Open bets for the next round."""
        number = self.state.round + 1
        last = self.state.entry(number - 1)
        self.change(round=number, deal=self.new_deal(number))
        relaunch = last is not None and last.kind == "void"
        self.say(
            RoundOpened(
                round=number,
                by=by,
                relaunch=relaunch,
                announcement=self.book.announcements.get("bets_open"),
            )
        )

    def close_bets(self, by: str) -> None:
        """Close bets, and begin the deal."""
        self.change_deal(closed=True)
        self.say(
            BetsClosed(
                round=self.current.round,
                by=by,
                announcement=self.book.announcements.get("bets_closed"),
            )
        )
        self.begin_deal()

    def place_card(
        self,
        to: str,
        card: str | None = None,
        *,
        up: bool = False,
        frame: Frame | None = None,
        count: int = 1,
    ) -> None:
        """Deal cards to a hand. A card that is face up against the rules counts as exposed. Only a
        person sets ``up``, never a device.
        """
        before, by_rule = self.current.table, self.dealt_face_up(to)
        after = on_table.place_card(before, to, card, up=up or by_rule, frame=frame, count=count)
        self.change_deal(table=after)
        for event in on_table.laid_down(before, after):
            self.say(replace(event, round=self.current.round))
        if up and not by_rule:
            self.exposed(to)

    def put(self, table: on_table.Table) -> None:
        """Replace the cards on the table, and publish those turned face up."""
        before = self.current.table
        self.change_deal(table=table)
        for event in on_table.turned(before, table):
            self.say(replace(event, round=self.current.round))

    def show(self, given: CardsShow, *, trust: bool = False) -> None:
        """Show a hand with these cards. Cards that contradict the deal wait for a person, unless
        ``trust`` says that a person confirmed them.
        """
        table, who = self.current.table, given.who
        if trust:
            table = on_table.unread(table, who, given.cards)
        wrong = on_table.trouble(table, given.cards, self.deck, but=who)
        if wrong == "card_foreign" or len(set(given.cards)) < len(given.cards):
            raise RejectedError("cards_not_of_deck")
        if given.index is not None and len(given.cards) != 1:
            raise RejectedError("one_card_with_index", count=len(given.cards))
        if given.index is None:
            after = on_table.show(table, who, given.cards, trust=trust)
        else:
            [card] = given.cards
            after = on_table.show_one(table, who, given.index, card, trust=trust)
        if wrong is not None or isinstance(after, str):
            if trust:
                raise RejectedError("card_up_elsewhere")
            self.change(shown=given)
            self.doubt("shown_differs", about=who, detail=f"{who}, there twice" if wrong else who)
            return
        self.settle("shown_differs", "card_unread")
        self.put(after)
        self.faced(who)

    def decided(
        self,
        who: str,
        decision: Literal["go", "pass", "withdraw", "set"],
        by: str | None = None,
        *,
        valid: bool = True,
    ) -> None:
        """Publish a hand's decision; without ``valid``, publish that it is withdrawn."""
        call = self.book.announcements.get(decision) if valid else None
        said = HandDecided(
            round=self.current.round,
            who=who,
            decision=decision,
            by=by,
            announcement=call,
            valid=valid,
        )
        self.say(said)

    def expect(self) -> None:
        """Publish who receives the next card, if that changed."""
        state, to = self.state, None
        if state.deal is not None and state.deal.closed and state.stop is None and state.deal.due:
            to = state.deal.due[0]
        if to != state.expected:
            self.change(expected=to)
            self.say(CardExpected(round=state.deal.round if state.deal else 0, to=to))

    # The outcome of a round: a result, void, or unresolved

    def result(self, made: PokerOutcome) -> None:
        """Publish the result hand by hand, and end the round. Each award was already published when
        its hand was face up.
        """
        deal = self.current
        entry = PokerEntry(round=deal.round, kind="result", hands=made.hands, marks=made.marks)
        self.say(
            RoundResult(
                round=deal.round,
                outcome=self.outcome_of(entry),
                frames=on_table.frames(deal.table),
                confirmed_by=deal.confirmed_by,
            )
        )
        shown = [card for each in made.hands for card in each.cards]
        kept = replace(
            deal, order=(), table=on_table.seen(deal.table, shown), gap=False, confirmed_by=None
        )
        self.change(played=(*self.state.played, kept))
        self.record(entry)
        self.count_down(deal.round)

    def void(self, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
        """Void the round."""
        self.annul(number, reason, law, by)

    def unresolved(self) -> None:
        """End the round without a result."""
        deal = self.current
        names = dict.fromkeys(each.to for each in deal.table)
        lying = (Hand(who=who, cards=on_table.up(deal.table, who)) for who in names)
        self.record(
            PokerEntry(
                round=deal.round,
                kind="unresolved",
                hands=tuple(each for each in lying if each.cards),
            )
        )
        self.say(
            RoundUnresolved(
                round=deal.round,
                why="undecided",
                candidate=None,
                frames=on_table.frames(deal.table),
            )
        )

    def confirmed(self, entry: PokerEntry, by: str) -> None:
        """Publish the result of an unresolved round that was settled at the table, by its face-up
        cards.
        """
        entry = PokerEntry(round=entry.round, kind="result", hands=entry.hands)
        self.record(entry)
        self.say(
            RoundResult(
                round=entry.round, outcome=self.outcome_of(entry), frames=(), confirmed_by=by
            )
        )

    def record(self, entry: PokerEntry) -> None:
        """Record an outcome. If it belongs to the round in progress, that round ends."""
        deal = self.state.deal
        self.state = self.state.with_entry(entry)
        if deal is not None and deal.round == entry.round:
            self.change(
                deal=None,
                doubt=None,
                about=None,
                shown=None,
                held=(),
                checked=self.state.checked and not deal.table,
            )

    # Irregularities

    def doubt(self, what: str, *, about: str | None = None, detail: str | None = None) -> None:
        """Stop the table until a person decides."""
        self.change(doubt=what, about=about)
        self.irregular(what, detail=detail, asks=self.state.stop_asks)

    def settle(self, *doubts: str) -> None:
        """Clear the doubt if it is one of these."""
        if self.state.doubt in doubts:
            self.change(doubt=None, about=None, shown=None)
