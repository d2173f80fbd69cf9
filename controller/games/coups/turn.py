"""One step of a table of coups: the moves that punto y banca and trente et quarante share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from msgspec.structs import replace

from common.contract.commands import CardDecide, Command, VoidReason
from common.contract.events import Announcement, Hand, RoundResult, RoundUnresolved
from common.contract.refusals import RejectedError
from common.readings import CardDrawn
from controller.games import shoe, talla
from controller.games.cards import is_card
from controller.games.coups.settings import CoupSettings
from controller.games.coups.state import CoupState
from controller.games.dealt.arrivals import follow_all
from controller.games.dealt.cards import Table, TableCard, readings
from controller.games.dealt.phases import PHASES, Phase
from controller.games.dealt.state import DealtEntry, DealtRound, Held
from controller.games.dealt.turn import B, DealtTurn
from controller.games.session import count_down
from controller.games.stakes import Bounds
from controller.rulebooks.law import Law

S = TypeVar("S", bound=CoupSettings)
T = TypeVar("T", bound=CoupState[Any])
Why = Literal["silence", "witnesses_disagree", "undecided"]

Made = tuple[str, tuple[Hand, ...], tuple[str, ...]]
"""The outcome of a coup's cards: the winner, the hands, the marks."""


class CoupTurn(DealtTurn[B, S, T]):
    """One step of such a table."""

    winners: tuple[str, ...]
    """The winners that a person may give."""

    @property
    def by_shoe(self) -> bool:
        """True if bets open and close by themselves: the first card of a round shows it."""
        return self.settings.rounds == "shoe"

    def stage(self) -> Phase:
        """The phase, regardless of any stop."""
        state = self.state
        if not state.open:
            return Phase.CLOSED
        if state.shoe is None:
            return Phase.NO_SHOE
        if state.current is not None:
            return Phase.DEALING if state.current.closed else Phase.BETS_OPEN
        return Phase.SHOE_OVER if state.shoe.over else Phase.WAITING

    @abstractmethod
    def offered(self) -> Mapping[str, Bounds]:
        """The bets on offer, and the limits of each."""

    # What wins

    @abstractmethod
    def judged(self, cards: Sequence[str]) -> Made | None:
        """The outcome of these cards in order; None unless they are exactly one whole coup."""

    @abstractmethod
    def stated_marks(self, won: str) -> tuple[str, ...]:
        """The marks of a result given by a person without cards."""

    def whole(self, cards: Table) -> Made | None:
        """The outcome of cards on the table; None also if one is unknown or foreign."""
        read_cards = tuple(card.card for card in cards if card.card is not None)
        sound = len(read_cards) == len(cards) and all(map(is_card, read_cards))
        return self.judged(read_cards) if sound else None

    def stated_winner(self, winner: str | None) -> str:
        """The winner given by a person. Raises ``RejectedError`` for any other."""
        if winner is None or winner not in self.winners:
            raise RejectedError("winner_one_of", winners=self.winners)
        return winner

    def result_call(self, marks: tuple[str, ...]) -> Announcement | None:  # noqa: ARG002
        """The call that announces a result."""
        return None

    # Arrivals

    def arrived(self, drawn: CardDrawn) -> Held | None:
        """Count a card that left the shoe, wherever it goes. None if the table accepts none."""
        state, trouble = self.state, None
        if state.shoe is not None:
            counted, trouble = shoe.draw(state.shoe, drawn.card)
            self.change(shoe=counted)
        held = super().arrived(drawn)
        if held is not None and state.shoe is None:
            talla.missing(self, drawn)
            return None
        return held and replace(held, trouble=None if trouble == "card_unread" else trouble)

    @property
    def holds(self) -> bool:
        """True also while the content of the shoe is unknown."""
        return self.state.reset or bool(self.state.held)

    def wait(self, held: Held) -> None:
        """Make the card wait, unless the content of the shoe is unknown."""
        if not self.state.reset:
            super().wait(held)

    def overflow(self) -> None:
        """Record that more cards came than can wait: their round lacks them."""
        self.change(overflowed=True)

    def found(self, drawn: CardDrawn) -> bool:  # noqa: ARG002 - not every shoe knows a round
        """Whether the shoe itself reports this as the first card of a round."""
        return False

    def divert(self, held: Held) -> bool:
        """Handle a card of no round after a silence, and one before which another is due."""
        state = self.state
        if state.out_of_sync and not self.found(held.given):
            if state.unseen:
                self.lose()
            return True
        if self.by_shoe and state.current is None and state.carried:
            self.change(carried=())
            follow_all(self, (*state.carried, held))
            return True
        return False

    def objection(self, held: Held) -> tuple[str, str | None] | None:
        """The card's own trouble, or that the phase accepts no card. Without keys a card opens its
        round itself.
        """
        if held.trouble is not None:
            return held.trouble, None
        if held.given.unsure:
            return "card_unsure", None
        stage = self.stage()
        opens = self.by_shoe and stage in (Phase.WAITING, Phase.BETS_OPEN)
        why = None if opens else PHASES[stage].card
        return None if why is None else (why, None)

    def ready(self) -> None:
        """Without keys, open the round with its first card and close its bets."""
        if self.state.current is None:
            self.open_bets()
        if self.state.current is not None and not self.state.current.closed and self.by_shoe:
            self.close_bets(unobserved=True)

    # Bets

    def open_bets(self, by: str | None = None, *, relaunch: bool = False) -> None:
        """Open bets for the next round."""
        self.change(out_of_sync=False, unseen=False)
        super().open_bets(by, relaunch=relaunch)

    def close_bets(self, by: str | None = None, *, unobserved: bool = False) -> None:
        """Close the bets. A silence that has not ended may hide a card from then on; if bets close
        by themselves, one may be hidden since they opened.
        """
        coup = self.state.current
        assert coup is not None
        before = coup.gap and (unobserved or bool(coup.cards))
        self.change_current(gap=bool(self.state.silent) or before)
        super().close_bets(by, unobserved=unobserved)

    # Gaps

    def is_complete(self) -> bool:
        """Whether all cards of the round in progress have come and are face up."""
        return False

    def lose_place(self) -> None:
        """Record that cards may have come unseen, to the round in progress or, without keys, to
        another.
        """
        state, coup = self.state, self.state.current
        if coup is not None:
            if (coup.begun or self.by_shoe) and not self.is_complete():
                self.open_gap(coup)
        elif self.by_shoe and state.shoe is not None and not state.shoe.over:
            self.change(out_of_sync=True, unseen=state.unseen or not state.out_of_sync)

    def open_gap(self, coup: Any) -> None:
        """Record that a card of the round may be hidden."""
        self.change_current(gap=True)
        if not coup.gap:
            self.irregular("silence", asks=self.state.asks)

    def late(self, held: Held) -> None:
        """Store a card known only after a silence, for the person who decides about its round."""
        state, card = self.state, of_no_place(held)
        assert state.shoe is not None
        self.change(shoe=shoe.lose_count(state.shoe))
        last: DealtEntry | None = state.entries[-1] if state.entries else None
        open_still = last is not None and last.kind == "unresolved" and last.round == state.round
        if state.current is not None:
            self.unresolved(state.current, "silence", (card,))
            self.change(out_of_sync=True)
        elif state.out_of_sync and not state.unseen and open_still and last is not None:
            self.state = self.state.with_entry(replace(last, cards=(*last.cards, card)))
        elif self.by_shoe:
            self.lose((card,))
        elif not state.out_of_sync:
            self.change(out_of_sync=True)
            self.irregular("card_out_of_round", detail="known only after a silence")

    def lose(self, cards: Table = ()) -> None:
        """Count a round whose beginning was not seen; a person gives its result."""
        number = self.state.round + 1
        self.change(round=number, out_of_sync=True, unseen=False)
        entry = self.entry_type(round=number, kind="unresolved", cards=cards)
        self.record(entry)
        evidence = self.evidence(entry)
        self.emit(RoundUnresolved(round=number, why="silence", candidate=None, readings=evidence))

    def miss(self) -> None:
        """Record that a silence may have hidden cards."""
        self.lose_place()

    def restart(self) -> None:
        """Record a restart: only a person knows whether the shoe has new cards or the same."""
        now = self.state.shoe
        assert now is not None
        self.change(shoe=shoe.lose_count(now), reset=not now.over, out_of_sync=False)

    # Decisions

    @abstractmethod
    def decide_unread(self, command: CardDecide) -> bool:
        """Decide about an unread card on the table. Returns whether there was one."""

    @abstractmethod
    def decide_held(self, command: CardDecide, held: Held) -> None:
        """Decide about the first held card."""

    def confirmation_refusal(self, coup: Any) -> RejectedError | None:
        """Why the round in progress may not be confirmed: no silence hides a card of it."""
        return None if coup.gap else RejectedError("nothing_to_confirm", round=coup.round)

    # The outcome of a round

    def evidence(self, round_: DealtRound | DealtEntry) -> tuple[int, ...]:
        """The readings behind a round, oldest first."""
        earlier = round_.readings if isinstance(round_, DealtEntry) else ()
        return tuple(sorted({*earlier, *readings(round_.cards)}))

    def result(
        self,
        round_: DealtRound | DealtEntry,
        outcome: Made,
        confirmed_by: str | None = None,
    ) -> None:
        """Publish the result."""
        won, hands, marks = outcome
        evidence = self.evidence(round_)
        entry = self.entry_type(
            round=round_.round,
            kind="result",
            winner=won,
            hands=hands,
            marks=marks,
            readings=evidence,
        )
        entry = self.noted(entry)
        self.record(entry)
        self.emit(
            RoundResult(
                round=round_.round,
                outcome=self.outcome_of(entry),
                frames=(),
                readings=evidence,
                confirmed_by=confirmed_by,
                announcement=self.result_call(marks),
            )
        )
        count_down(self, round_.round)
        self.close_shoe()

    def noted(self, entry: Any) -> Any:
        """The result with the game's own fields."""
        return entry

    def revise(self, before: Any, number: int, by: Command) -> None:
        """Report other changes caused by a result given by a person. ``before``: the earlier
        state.
        """

    def candidate(self, coup: Any, late: Table) -> str | None:
        """The winner if all cards of the round were seen; None if one may be missing."""
        outcome = None if late else self.whole(coup.cards)
        return None if outcome is None else outcome[0]

    def ended(self, coup: Any) -> bool:  # noqa: ARG002 - not every shoe reports it
        """Whether the shoe itself reported that all cards of the round had come."""
        return False

    def unresolved(self, coup: Any, why: Why, late: Table = ()) -> None:
        """Leave the result open: it is uncertain, and is not invented. Later cards belong to no
        round. ``late``: its cards that were not dealt.
        """
        candidate, cards = self.candidate(coup, late), (*coup.cards, *late)
        entry = self.entry_type(
            round=coup.round, kind="unresolved", cards=cards, readings=self.evidence(coup)
        )
        self.record(entry)
        self.change(out_of_sync=candidate is None and not self.ended(coup))
        self.emit(
            RoundUnresolved(
                round=coup.round,
                why=why,
                candidate=candidate,
                readings=self.evidence(entry),
            )
        )
        self.close_shoe()

    def void(self, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
        """Void the round, because of the cut card or by a person's decision."""
        super().void(number, reason, law, by)
        self.close_shoe()

    def leave(self) -> None:
        """End the round in progress. Without keys, the table is out of sync if waiting cards were
        dropped.
        """
        state, dropped = self.state, bool(self.state.held)
        lost = dropped and state.overflowed and self.by_shoe
        self.change(
            current=None,
            held=(),
            overflowed=state.overflowed and not dropped,
            out_of_sync=state.out_of_sync or lost,
        )

    # The shoe

    def close_shoe(self) -> None:
        """End the shoe after its cut card, once no round is in progress."""
        now = self.state.shoe
        if self.state.current is None and now is not None and now.cut_at is not None:
            self.end_shoe(now)

    def end_shoe(self, now: shoe.Shoe) -> None:
        """No further round begins with this shoe."""
        if not now.over:
            self.change(shoe=replace(now, over=True))
            self.emit(shoe.ended(now, "cut"))

    def new_shoe(self) -> None:
        """Prepare a new shoe before its first round."""

    def count_out(self, now: shoe.Shoe, left: int | None) -> None:
        """Compare the cards left in the shoe with the count, and report the end of the shoe."""
        if shoe.miscounted(now, left):
            self.irregular("shoe_count", detail=f"{left} cards are left, by the count {now.left}")
        if not now.over:
            self.emit(shoe.ended(now, "reset" if self.state.reset else "person", left))

    def clear_shoe(self, left: int | None = None) -> None:
        """End the shoe; its cards leave the table. ``left``: the number that a person counted."""
        if self.state.shoe is None:
            return
        self.count_out(self.state.shoe, left)
        self.change(shoe=None, held=(), carried=(), overflowed=False)
        self.change(reset=False, out_of_sync=False, unseen=False)
        self.expect()


Turn = CoupTurn[Any, Any, Any]


def of_no_place(held: Held) -> TableCard:
    """The held card as a table card without a place."""
    return TableCard(to="", card=held.given.card, reading=held.given.reading)
