"""One step of a table of chemin de fer or two-cloth baccarat: the moves that readings and commands
consist of.

Each move changes the state and emits its event together, so that the two cannot diverge. No card is
revealed before it is face up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec.structs import replace

from controller.contract.commands import Command, VoidReason
from controller.contract.events import (
    Announcement,
    CardDealt,
    CardExpected,
    CardRemoved,
    CardTurned,
    Frame,
    Hand,
    HandDecided,
    RoundResult,
    RoundUnresolved,
)
from controller.games import shoe
from controller.games.baccarat import WINNERS, Winner
from controller.games.chemin.hands import expected, hands_of, placed
from controller.games.chemin.settings import CheminSettings
from controller.games.chemin.state import CheminCard, CheminCoup, CheminEntry, CheminState, Word
from controller.games.rounds import RoundMoves
from controller.games.session import count_down
from controller.games.stakes import Bounds
from controller.rulebooks.chemin import Chemin
from controller.rulebooks.law import Law

QUESTIONS: dict[str, tuple[str, ...]] = {
    "player_word": ("hand.draw", "card.decide", "round.confirm", "round.void"),
    "bank_word": ("hand.draw", "card.decide", "round.confirm", "round.void"),
    "bank_choice": ("hand.draw", "hand.stand", "round.void"),
    "natural_forgotten": ("card.decide", "round.confirm", "round.void"),
    "two_third_cards": ("card.decide", "cards.turn", "round.confirm", "round.void"),
    "words_contradict": ("cards.turn", "round.void"),
    "cards_shown": ("card.decide", "round.void"),
    "card_in_basket": ("card.decide", "round.void"),
    "overdraw": ("card.decide", "round.void"),
    "silence": ("card.decide", "round.confirm", "round.void"),
}
"""Each question of a round, and the commands that answer it."""


class CheminTurn(RoundMoves[Chemin, CheminSettings, CheminState]):
    """One step of a table of chemin de fer, or of two cloths."""

    @property
    def current(self) -> CheminCoup:
        """The round in progress; there is one."""
        assert self.state.current is not None
        return self.state.current

    def call(self, name: str) -> Announcement | None:
        """The call; None where the decree has no words for it, or none in this game."""
        return self.book.announcements.get(name) or None

    def asks(self) -> tuple[str, ...]:
        """Commands that would answer the table's question."""
        coup = self.state.current
        if any(card.doubt for card in (*self.state.unplaced, *(coup.cards if coup else ()))):
            return ("card.decide", "round.void") if coup else ("card.decide",)
        return QUESTIONS[coup.question] if coup and coup.question else ()

    def offered(self) -> Mapping[str, Bounds]:
        """The hands that take bets. They may win what the bank has, which is not reported."""
        return dict.fromkeys(self.book.hands, Bounds(self.state.minimum))

    # The cards

    def place(self) -> None:
        """Place every card of the round, and announce what changed."""
        before = self.current
        self.change(current=placed(self.book, before))
        for at, card in enumerate(self.current.cards):
            if card.to is not None and card.to != card.last_announced_to and card.out is None:
                index = [
                    each for each in self.current.cards if each.to == card.to and each.out is None
                ].index(card) + 1
                self.say(
                    CardDealt(
                        round=self.number,
                        to=card.to,
                        index=index,
                        card=card.told,
                        was=card.last_announced_to,
                    )
                )
                self._put(at, replace(card, last_announced_to=card.to))

    def add(self, card: CheminCard) -> None:
        """A card came out of the shoe."""
        if self.state.current is None:
            self.change(unplaced=(*self.state.unplaced, card))
        else:
            self.change_current(cards=(*self.current.cards, card))

    def turn_up(self, who: str, index: int | None = None) -> None:
        """Turn the cards of a hand face up, or one of them."""
        mine = 0
        for at, card in enumerate(self.current.cards):
            if card.to != who or card.out is not None:
                continue
            mine += 1
            if index in (None, mine) and not card.up and card.card is not None:
                self._put(at, replace(card, up=True))
                self.say(CardTurned(round=self.number, to=who, index=mine, card=card.card))

    def remove(self, at: int, why: str, law: str | None = None, *, basket: bool = False) -> None:
        """A card leaves the game; it never goes back into the shoe."""
        card = self.current.cards[at]
        cause = self.book.laws[law or why]
        self._put(at, replace(card, out="basket" if basket else "removed", doubt=None))
        self.say(
            CardRemoved(
                round=self.number,
                why=why,
                card=card.told,
                to=card.last_announced_to,
                law=cause.rule,
                article=cause.article,
            )
        )

    def change_card(self, at: int, **fields: Any) -> None:
        """Change one card of the round."""
        self._put(at, replace(self.current.cards[at], **fields))

    def _put(self, at: int, card: CheminCard) -> None:
        cards = self.current.cards
        self.change_current(cards=(*cards[:at], card, *cards[at + 1 :]))

    def expect(self) -> None:
        """Announce where the next card belongs, if that changed."""
        coup = self.state.current
        to = expected(self.book, coup) if coup is not None else None
        if to != self.state.expected:
            self.change(expected=to)
            self.say(CardExpected(round=self.number, to=to))

    # The hands' decisions

    def decide(self, who: str, word: Word, by: str | None = None) -> None:
        """Record a hand's decision, its own or the rules'."""
        self.change_current(words={**self.current.words, who: word})
        call = {"draw": "card", "stand": "no"}.get(word, "")
        announcement = self.call(call) if who in self.book.hands else None
        self.say(
            HandDecided(round=self.number, who=who, decision=word, by=by, announcement=announcement)
        )

    def unsay(self, who: str) -> None:
        """Cancel the hand's decision: it decides again."""
        self.change_current(
            words={each: word for each, word in self.current.words.items() if each != who}
        )

    # The outcome of a round

    def result(self) -> None:
        """Publish the result: all cards that count are face up."""
        coup = self.current
        hands = hands_of(self.book, coup, nine_beats=self.settings.natural_nine == "beats")
        if all(fate == "void" for fate in map(coup.fates.get, self.book.hands)):
            self.void(coup, "misdeal", self.book.laws["card_in_basket"])
            return
        single = len(self.book.hands) == 1
        tied = single and hands[0].outcome == "tie"
        won = next((each.who for each in hands if single and each.outcome == "win"), None)
        winner: Winner | None = "tie" if tied else WINNERS[won] if won else None
        entry = CheminEntry(round=coup.round, kind="result", winner=winner, hands=hands)
        self._record(entry)
        self.say(
            RoundResult(
                round=coup.round,
                outcome=entry.outcome,
                frames=frames_up(coup),
                confirmed_by=coup.confirmed_by,
            )
        )
        count_down(self, coup.round)
        self._over()

    def told_result(self, number: int, winners: tuple[str, ...], by: str) -> None:
        """Publish a result on a person's word, where the cards are not all known."""
        coup = self.state.current
        frames = frames_up(coup) if coup is not None and coup.round == number else ()
        if len(winners) == 1:
            entry = CheminEntry(round=number, kind="result", winner=WINNERS[winners[0]])
        else:
            hands = tuple(map(_told, self.book.hands, winners))
            entry = CheminEntry(round=number, kind="result", hands=hands)
        self._record(entry)
        self.say(RoundResult(round=number, outcome=entry.outcome, frames=frames, confirmed_by=by))
        count_down(self, number)
        self._over()

    def void(
        self, of: CheminCoup | CheminEntry, reason: VoidReason, law: Law, by: Command | None = None
    ) -> None:
        """Void the round."""
        self._record(CheminEntry(round=of.round, kind="void", reason=reason, article=law.article))
        self.say_void(of.round, reason, law, by)
        self._over()

    def unresolved(self, of: CheminCoup, why: Literal["silence", "undecided"]) -> None:
        """The result is not certain; nobody invents it."""
        self._record(CheminEntry(round=of.round, kind="unresolved"))
        self.say(RoundUnresolved(round=of.round, why=why, candidate=None, frames=frames_up(of)))
        self._over()

    def _record(self, entry: CheminEntry) -> None:
        coup = self.state.current
        self.state = self.state.with_entry(entry)
        if coup is not None and coup.round == entry.round:
            self.change(current=None)

    def _over(self) -> None:
        """End the shoe after the round in which the cut card came."""
        now = self.state.shoe
        if (
            self.state.current is None
            and now is not None
            and now.cut_at is not None
            and not now.over
        ):
            self.end_talla("cut")

    def clear_shoe(self, left: int | None = None) -> None:
        """End the shoe; its cards leave the table. ``left``: the number that a person counted."""
        now = self.state.shoe
        if now is None:
            return
        if shoe.miscounted(now, left):
            self.irregular("shoe_count", detail=f"{left} cards are left, by the count {now.left}")
        if not now.over:
            self.say(shoe.ended(now, "person", left))
        self.change(shoe=None, unplaced=())

    def end_talla(self, why: Literal["cut", "reset"]) -> None:
        """No further round may begin with these cards."""
        now = self.state.shoe
        assert now is not None
        self.change(shoe=replace(now, over=True))
        self.say(shoe.ended(now, why))

    # Irregularities

    def question(self, what: str, law: Law | None = None, *, detail: str | None = None) -> None:
        """Report an irregularity and its law; ``asks`` makes the round wait for a person."""
        self.change_current(question=what)
        self.irregular(what, law, asks=QUESTIONS[what], detail=detail)

    def doubt(self, at: int, what: str) -> None:
        """Make this card of the round wait for a person, and all later ones with it."""
        self.change_card(at, doubt=what)
        self.irregular(what, asks=self.asks())

    def once(self, key: str, act: Callable[[], None]) -> None:
        """Do it once in a round."""
        if key not in self.current.said:
            self.change_current(said=(*self.current.said, key))
            act()


def frames_up(coup: CheminCoup) -> tuple[Frame, ...]:
    """The frames of the cards face up: a frame encodes its card."""
    return tuple(card.frame for card in coup.cards if card.up and card.frame is not None)


def _told(who: str, winner: str) -> Hand:
    """A hand of which only what it came to is known."""
    return Hand(
        who=who,
        cards=(),
        outcome="tie" if winner == "tie" else "win" if winner == who else "lose",
    )
