"""One step of a table of trente et quarante: the moves that readings and commands consist of.

Each move changes the state and emits its event together, so that the two cannot diverge.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from msgspec.structs import replace

from controller.contract.commands import Command, VoidReason
from controller.contract.events import (
    CardDealt,
    CardExpected,
    ResultCorrected,
    RoundResult,
    RoundUnresolved,
)
from controller.games import shoe
from controller.games.coups import CoupTurn
from controller.games.moves import frame_of
from controller.games.stakes import Bounds, bounds
from controller.games.trente import refait
from controller.games.trente.rows import ROWS, Winner, hands, is_coup, marks, next_row, rows, winner
from controller.games.trente.settings import TrenteSettings
from controller.games.trente.state import QUEUE, TrenteCard, TrenteCoup, TrenteEntry, TrenteState
from controller.rulebooks.law import Law
from controller.rulebooks.trente import Trente
from devices.readings import CardDrawn


class TrenteTurn(CoupTurn[Trente, TrenteSettings, TrenteState]):
    """One step of a table of trente et quarante."""

    coup = TrenteCoup
    outcome = TrenteEntry
    queue = QUEUE

    def offered(self) -> Mapping[str, Bounds]:
        """The chances, and the insurance of a bet against 31-31, which costs a fraction of
        the bet.
        """
        table = bounds(self.state.minimum, self.book.limits, self.settings.highest.get("chances"))
        part = Fraction(*self.book.insurance)
        return {
            **dict.fromkeys(self.book.chances, table),
            "insurance": Bounds(None, None if table.most is None else part * table.most),
        }

    # The course of a round

    def close_bets(self, by: str | None = None, *, unobserved: bool = False) -> None:
        """No more bets; the cards may come. A silence of the device that has not ended may hide one
        of them. ``unobserved``: nobody closed the bets, so one may be hidden since they opened.
        """
        coup = self.state.current
        assert coup is not None
        self.shut(by, unobserved=unobserved, gap=self.state.silent or (unobserved and coup.gap))

    def place(self, given: CardDrawn) -> None:
        """Deal the card to the row that the rules say."""
        coup = self.state.current
        assert coup is not None
        to = next_row(coup.known)
        assert to is not None
        black, red = rows(coup.known)
        index = len(black if to == "black" else red) + 1
        self.change_current(cards=(*coup.cards, TrenteCard(card=given.card, frame=frame_of(given))))
        self.say(CardDealt(round=coup.round, to=to, index=index, card=given.card))
        if given.card is None:
            self.irregular("card_unread", asks=self.state.asks, detail=f"{to} {index}")
        self.settle()

    def settle(self) -> None:
        """Publish the result if both rows are full; else announce where the next card belongs."""
        coup = self.state.current
        if coup is not None and not coup.unread and is_coup(coup.known):
            if coup.gap:
                self.unresolved(coup, "silence")
            else:
                self.result(coup.round, coup.cards, coup.confirmed_by)
        self.expect()

    def expect(self) -> None:
        """Announce where the next card belongs, if that changed."""
        state, to = self.state, None
        coup = state.current
        if (
            coup is not None
            and coup.closed
            and not (coup.unread or coup.gap or state.queue or state.reset)
        ):
            to = next_row(coup.known)
        if to != state.expected:
            self.change(expected=to)
            self.say(CardExpected(round=coup.round if coup else 0, to=to))

    def clear_shoe(self, left: int | None = None) -> None:
        """End the shoe; its cards leave the table. ``left``: the number that a person counted."""
        now, behind = self.state.shoe, self.book.shoe.behind
        if now is None:
            return
        if now.cut_at is not None and (self.state.tail or left is not None):
            if (counted := self.state.tail + (left or 0)) != behind:
                self.irregular(
                    "last_five", detail=f"{counted} cards, {behind} are behind the cut card"
                )
        elif shoe.miscounted(now, left):
            self.irregular("shoe_count", detail=f"{left} cards are left, by the count {now.left}")
        why: Literal["cut", "reset", "person"] = (
            "cut" if now.cut_at is not None else "reset" if self.state.reset else "person"
        )
        self.say(shoe.ended(now, why, left))
        self.change(
            shoe=None,
            tail=0,
            queue=(),
            carried=(),
            queue_overflowed=False,
            reset=False,
            out_of_sync=False,
            unseen=False,
        )
        self.expect()

    # Its outcome: a result, void, or unresolved

    def result(
        self,
        number: int,
        cards: tuple[TrenteCard, ...],
        confirmed_by: str | None = None,
        said: Winner | None = None,
    ) -> None:
        """Publish the result: by its cards, or on a person's word (``said``) where not all are
        known.
        """
        known = tuple(each.card for each in cards if each.card is not None)
        won = said or winner(known)
        shown, also = ((), marks_said(won)) if said else (hands(known), marks(known))
        frames = tuple(each.frame for each in cards if each.frame is not None)
        entry = TrenteEntry(
            round=number,
            kind="result",
            winner=won,
            hands=shown,
            marks=also,
            last=self.state.is_last(number),
        )
        self.record(entry)
        self.say(
            RoundResult(
                round=number,
                outcome=refait.outcome(self.state, self.settings, entry),
                frames=frames,
                confirmed_by=confirmed_by,
                announcement=self.book.announcements.get(_CALLS.get(also[0] if also else "", "")),
            )
        )
        self.count_down(number)

    def correct(self, entry: TrenteEntry, won: Winner, by: Command) -> None:
        """Correct a published result. It is replaced, never erased. Its cards are not repeated:
        they made another result.
        """
        before = refait.counts(self.state)
        now = replace(entry, winner=won, hands=(), marks=marks_said(won), corrected=True)
        self.record(now)
        self._corrected(now, entry.winner, by)
        self.tell_refaits(before, now.round, by)

    def _corrected(self, entry: TrenteEntry, was: Winner | None, by: Command) -> None:
        self.say(
            ResultCorrected(
                round=entry.round,
                replaces=None,
                replaces_boot=None,
                outcome=refait.outcome(self.state, self.settings, entry),
                was=was or entry.winner,
                by=by.by,
                role=by.role,
            )
        )

    def tell_refaits(self, before: dict[int, int], number: int, by: Command) -> None:
        """Announce later refaits again if their count changed with it: their bets are worth more,
        or less.
        """
        now = refait.counts(self.state)
        for entry in self.state.entries:
            if entry.round > number and before.get(entry.round) != now.get(entry.round):
                self._corrected(entry, entry.winner, by)

    def void(
        self, of: TrenteCoup | TrenteEntry, reason: VoidReason, law: Law, by: Command | None = None
    ) -> None:
        """Void the round: by the cut card, or on a person's word."""
        self.record(TrenteEntry(round=of.round, kind="void", reason=reason, article=law.article))
        self.say_void(of.round, reason, law, by, self.book.announcements.get("void"))

    def unresolved(
        self,
        coup: TrenteCoup,
        why: Literal["silence", "undecided"],
        late: tuple[TrenteCard, ...] = (),
    ) -> None:
        """The result is not certain; nobody invents it. Cards that may still come belong to no
        round.
        """
        waiting = tuple(
            TrenteCard(card=each.given.card, frame=frame_of(each.given))
            for each in self.state.queue
        )
        whole = not coup.unread and is_coup(coup.known) and not waiting and not late
        self.record(
            TrenteEntry(round=coup.round, kind="unresolved", cards=coup.cards + waiting + late)
        )
        self.change(out_of_sync=not whole, queue_overflowed=False)
        candidate = winner(coup.known) if whole else None
        frames = tuple(each.frame for each in coup.cards if each.frame is not None)
        self.say(RoundUnresolved(round=coup.round, why=why, candidate=candidate, frames=frames))

    def record(self, entry: TrenteEntry) -> None:
        """Keep an outcome; if it is that of the round in progress, the round is over."""
        coup = self.state.current
        self.state = self.state.with_entry(entry)
        if coup is not None and coup.round == entry.round:
            state = self.state
            lost = bool(state.queue) and state.queue_overflowed and self.settings.rounds == "shoe"
            self.change(
                current=None,
                queue=(),
                queue_overflowed=state.queue_overflowed and not state.queue,
                out_of_sync=state.out_of_sync or lost,
            )


def marks_said(won: Winner) -> tuple[str, ...]:
    """What else is known of a result given only on a person's word."""
    return () if won in ROWS else (won,)


_CALLS = {"colour": "colour_wins", "inverse": "colour_loses"}
