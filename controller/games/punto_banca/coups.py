"""Coups dealt from a shoe in which no hand has a choice: what the table does at punto y banca.

Cards that stop the table wait in ``queue`` until a person decides; those decided to be the first of
the next round are ``carried``. ``out_of_sync``: cards go to no round, since a silence may have
hidden where one ended or began.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from controller.contract.commands import CardDecide, ResultCorrect, SessionOpen, ShoeEnd
from controller.contract.events import (
    Announcement,
    BetsClosed,
    RoundOpened,
    RoundUnresolved,
)
from controller.contract.refusals import RejectedError
from controller.games import shoe, talla
from controller.games.rounds import E, Lawful, RoundMoves, Rounds
from controller.games.session import another_round, corrects, count_down, no_round, session
from devices.readings import CardDrawn


class Waiting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card that waits for a person's decision. ``trouble``: the shoe's objection by its count."""

    given: CardDrawn
    trouble: str | None = None


class Coup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress. Each game declares its own fields, as in its state."""

    if TYPE_CHECKING:
        round: int
        closed: bool = False
        gap: bool = False


class CoupEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one round. Each game declares its own fields, as in its state."""

    if TYPE_CHECKING:
        round: int
        kind: Literal["result", "void", "unresolved"]
        cards: tuple[Any, ...] = ()


class CoupState(Rounds[E], frozen=True, kw_only=True, omit_defaults=True):
    """Such a table between two inputs. Each state declares its own fields and documents them
    there.
    """

    if TYPE_CHECKING:
        current: Coup | None = None
        past: shoe.Past = ()
        shoe: shoe.Shoe | None = None
        queue: tuple[Waiting, ...] = ()
        queue_overflowed: bool = False
        out_of_sync: bool = False
        unseen: bool = False
        reset: bool = False
        last: int | None = None
        last_since: int = 0

    @property
    def astray(self) -> bool:
        """Whether cards go to no round, and a person may open one for them."""
        playable = self.shoe is not None and not self.shoe.over and self.last != 0
        return self.open and self.out_of_sync and self.current is None and playable


class CoupBook(Lawful, Protocol):
    """The part of a rulebook that is needed here."""

    @property
    def announcements(self) -> dict[str, Announcement]:
        """The calls."""
        ...


B = TypeVar("B", bound=CoupBook)
S = TypeVar("S")
T = TypeVar("T", bound=CoupState[Any])


class CoupTurn(RoundMoves[B, S, T]):
    """One step of such a table. Each game names its coup, its outcome and how many cards may
    wait.
    """

    coup: ClassVar[type[Coup]]
    outcome: ClassVar[type[CoupEntry]]
    queue: ClassVar[int]

    @abstractmethod
    def expect(self) -> None:
        """Announce where the next card belongs, if that changed."""

    @abstractmethod
    def unresolved(
        self, coup: Any, why: Literal["silence", "undecided"], late: tuple[Any, ...] = ()
    ) -> None:
        """The result is not known for certain; nobody invents it. ``late``: cards known only after
        a silence.
        """

    @abstractmethod
    def clear_shoe(self, left: int | None = None) -> None:
        """End the shoe; its cards leave the table. ``left``: the number that a person counted."""

    @abstractmethod
    def record(self, entry: Any) -> None:
        """Keep an outcome; if it is that of the round in progress, the round is over."""

    def open_bets(self, by: str | None = None) -> None:
        """Open bets for the next round."""
        number = self.state.round + 1
        self.change(round=number, current=self.coup(round=number), out_of_sync=False, unseen=False)
        self.say(
            RoundOpened(round=number, by=by, announcement=self.book.announcements.get("bets_open"))
        )

    def shut(self, by: str | None, *, unobserved: bool, gap: bool) -> None:
        """No more bets. ``gap``: a silence may hide a card from now on."""
        self.change_current(closed=True, gap=gap)
        call = self.book.announcements.get("bets_closed")
        self.say(BetsClosed(round=self.number, by=by, unobserved=unobserved, announcement=call))

    def lose(self, cards: tuple[Any, ...] = ()) -> None:
        """Count a round that nobody saw begin; a person gives its result."""
        number = self.state.round + 1
        self.change(round=number, out_of_sync=True, unseen=False)
        self.record(self.outcome(round=number, kind="unresolved", cards=cards))
        self.say(RoundUnresolved(round=number, why="silence", candidate=None))

    def count_down(self, number: int) -> None:
        """Count down the announced last rounds, if any."""
        count_down(self, number)


