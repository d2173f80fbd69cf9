"""The course of a coup of trente et quarante: cards go face up to the black row until it makes 31
or more, then to the red one. The cut card voids the coup and ends the shoe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from common.contract.commands import CardDecide, Command, LastRoundsAnnounce, RoundVoid
from common.contract.events import (
    Announcement,
    CardDealt,
    CardRemoved,
    TrenteOutcome,
)
from common.contract.refusals import RejectedError
from common.readings import CardCut, CardDrawn
from controller.games import shoe, stakes, talla
from controller.games.coups import commands
from controller.games.coups.turn import CoupTurn, Made, Why, of_no_place
from controller.games.dealt.cards import Table, dealt
from controller.games.dealt.state import DealtRound, Held
from controller.games.session import announce_last_rounds, confirmer, round_to_void, void_law
from controller.games.stakes import Bounds, bounds
from controller.games.trente import refait
from controller.games.trente.rows import ROWS, WINNERS, hands, is_coup, marks, next_row, winner
from controller.games.trente.settings import TrenteSettings
from controller.games.trente.state import MAX_WAITING_CARDS, TrenteEntry, TrenteState
from controller.rulebooks.trente import Trente


class TrenteTurn(CoupTurn[Trente, TrenteSettings, TrenteState]):
    """One step of a table of trente et quarante."""

    entry_type = TrenteEntry
    max_held = MAX_WAITING_CARDS
    winners = WINNERS

    def offered(self) -> Mapping[str, Bounds]:
        """The chances, and their insurance against 31-31, with their limits."""
        table = bounds(self.state.minimum, self.book.limits, self.settings.highest.get("chances"))
        return {**dict.fromkeys(self.book.chances, table), "insurance": Bounds()}

    def require_highest(self, minimum: int) -> None:
        """Reject a minimum of which the highest bet is not a multiple that the decree allows."""
        law = self.book.laws.get("bet_limit")
        stakes.require_lawful(self.settings.highest, bands(self.book), minimum, law)

    # Where cards go

    def belongs(self) -> str | None:
        """The row that is not full; None behind an unread card and after a silence."""
        coup = self.state.current
        return None if coup is None or coup.unread or coup.gap else next_row(coup.known)

    def arrived(self, drawn: CardDrawn) -> Held | None:
        """Count a card, also the last five, which come face down after the cut card."""
        held = super().arrived(drawn)
        if held is None or self.state.shoe is None or self.state.shoe.cut_at is None:
            return held
        self.change(tail=self.state.tail + 1)
        law, behind = self.book.laws["last_five"], self.book.shoe.behind
        self.emit(CardRemoved(why="last_cards", card=None, law=law.rule, article=law.article))
        if self.state.tail == behind + 1:
            self.irregular("last_five", detail=f"more than {behind} cards came after the cut card")
        return None

    def unplaced(self, held: Held) -> None:
        """Leave the coup to a person after a silence; else wait until the card before is known."""
        coup = self.state.current
        if coup is None or coup.unread:
            self.wait(held)
        else:
            self.unresolved(coup, "silence", (of_no_place(held),))

    def advance(self) -> None:
        """Publish the result once both rows are full."""
        coup = self.state.current
        if coup is None or (outcome := self.whole(coup.cards)) is None:
            return
        if coup.gap:
            self.unresolved(coup, "silence")
        else:
            self.result(coup, outcome, coup.confirmed_by)

    def restart(self) -> None:
        """Record a restart; the waiting cards are dropped with the round in progress."""
        super().restart()
        self.change(unseen=False, held=(), overflowed=False)

    # What wins

    def judged(self, cards: Sequence[str]) -> Made | None:
        """The outcome of these cards in order; None unless they are exactly one whole coup."""
        return (winner(cards), hands(cards), marks(cards)) if is_coup(cards) else None

    def stated_marks(self, won: str) -> tuple[str, ...]:
        """The marks of a result given by a person without cards."""
        return () if won in ROWS else (won,)

    def result_call(self, marks: tuple[str, ...]) -> Announcement | None:
        """The call that announces the winning colour."""
        return self.call(_CALLS.get(marks[0] if marks else "", ""))

    def noted(self, entry: TrenteEntry) -> TrenteEntry:
        """The result, marked if it is a refait of the last round, which is settled differently."""
        return replace(entry, last=self.state.is_last(entry.round))

    def outcome_of(self, entry: TrenteEntry) -> TrenteOutcome:
        """The outcome of a coup with a result."""
        return refait.outcome(self.state, self.settings, entry)

    def revise(self, before: TrenteState, number: int, by: Command) -> None:
        """Publish later refaits again if their count changed: their bets are worth more, or
        less.
        """
        was, now = refait.counts(before), refait.counts(self.state)
        for entry in self.state.entries:
            if entry.round > number and was.get(entry.round) != now.get(entry.round):
                self.emit_correction(entry, entry.winner, by)

    def unresolved(self, coup: DealtRound, why: Why, late: Table = ()) -> None:
        """Leave the result open; waiting cards may belong to the coup too."""
        super().unresolved(coup, why, (*map(of_no_place, self.state.held), *late))

    # Decisions

    def decide_unread(self, command: CardDecide) -> bool:
        """Read or remove the last, unread card of the round."""
        coup, held, now = self.state.current, self.state.held, self.state.shoe
        if coup is None or now is None or not coup.unread:
            return False
        *before, last = coup.cards
        self.change(held=())
        if command.action == "remove":
            self.change_current(cards=tuple(before))
            self.emit(CardRemoved(round=coup.round, why="card_unread", card=None))
        elif command.action == "read":
            card = talla.read_card(command)
            counted, trouble = shoe.read(now, card)
            self.change(shoe=counted)
            self.change_current(cards=(*before, replace(last, card=card)))
            index = len(dealt(coup.cards, last.to))
            self.emit(CardDealt(round=coup.round, to=last.to, index=index, card=card))
            if trouble is not None:
                self.irregular(trouble)
        else:
            raise RejectedError("card_not_read_on_table")
        self.change_current(confirmed_by=confirmer(command))
        self.settle()
        self.change(held=held)
        commands.release(self)
        return True

    def decide_held(self, command: CardDecide, held: Held) -> None:
        """Accept the held card, read it, remove it, or keep it as the first of the next round."""
        rest = self.state.held[1:]
        self.change(held=())
        if command.action == "remove":
            commands.remove(self, command, held.trouble or "decided", held.given.card)
        elif command.action == "for":
            raise RejectedError("card_placed_by_rules")
        else:
            self._accept(
                command, commands.read(self, command, held) if command.action == "read" else held
            )
        self.change(held=rest)

    def _accept(self, command: CardDecide, held: Held) -> None:
        commands.of_the_game(held)
        sound, coup = Held(given=replace(held.given, unsure=False)), self.state.current
        if (coup is not None and command.action == "next_round") or (
            not self.by_shoe and (coup is None or not coup.closed)
        ):
            self.change(carried=(*self.state.carried, sound))
            commands.record_confirmer(self, command)
            return
        self.ready()
        commands.record_confirmer(self, command)
        coup = self.state.current
        assert coup is not None
        to = next_row(coup.known)
        if coup.gap or to is None:
            self.unresolved(coup, "silence", (of_no_place(sound),))
        else:
            self.place(sound.given, to)

    def confirmation_refusal(self, coup: DealtRound) -> RejectedError | None:
        """Why the round in progress may not be confirmed: a card waits, or no silence hides one."""
        waits = self.state.held or coup.unread
        return RejectedError("card_waits") if waits else super().confirmation_refusal(coup)

    # The cut card

    def cut(self, by: Command | None = None) -> None:
        """Void the round in progress after the cut card, which the decree's number of cards
        follows. ``by``: the person who reported it.
        """
        coup = self.state.current
        assert self.state.shoe is not None
        self.change(shoe=replace(shoe.cut(self.state.shoe), over=True), carried=())
        talla.cut(self, self.number, 0)
        if coup is not None:
            self.void(coup.round, "cut_card", self.book.void["cut_card"], by)
        self.change(held=(), overflowed=False, out_of_sync=False, unseen=False)

    def count_out(self, now: shoe.Shoe, left: int | None) -> None:
        """Compare the cards behind the cut card with the decree's number."""
        if now.cut_at is None:
            super().count_out(now, left)
            return
        tail, behind = self.state.tail, self.book.shoe.behind
        if (tail or left is not None) and (counted := tail + (left or 0)) != behind:
            self.irregular("last_five", detail=f"{counted} cards, {behind} are behind the cut card")
        self.emit(shoe.ended(now, "cut", left))

    def new_shoe(self) -> None:
        """Reset the cut card."""
        self.change(tail=0)


