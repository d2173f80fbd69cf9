"""State of a table of chemin de fer or two-cloth baccarat. Face-down cards are included, so it is
never shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import field

from controller.games.dealt.state import DealtEntry, DealtRound, DealtState, Held, Stop
from controller.games.shoe import Past, Shoe

Word = Literal["draw", "stand", "natural"]
"""A hand's decision: carta, no, or that it shows an eight or nine."""
Fate = Literal["nine", "natural_nine", "zero", "loses", "void"]
"""The fate of a hand whose cards went into the basket. ``nine``: its third card did."""

EARLY_CARD = "fifth_card"
"""The trouble of a held card that came before the hand's decision; it goes to the first hand that
draws.
"""
HARMLESS_TROUBLES = (None, EARLY_CARD)
BANK_EARLY = "bank_before_hands"
"""The bank showed its cards before a hand had decided: its players may withdraw their bets."""
WRONG_POINT = "wrong_point"
"""The banker has announced a point that is not the bank's."""
KEEPABLE_TROUBLES = ("card_surplus", "card_before_close", "card_out_of_round")
"""The troubles of a card that may be kept as the first of the next round."""
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "player_word": ("hand.draw", "card.decide", "round.confirm", "round.void"),
    "bank_word": ("hand.draw", "card.decide", "round.confirm", "round.void"),
    "bank_choice": ("hand.draw", "hand.stand", "round.void"),
    BANK_EARLY: ("bet.withdraw", "round.confirm", "round.void"),
    "natural_forgotten": ("card.decide", "round.confirm", "round.void"),
    "two_third_cards": ("card.decide", "cards.turn", "round.confirm", "round.void"),
    "words_contradict": ("cards.turn", "round.void"),
    "cards_shown": ("card.decide", "round.void"),
    "card_in_basket": ("card.decide", "round.void"),
    "overdraw": ("card.decide", "round.void"),
    "silence": ("card.decide", "round.confirm", "round.void"),
}
"""Each question of a round, and the commands that answer it."""


class CheminCoup(DealtRound, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress.

    ``third``: the positions of the cards that came after the deal. ``left``: by position, the hand
    that a card has left, while no other has it. ``pairs``: by hand, the positions of third cards of
    which all but one will be removed. ``words``: each hand's decision. ``banco``: one player plays
    alone for the whole bank. ``fates``: of hands whose cards went into the basket. ``table``: the
    bank keeps to the table of plays. ``optional``: it draws in the optional cells. ``restored``: a
    wrong decision was put right, by the law of the name ``restored_by``. ``bank_fault``: the banker
    has shown both cards of a cloth, or announced a wrong point after the hands were shown.
    ``shown``: cards exposed too early, by hand. ``owed``: the bank's cards that must be shown for
    it. ``overdealt``: the bank has taken more than two first cards. ``said``: the faults reported
    so far. ``question``: the irregularity of the round that a person must decide.
    """

    third: tuple[int, ...] = ()
    left: dict[int, str] = field(default_factory=dict)
    pairs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    words: dict[str, Word] = field(default_factory=dict)
    banco: bool = False
    fates: dict[str, Fate] = field(default_factory=dict)
    table: bool = False
    optional: bool = False
    restored: bool = False
    restored_by: str = ""
    bank_fault: bool = False
    shown: dict[str, tuple[int, ...]] = field(default_factory=dict)
    owed: tuple[int, ...] = ()
    overdealt: bool = False
    said: tuple[str, ...] = ()
    question: str | None = None

    @property
    def lying(self) -> tuple[int, ...]:
        """The positions of third cards that were taken from a hand and not dealt again yet."""
        return tuple(at for at in sorted(self.left) if not self.cards[at].gone)


class CheminState(DealtState[DealtEntry], frozen=True, kw_only=True, omit_defaults=True):
    """A table between two inputs.

    ``past``: the shoes of the last sessions. ``carried``: cards decided to be the first of the next
    round.
    """

    past: Past = ()
    shoe: Shoe | None = None
    current: CheminCoup | None = None
    carried: tuple[Held, ...] = ()
    entries: tuple[DealtEntry, ...] = ()

    @property
    def doubt(self) -> int | None:
        """The position of the first held card that a person must decide about."""
        return next(
            (at for at, held in enumerate(self.held) if held.trouble not in HARMLESS_TROUBLES), None
        )

    @property
    def stop(self) -> Stop | None:
        """A card, then what is asked about the round."""
        coup = self.current
        if self.doubt is not None:
            asks = ("card.decide", "round.void") if coup else ("card.decide",)
            return Stop(str(self.held[self.doubt].trouble), asks)
        if coup is not None and coup.question is not None:
            return Stop(coup.question, QUESTIONS[coup.question])
        return None