Turn = CoupTurn[Any, Any, Any]


# Cards


def arrived(turn: Turn, given: CardDrawn) -> Waiting | None:
    """Count a card that left the shoe, wherever it goes. None where the table takes none."""
    state, trouble = turn.state, None
    if state.shoe is not None:
        counted, trouble = shoe.draw(state.shoe, given.card)
        turn.change(shoe=counted)
    if not state.open:
        if "card_while_closed" not in state.alerts:
            turn.irregular("card_out_of_round")
        turn.raise_alert("card_while_closed", given)
        return None
    if state.shoe is None:
        talla.missing(turn, given)
        return None
    return Waiting(given=given, trouble=None if trouble == "card_unread" else trouble)


def waits(turn: Turn, waiting: Waiting) -> bool:
    """Whether the card waits behind others, or nobody knows what is in the shoe."""
    state = turn.state
    if state.reset:
        return True
    if len(state.queue) >= turn.queue:
        turn.change(queue_overflowed=True)
    elif state.queue:
        turn.change(queue=(*state.queue, waiting))
    return bool(state.queue)


def late(turn: Turn, card: Any) -> None:
    """Keep a card known only after a silence for the person who decides about its round. It is
    never acted upon.
    """
    state = turn.state
    turn.change(shoe=shoe.lose_count(state.shoe))
    last: CoupEntry | None = state.entries[-1] if state.entries else None
    if state.current is not None:
        turn.unresolved(state.current, "silence", (card,))
        turn.change(out_of_sync=True)
    elif (
        state.out_of_sync
        and not state.unseen
        and last is not None
        and last.kind == "unresolved"
        and last.round == state.round
    ):
        turn.state = turn.state.with_entry(replace(last, cards=(*last.cards, card)))
    elif turn.settings.rounds == "shoe":
        turn.lose((card,))
    elif not state.out_of_sync:
        turn.change(out_of_sync=True)
        turn.irregular("card_out_of_round", detail="known only after a silence")
    turn.expect()


# What people command


def open_session(turn: Turn, given: SessionOpen) -> None:
    """Open the table, without a shoe."""
    turn.open_session(given)
    turn.change(past=shoe.new_session(turn.state.past), last=None)
    turn.clear_alert("card_while_closed")


def end_shoe(turn: Turn, given: ShoeEnd) -> None:
    """Take the cards out of the shoe."""
    session(turn)
    no_round(turn)
    talla.end(turn, given)


def may_open(turn: Turn, *, burned: bool = True) -> None:
    """Reject a round for which the shoe is not ready."""
    another_round(turn, turn.state.last)
    no_round(turn)
    state, law = turn.state, turn.book.laws["shoe_over"]
    if state.shoe is None:
        raise RejectedError("no_shoe")
    if state.reset:
        raise RejectedError("shoe_restarted")
    if not burned:
        raise RejectedError("cards_not_burned")
    if state.queue:
        raise RejectedError("card_waits")
    if state.shoe.over:
        raise RejectedError("cut_card_came", law=law.cited)


def same_cards(turn: Turn, given: CardDecide) -> None:
    """The shoe restarted with the same cards in it."""
    if given.action != "accept":
        raise RejectedError("shoe_restarted")
    turn.change(reset=False)


def to_correct(turn: Turn, given: ResultCorrect) -> Any:
    """The outcome to correct; a round without a result is rejected."""
    corrects(given, "winner")
    entry = turn.state.entry(given.round)
    if entry is None:
        raise RejectedError("round_not_remembered", round=given.round)
    if entry.kind != "result":
        raise RejectedError("no_result_to_correct", round=given.round)
    return entry