_CALLS: Mapping[str, Literal["colour_wins", "colour_loses"]] = {
    "colour": "colour_wins",
    "inverse": "colour_loses",
}


def on_cut(turn: TrenteTurn, _reading: CardCut) -> None:
    """Handle the cut card."""
    now = turn.state.shoe
    if now is not None and not now.continuous and now.cut_at is None:
        turn.cut()


def void(turn: TrenteTurn, command: RoundVoid) -> None:
    """Void the round by decision of the person in charge, also for a cut card that the shoe did not
    see.
    """
    round_, now = round_to_void(turn, command), turn.state.shoe
    law = void_law(turn, command)
    if command.reason != "cut_card" or not isinstance(round_, DealtRound):
        turn.void(round_.round, command.reason, law, command)
    elif now is None or now.continuous:
        raise RejectedError("no_cut_card")
    else:
        turn.cut(command)


def announce_last(turn: TrenteTurn, command: LastRoundsAnnounce) -> None:
    """Announce the last rounds of the session. Where the decree gives no number, it is the round in
    progress, or the next: in the last one 31-31 leaves no choice.
    """
    announce_last_rounds(turn, command, default=1)


def bands(book: Trente) -> dict[str, stakes.Band]:
    """The highest bets that the decree allows on a chance."""
    return {"chances": stakes.Band(book.limits)}
