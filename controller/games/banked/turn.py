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

from common.contract.commands import CardsShow, DealError, ResultCorrect
from common.contract.events import (
    HandDecided,
)
from common.contract.refusals import RejectedError
from common.readings import CardDrawn
from controller.games.banked.state import MAX_WAITING_CARDS, BankedDeal, BankedState
from controller.games.dealt import cards as on_table
from controller.games.dealt.phases import PHASES, Phase
from controller.games.dealt.state import DealtEntry, DealtRound, Held
from controller.games.decks import deck
from controller.games.poker.correction import PokerOutcome
from controller.games.poker.turn import AgainstBankTurn
from controller.rulebooks.common_poker import Banked
from controller.rulebooks.law import Law

B = TypeVar("B", bound=Banked)
S = TypeVar("S")
T = TypeVar("T", bound=BankedState)
PLACES = ("box:", "dealer", "common:", "board", "burn")
"""Translate a device's name of a place; devices may use words of their own."""


class BankedTurn(AgainstBankTurn[B, S, T]):
    """One step of a table whose boxes play with one deck."""

    max_held = MAX_WAITING_CARDS
    trusts_places = True
    """Whether a shuffler can know which hand each packet is for."""

    # What each game defines

    def unplayable(self) -> RejectedError | None:
        """Why a round cannot be played with these boxes; None if it can."""
        return None

    @abstractmethod
    def begin_deal(self) -> None:
        """Set the order of the deal when bets close, if it is known then."""

    def too_early(self) -> str | None:
        """The irregularity of a card that is dealt too early although bets are closed; None if it
        may come.
        """
        return None

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
    def error(self, command: DealError) -> None:
        """Act on a dealing error that does not by itself void the round."""

    def correctable(self) -> bool:
        """True if the round continues after a corrected dealing error."""
        return False

    def continue_despite(self) -> None:
        """Continue the round despite the irregularity, by a person's decision."""

    @abstractmethod
    def unshowable(self, who: str) -> RejectedError | None:
        """Why this hand may not be shown or turned now; None if it may."""

    def faced(self, who: str) -> None:
        """Act on a hand that was shown, or a card of it that was turned."""

    @abstractmethod
    def outcome(self, deal: Any, lie: Mapping[str, tuple[str, ...]]) -> PokerOutcome:
        """The outcome of a round from its face-up cards. ``lie``: these cards, by hand."""

    decides = False
    """Whether hands play or fold in this game, so that a wrong decision can be corrected."""

    def amended(
        self, deal: Any, entry: DealtEntry, command: ResultCorrect
    ) -> tuple[Any, DealtEntry, ResultCorrect]:
        """The round, its outcome and the correction, completed with what the correction implies.
        Raises ``RejectedError`` if it cannot be made.
        """
        return deal, entry, command

    def counted(self) -> int:
        """The number of cards that a count must find now."""
        return len(self.deck)

    def judge(self, right: bool) -> None:
        """Record whether a check found the deck complete. With a wrong deck no round begins, and a
        round in progress waits for a person.
        """
        self.change(checked=True, defective=not right)
        if right:
            self.resolve("deck_wrong")
        elif self.state.current is not None and self.state.doubt is None:
            self.doubt("deck_wrong")
        else:
            self.irregular("deck_wrong")

    @abstractmethod
    def missing(self) -> tuple[str, ...]:
        """The hands still covered that must be face up to decide the round."""

    # What all games share

    def lacks(self) -> tuple[str, ...]:
        """The requests without a stop: a right deck, a shuffler that is ready, or hands to show."""
        state, deal = self.state, self.state.current
        if deal is None or not deal.closed:
            unready = state.open and (
                state.defective or (deal is not None and state.shuffler is not None)
            )
            return ("deck.check",) if unready else ()
        return ("cards.show",) if not deal.due and self.missing() else ()

    @property
    def current(self) -> BankedDeal:
        """The round in progress; the caller ensures that there is one."""
        assert self.state.current is not None
        return self.state.current

    @property
    def deck(self) -> tuple[str, ...]:
        """All cards of the deck in use."""
        return deck(self.book.deck)

    # Phases, and where cards go

    def stage(self) -> Phase:
        """The phase, regardless of any stop."""
        deal = self.state.current
        if not self.state.open:
            return Phase.CLOSED
        if deal is None:
            return Phase.WAITING
        if not deal.closed:
            return Phase.BETS_OPEN
        return Phase.DEALING if deal.due else self.after_deal()

    @abstractmethod
    def after_deal(self) -> Phase:
        """The phase of the round while no card is due."""

    def belongs(self) -> str | None:
        """The hand that gets the next card."""
        return self.current.due[0] if self.current.due else None

    @property
    def holds(self) -> bool:
        """True while the table is stopped: a card that comes waits."""
        return self.state.stop is not None

    def objection(self, held: Held) -> tuple[str, str | None] | None:
        """Why this card must not go where the next one belongs. A device never turns a card."""
        drawn, stage = held.given, self.stage()
        early = PHASES[stage].card
        if stage in (Phase.WAITING, Phase.BETS_OPEN) and early is not None:
            return early, None
        to, why = self.belongs(), None if drawn.unsure else self.too_early()
        claimed = self.trusts_places and drawn.to is not None and drawn.to.startswith(PLACES)
        if drawn.unsure or (why is None and to is not None and claimed and drawn.to != to):
            return "card_unsure", None
        if why is not None or to is None:
            return why or "card_extra", None
        if (held.packet or 1) > self.current.due.count(to):
            return "packet_wrong", f"a packet of {held.packet} for {to}"
        cards = () if drawn.card is None else (drawn.card,)
        if wrong := on_table.trouble(self.current.cards, cards, self.deck):
            return wrong, None
        return ("card_exposed", to) if drawn.exposed and not self.faces_up(to) else None

    def hold(self, held: Held, what: str, detail: str | None = None) -> None:
        """Stop the table with this card; an exposed one may void the round."""
        law = self.void_if_seen(detail) if what == "card_exposed" and detail else None
        if law is None:
            super().hold(replace(held, trouble=what), what, detail)
            return
        self.irregular(what, detail=detail)
        self.void(self.number, "card_exposed", law)

    def place(self, drawn: CardDrawn, to: str, *, seen: bool = False, count: int = 1) -> None:
        """Deal a card, or an unread one, which stays unknown."""
        self.place_card(to, drawn.card, up=seen, reading=drawn.reading, count=count)
        if self.state.current is not None:
            self.advance()

    def late(self, held: Held) -> None:  # noqa: ARG002
        """Handle a card that came unseen: one may be missing."""
        self.lose_place()

    def lose_place(self) -> None:
        """Record that a card may have come unseen, if one is due."""
        deal = self.state.current
        if deal is None or not deal.closed or deal.gap or not deal.due:
            return
        self.change_current(gap=True)
        self.irregular("silence", asks=self.state.asks)

    def open_bets(self, by: str | None = None, *, relaunch: bool = False) -> None:
        """Open bets for the next round; a void one is played again."""
        last = self.state.entry(self.state.round)
        relaunch = last is not None and last.kind == "void"
        super().open_bets(by, relaunch=relaunch)

    def close_bets(self, by: str | None = None, *, unobserved: bool = False) -> None:
        """Close the bets and begin the deal."""
        super().close_bets(by, unobserved=unobserved)
        self.begin_deal()

    def place_card(
        self,
        to: str,
        card: str | None = None,
        *,
        up: bool = False,
        reading: int | None = None,
        count: int = 1,
    ) -> None:
        """Deal cards to a hand. A card that is face up against the rules counts as exposed. Only a
        person sets ``up``, never a device.
        """
        before, by_rule = self.current.cards, self.faces_up(to)
        lies = up or by_rule
        self.put(on_table.place_card(before, to, card, up=lies, reading=reading, count=count))
        if up and not by_rule:
            self.exposed(to)

    def show(self, command: CardsShow, *, trust: bool = False) -> None:
        """Show a hand with these cards. Cards that contradict the deal wait for a person, unless
        ``trust`` says that a person confirmed them.
        """
        table, who = self.current.cards, command.who
        if trust:
            table = on_table.unread(table, who, command.cards)
        wrong = on_table.trouble(table, command.cards, self.deck, but=who)
        if wrong == "card_foreign" or len(set(command.cards)) < len(command.cards):
            raise RejectedError("cards_not_of_deck")
        if command.index is not None and len(command.cards) != 1:
            raise RejectedError("one_card_with_index", count=len(command.cards))
        if command.index is None:
            after = on_table.show(table, who, command.cards, trust=trust)
        else:
            [card] = command.cards
            after = on_table.show_one(table, who, command.index, card, trust=trust)
        if wrong is not None or isinstance(after, str):
            if trust:
                raise RejectedError("card_up_elsewhere")
            self.change(shown=command)
            self.doubt("shown_differs", about=who, detail=f"{who}, there twice" if wrong else who)
            return
        self.resolve("shown_differs", "card_unread")
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
        event = HandDecided(
            round=self.current.round,
            who=who,
            decision=decision,
            by=by,
            announcement=call,
            valid=valid,
        )
        self.emit(event)

    # The outcome of a round

    def behind(self) -> DealtRound:
        """The round without its order, once all its cards have come."""
        return replace(self.current, order=())

    def leave(self) -> None:
        """End the round in progress and clear what stopped it."""
        untouched = self.state.checked and not self.current.cards
        self.change(current=None, doubt=None, about=None, shown=None, held=(), checked=untouched)

    # Irregularities

    def doubt(self, what: str, *, about: str | None = None, detail: str | None = None) -> None:
        """Stop the table until a person decides."""
        self.change(doubt=what, about=about)
        self.irregular(what, detail=detail, asks=self.state.asks)

    def resolve(self, *doubts: str) -> None:
        """Clear the doubt if it is one of these."""
        if self.state.doubt in doubts:
            self.change(doubt=None, about=None, shown=None)
