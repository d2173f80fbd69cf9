"""One step of a table whose boxes play one deck: the moves that readings and commands of all such
games are made of.

Each move changes the state and says its event in one go, so that the two cannot part. A game's own
``Turn`` fills in what it alone knows: where cards go, what is face up, who may show, what an error
of dealing does, and when the round is decided.
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
from controller.games.decks import deck
from controller.games.poker import cards as poker_cards
from controller.games.poker.correction import PokerOutcome
from controller.games.poker.moves import PokerMoves
from controller.games.poker.state import PokerEntry
from controller.rulebooks.common_poker import Banked
from controller.rulebooks.law import Law

B = TypeVar("B", bound=Banked)
S = TypeVar("S")
T = TypeVar("T", bound=BankedState)


class BankedTurn(PokerMoves[B, S, T]):
    """One step of such a table."""

    heeds_places = True
    """Whether a shuffler can know for whom its packets are."""

    # What each game knows for itself

    def may_play(self) -> None:
        """Reject a round that cannot be played with these boxes."""

    @abstractmethod
    def begin_deal(self) -> None:
        """Bets are closed: say in what order the cards come, if that is known now."""

    def too_early(self) -> str | None:
        """Why no card may come though bets are closed, as the name of an irregularity."""
        return None

    @abstractmethod
    def dealt_face_up(self, who: str) -> bool:
        """Whether the next card of this hand is face up by the rules."""

    @abstractmethod
    def exposed(self, who: str) -> None:
        """A person reports a card of this hand face up that must not be."""

    def void_if_seen(self, who: str) -> Law | None:  # noqa: ARG002
        """The law that voids the round on a device's report alone that a card of this hand was
        seen; None if a person is asked. It does not depend on the card, or a void round would
        reveal it.
        """
        return None

    @abstractmethod
    def error(self, given: DealError) -> None:
        """An error of dealing that does not by itself make the round void."""

    def correctable(self) -> bool:
        """Whether an error of dealing that was put right leaves the round standing."""
        return False

    def let_pass(self) -> None:
        """A person lets the round go on in spite of what stopped it."""

    @abstractmethod
    def may_show(self, who: str) -> None:
        """Reject showing or turning this hand now."""

    def faced(self, who: str) -> None:
        """A hand was shown, or one of its cards was turned."""

    @abstractmethod
    def advance(self) -> None:
        """Moves that follow by themselves from the cards on the table."""

    @abstractmethod
    def outcome(self, deal: Any, lie: Mapping[str, tuple[str, ...]]) -> PokerOutcome:
        """The outcome of a round by its face-up cards alone; ``lie``: the cards by hand."""

    decides = False
    """Whether hands play or pass in this game, so that a wrong decision can be corrected."""

    def amended(
        self, deal: Any, entry: PokerEntry, given: ResultCorrect
    ) -> tuple[Any, PokerEntry, ResultCorrect]:
        """A round, its face-up cards and the named hands, as a correction makes them. Raises
        ``RejectedError``.
        """
        return deal, entry, given

    def counted(self) -> int:
        """How many cards whoever counts them now must find."""
        return len(self.deck)

    def judge(self, right: bool) -> None:
        """The cards are whole, or they are not: then no round begins with them, and one in hand
        waits for a person.
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
        """The hands that must be face up to decide the round, and are not."""

    # What all have

    def asks(self) -> tuple[str, ...]:
        """The commands one of which the table waits for."""
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
        """The round in progress; there is one."""
        assert self.state.deal is not None
        return self.state.deal

    @property
    def deck(self) -> tuple[str, ...]:
        """The cards that there are."""
        return deck(self.book.deck)

    @property
    def number(self) -> int:
        """The round in progress; 0 without one."""
        return self.state.deal.round if self.state.deal else 0

    def change_deal(self, **fields: Any) -> None:
        """Change the round in progress."""
        self.change(deal=replace(self.current, **fields))

    def new_deal(self, number: int) -> BankedDeal:
        """A round of the boxes in play."""
        return BankedDeal(round=number, boxes=self.state.boxes)

    def open_bets(self, by: str) -> None:
        """Bets are open for the next round."""
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
        """No more bets."""
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
        """Deal cards to a hand. A card that is face up and must not be is exposed. ``up`` comes
        from a person, never from a device.
        """
        before, by_rule = self.current.table, self.dealt_face_up(to)
        after = poker_cards.place_card(before, to, card, up=up or by_rule, frame=frame, count=count)
        self.change_deal(table=after)
        for event in poker_cards.laid_down(before, after):
            self.say(replace(event, round=self.current.round))
        if up and not by_rule:
            self.exposed(to)

    def put(self, table: poker_cards.Table) -> None:
        """Update the cards; those turned by it are published."""
        before = self.current.table
        self.change_deal(table=table)
        for event in poker_cards.turned(before, table):
            self.say(replace(event, round=self.current.round))

    def show(self, given: CardsShow, *, trust: bool = False) -> None:
        """Show a hand with these cards. Impossible cards wait for a person; ``trust``: a person
        confirmed them.
        """
        table, who = self.current.table, given.who
        if trust:
            table = poker_cards.unread(table, who, given.cards)
        wrong = poker_cards.trouble(table, given.cards, self.deck, but=who)
        if wrong == "card_foreign" or len(set(given.cards)) < len(given.cards):
            raise RejectedError("cards_not_of_deck")
        if given.index is not None and len(given.cards) != 1:
            raise RejectedError("one_card_with_index", count=len(given.cards))
        if given.index is None:
            after = poker_cards.show(table, who, given.cards, trust=trust)
        else:
            [card] = given.cards
            after = poker_cards.show_one(table, who, given.index, card, trust=trust)
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
        """Announce the decision of a hand; not ``valid``: a wrong one is withdrawn."""
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
        """Announce where the next card belongs, if that changed."""
        state, to = self.state, None
        if state.deal is not None and state.deal.closed and state.stop is None and state.deal.due:
            to = state.deal.due[0]
        if to != state.expected:
            self.change(expected=to)
            self.say(CardExpected(round=state.deal.round if state.deal else 0, to=to))

    # The outcome of a round: a result, void, or unresolved

    def result(self, made: PokerOutcome) -> None:
        """Give the result, hand by hand. Awards were published when their hands were face up."""
        deal = self.current
        entry = PokerEntry(round=deal.round, kind="result", hands=made.hands, marks=made.marks)
        self.say(
            RoundResult(
                round=deal.round,
                outcome=self.outcome_of(entry),
                frames=poker_cards.frames(deal.table),
                confirmed_by=deal.confirmed_by,
            )
        )
        shown = [card for each in made.hands for card in each.cards]
        kept = replace(
            deal, order=(), table=poker_cards.seen(deal.table, shown), gap=False, confirmed_by=None
        )
        self.change(played=(*self.state.played, kept))
        self.record(entry)
        self.count_down(deal.round)

    def void(self, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
        """The round is void."""
        self.annul(number, reason, law, by)

    def unresolved(self) -> None:
        """End the round without a result."""
        deal = self.current
        names = dict.fromkeys(each.to for each in deal.table)
        lying = (Hand(who=who, cards=poker_cards.up(deal.table, who)) for who in names)
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
                frames=poker_cards.frames(deal.table),
            )
        )

    def confirmed(self, entry: PokerEntry, by: str) -> None:
        """An unresolved round was settled at the table: the face-up cards are its result."""
        entry = PokerEntry(round=entry.round, kind="result", hands=entry.hands)
        self.record(entry)
        self.say(
            RoundResult(
                round=entry.round, outcome=self.outcome_of(entry), frames=(), confirmed_by=by
            )
        )

    def record(self, entry: PokerEntry) -> None:
        """Keep an outcome; if it is that of the round in progress, the round is over."""
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

    # What is not as it should be

    def doubt(self, what: str, *, about: str | None = None, detail: str | None = None) -> None:
        """Stop the table until a person decides."""
        self.change(doubt=what, about=about)
        self.irregular(what, detail=detail, asks=self.state.stop_asks)

    def settle(self, *doubts: str) -> None:
        """Clear the doubt if it is one of these."""
        if self.state.doubt in doubts:
            self.change(doubt=None, about=None, shown=None)
