"""The moves of a table of chemin de fer or two-cloth baccarat. ``chemin.course`` has the rules that
make them.

No card is revealed before it is face up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Literal

from msgspec.structs import replace

from common.contract.commands import Command, VoidReason
from common.contract.events import (
    Announcement,
    BaccaratOutcome,
    CardDealt,
    CardRemoved,
    Hand,
    HandDecided,
    RoundResult,
    RoundUnresolved,
)
from common.readings import CardDrawn
from controller.games import shoe
from controller.games.baccarat import WINNERS
from controller.games.chemin.hands import hands_of, next_dealt
from controller.games.chemin.settings import CheminSettings
from controller.games.chemin.state import QUESTIONS, CheminCoup, CheminState, Word
from controller.games.dealt.cards import TableCard, dealt, place_card, readings, turn
from controller.games.dealt.inherited import InheritedTurn
from controller.games.dealt.state import DealtEntry, Held
from controller.games.session import count_down
from controller.games.stakes import Bounds
from controller.rulebooks.chemin import Chemin
from controller.rulebooks.law import Law


class CheminMoves(InheritedTurn[Chemin, CheminSettings, CheminState]):
    """The moves of such a table."""

    round_type = CheminCoup

    @property
    def current(self) -> CheminCoup:
        """The round in progress; there is one."""
        assert self.state.current is not None
        return self.state.current

    @property
    def begun(self) -> bool:
        """Whether the bets of the round in progress are closed, or a card of it came."""
        coup = self.state.current
        return coup is not None and (coup.begun or bool(self.state.held))

    def call(self, name: str) -> Announcement | None:
        """The decree's wording of a call; None without one."""
        return self.book.announcements.get("bank" if name == "bets_open" else name) or None

    def offered(self) -> Mapping[str, Bounds]:
        """The hands on which bets are accepted. They may win as much as the bank holds, which is
        not reported. Bets on the bank are limited by the sum that it may begin with.
        """
        minimum, book = self.state.minimum, self.book
        hands = dict.fromkeys(book.hands, Bounds(minimum))
        if not book.bank_bets:
            return hands
        limited = self.settings.modality == "limited" and book.bank_maximum
        most = minimum * book.bank_maximum if minimum is not None and limited else None
        return {**hands, book.bank: Bounds(minimum, most)}

    # The cards

    def place(self, drawn: CardDrawn, to: str, *, seen: bool = False, count: int = 1) -> None:  # noqa: ARG002
        """Deal the card: one of the deal face down, a third one face up."""
        coup, third = self.current, next_dealt(self.book, self.current) is None
        if third:
            self.change_current(third=(*coup.third, len(coup.cards)))
        self.put(place_card(coup.cards, to, drawn.card, up=third, reading=drawn.reading))

    def move(self, at: int, to: str, *, third: bool = True) -> None:
        """Deal a card of the table to another hand: face up, if it is a third one."""
        coup = self.current
        card, previous_holder = coup.cards[at], coup.cards[at].to or coup.left.get(at)
        others = tuple(place for place in coup.third if place != at)
        self.change_current(
            third=tuple(sorted((*others, at))) if third else others,
            left={place: who for place, who in coup.left.items() if place != at},
        )
        self._lay(at, replace(card, to=to, up=card.up or third))
        if to != previous_holder:
            now = self.current.cards
            self.emit(
                CardDealt(
                    round=self.number,
                    to=to,
                    index=len(dealt(now[: at + 1], to)),
                    card=now[at].card if now[at].up else None,
                    was=previous_holder,
                )
            )

    def free(self, but: Collection[str] = ()) -> None:
        """Take the third cards from all hands except these, to be dealt again."""
        for at in self.current.third:
            card = self.current.cards[at]
            if card.to and card.to not in but:
                self.change_current(left={**self.current.left, at: card.to})
                self._lay(at, replace(card, to=""))

    def turn_up(self, who: str, index: int | None = None) -> None:
        """Turn the cards of a hand face up, or one of them."""
        self.put(turn(self.current.cards, who, index))

    def show(self, at: int) -> None:
        """Mark a card as seen when it was dealt; the event of its removal names it."""
        self._lay(at, replace(self.current.cards[at], up=True))

    def remove(self, at: int, why: str, law: str | None = None) -> None:
        """Remove a card from the table; it never goes back into the shoe."""
        coup, card = self.current, self.current.cards[at]
        others = {place: who for place, who in coup.left.items() if place != at}
        self.change_current(left={**others, at: card.to} if card.to else others)
        self._lay(at, replace(card, to="", gone=True))
        self.emit_removed(why, card, card.to or coup.left[at], law)

    def discard(
        self, drawn: CardDrawn, why: str, *, up: bool = False, law: str | None = None
    ) -> None:
        """Remove a card that was never dealt to a hand."""
        card = TableCard(to="", card=drawn.card, up=up, gone=True, reading=drawn.reading)
        if self.state.current is not None:
            self.change_current(cards=(*self.current.cards, card))
        self.emit_removed(why, card, law=law)

    def emit_removed(
        self, why: str, card: TableCard, to: str | None = None, law: str | None = None
    ) -> None:
        """Emit the removal of a card. ``to``: the hand that had it."""
        cause, shown = self.book.laws[law or why], card.card if card.up else None
        self.emit(
            CardRemoved(
                round=self.number, why=why, card=shown, to=to, law=cause.rule, article=cause.article
            )
        )

    def pop_held(self, at: int) -> Held:
        """Remove and return a waiting card, whose fate is decided next."""
        held = self.state.held
        self.change(held=(*held[:at], *held[at + 1 :]))
        return held[at]

    def replace_held(self, at: int, now: Held) -> None:
        """Replace a waiting card."""
        held = self.state.held
        self.change(held=(*held[:at], now, *held[at + 1 :]))

    def _lay(self, at: int, card: TableCard) -> None:
        cards = self.current.cards
        self.change_current(cards=(*cards[:at], card, *cards[at + 1 :]))

    # The hands' decisions

    def decide(self, who: str, word: Word, by: str | None = None) -> None:
        """Record a hand's decision, its own or the rules'."""
        self.change_current(words={**self.current.words, who: word})
        call = {"draw": "card", "stand": "no"}.get(word, "")
        announcement = self.call(call) if who in self.book.hands else None
        self.emit(
            HandDecided(round=self.number, who=who, decision=word, by=by, announcement=announcement)
        )

    def withdraw_word(self, who: str) -> None:
        """Cancel the hand's decision: it decides again."""
        self.change_current(
            words={hand: word for hand, word in self.current.words.items() if hand != who}
        )

    # The outcome of a round

    def result(self) -> None:
        """Publish the result: all cards that count are face up."""
        coup = self.current
        hands = hands_of(self.book, coup, nine_beats=self.settings.natural_nine == "beats")
        if all(fate == "void" for fate in map(coup.fates.get, self.book.hands)):
            self.void(coup.round, "misdeal", self.book.laws["card_in_basket"])
            return
        single = len(self.book.hands) == 1
        won = next((hand.who for hand in hands if single and hand.outcome == "win"), None)
        winner = "tie" if single and hands[0].outcome == "tie" else won
        entry = DealtEntry(round=coup.round, kind="result", winner=winner, hands=hands)
        self._publish(entry, self.evidence(coup.round), coup.confirmed_by)

    def stated_result(self, number: int, winners: tuple[str, ...], by: str) -> None:
        """Publish a result given by a person, where not all cards are known."""
        evidence, entry = self.evidence(number), DealtEntry(round=number, kind="result")
        if len(winners) == 1:
            entry = replace(entry, winner=winners[0])
        else:
            entry = replace(entry, hands=tuple(map(_stated_hand, self.book.hands, winners)))
        self._publish(entry, evidence, by)

    def evidence(self, number: int) -> tuple[int, ...]:
        """The readings behind the cards of the round in progress, waiting ones too, oldest first;
        empty for any other round.
        """
        coup = self.state.current
        if coup is None or coup.round != number:
            return ()
        waiting = [held.given.reading for held in self.state.held]
        return tuple(
            sorted(
                {*readings(coup.cards), *(reading for reading in waiting if reading is not None)}
            )
        )

    def _publish(self, entry: DealtEntry, evidence: tuple[int, ...], by: str | None) -> None:
        self.record(entry)
        self.emit(
            RoundResult(
                round=entry.round,
                outcome=self.outcome_of(entry),
                frames=(),
                readings=evidence,
                confirmed_by=by,
            )
        )
        count_down(self, entry.round)
        self._close_shoe()

    def outcome_of(self, entry: DealtEntry) -> BaccaratOutcome:
        """The outcome of a round that has a result."""
        natural = ("natural",) if any(hand.kind == "natural" for hand in entry.hands) else ()
        tie = ("tie",) if entry.winner == "tie" else ()
        winner = WINNERS[entry.winner] if entry.winner else None
        return BaccaratOutcome(winner=winner, hands=entry.hands, marks=natural + tie)

    def void(self, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
        """Void the round."""
        super().void(number, reason, law, by)
        self._close_shoe()

    def unresolved(self, coup: CheminCoup, why: Literal["silence", "undecided"]) -> None:
        """The result is uncertain and is not invented."""
        evidence = self.evidence(coup.round)
        self.record(DealtEntry(round=coup.round, kind="unresolved"))
        self.emit(RoundUnresolved(round=coup.round, why=why, candidate=None, readings=evidence))
        self._close_shoe()

    def leave(self) -> None:
        """The round in progress is over. Only cards that a person kept for the next one stay."""
        self.change(current=None, held=self.state.carried, carried=())

    # The shoe

    def clear_shoe(self, left: int | None = None) -> None:
        """End the shoe; its cards leave the table. ``left``: the number that a person counted."""
        now = self.state.shoe
        if now is None:
            return
        if shoe.miscounted(now, left):
            self.irregular("shoe_count", detail=f"{left} cards are left, by the count {now.left}")
        if not now.over:
            self.emit(shoe.ended(now, "person", left))
        self.change(shoe=None, held=(), carried=())

    def end_shoe(self, why: Literal["cut", "reset"]) -> None:
        """No further round may begin with these cards."""
        now = self.state.shoe
        assert now is not None
        self.change(shoe=replace(now, over=True))
        self.emit(shoe.ended(now, why))

    def _close_shoe(self) -> None:
        """End the shoe after the round in which the cut card came."""
        now = self.state.shoe
        cut = now is not None and now.cut_at is not None and not now.over
        if cut and self.state.current is None:
            self.end_shoe("cut")

    # Irregularities

    def ask(self, what: str, law: Law | None = None, *, detail: str | None = None) -> None:
        """Report an irregularity of the round and wait for a person."""
        self.change_current(question=what)
        self.irregular(what, law, asks=QUESTIONS[what], detail=detail)

    def once(self, key: str, act: Callable[[], None]) -> None:
        """Call ``act`` once in a round for each key."""
        if key not in self.current.said:
            self.change_current(said=(*self.current.said, key))
            act()


def _stated_hand(who: str, winner: str) -> Hand:
    """A hand of which only the outcome is known."""
    return Hand(
        who=who,
        cards=(),
        outcome="tie" if winner == "tie" else "win" if winner == who else "lose",
    )
