"""Invariants of stud and draw: rounds of each game, with errors."""

from __future__ import annotations

import pytest

from controller.games.circle.opening import DISCARD_PILE, FIRST_DEAL_CARDS
from controller.games.circle.streets import pack
from tests.support.games.circle_evening import (
    Evening,
    check_rounds,
    check_words,
    irregular,
    rounds_with_errors,
)

PAIRS = tuple(
    (decree, game)
    for decree in ("BAL09", "EUS96")
    for game in ("five-card-stud", "seven-card-stud", "circle-draw")
)
ERRORS = (
    "exposed",
    "skipped",
    "premature",
    "deck_removed",
    "false_opening",
    "too_many",
    "too_few",
    "touched",
    "order",
)


class Long(Evening):
    """Rounds in which players discard, prove their opening, and answer whether they continue."""

    def go_on(self) -> None:
        hand, troubles = self.play.current, self.play.state.doubts
        if troubles:
            if "hand.act" in troubles[0].asks and self.chance.random() < 0.8:
                self.send(
                    "hand.act", who=troubles[0].who, action=self.chance.choice(("go", "pass"))
                )
            else:
                super().go_on()
        elif hand.open and hand.opener is None and self.chance.random() < 0.3:
            self.send("hand.act", who=self.chance.choice(hand.seats).who, action="open")
        elif hand.due and hand.due[0].turn:
            who = hand.due[0].to if self.chance.random() < 0.9 else "seat:4"
            self.send(
                "hand.act",
                who=who,
                action="discard",
                count=self.chance.choice((0, 1, 2, 3, 3, 3, 4, 5)),
            )
        else:
            super().go_on()

    def show(self) -> None:
        hand = self.play.current
        pile = [each for each in hand.cards_of(DISCARD_PILE) if not each.up]
        drawn = [seat for seat in hand.live if seat.discards]
        if pile and self.chance.random() < 0.7:
            self.send("cards.turn", who=DISCARD_PILE)
            if self.play.state.current is not None:
                self.send(
                    "cards.show",
                    who=DISCARD_PILE,
                    cards=[each.card or self.next() for each in pile],
                )
        elif hand.asked and self.chance.random() < 0.2:
            self.send("round.confirm", winner=f"seat:{hand.opener}")
        elif drawn:
            seat = self.chance.choice(drawn)
            own = hand.by_index(seat.who).items()
            first = [each for index, each in own if index <= FIRST_DEAL_CARDS]
            kept = self.chance.sample(first, max(len(first) - seat.discards, 0))
            laid = [*kept, *(each for index, each in own if index > FIRST_DEAL_CARDS)]
            self.send("cards.show", who=seat.who, cards=[each.card or self.next() for each in laid])
        else:
            super().show()

    def disturb(self) -> None:
        if self.how == "read" and self.chance.random() < 0.5:
            for _ in range(self.chance.randint(1, 8)):
                self.drawn(self.next(), exposed=True)
            return
        if self.chance.random() < 0.6:
            super().disturb()
            return
        who = self.chance.choice(("seat:1", "seat:2", "seat:4", "seat:5", "seat:7", None))
        self.send(
            "deal.error",
            error=self.chance.choice(ERRORS),
            who=who,
            index=self.chance.choice((None, None, 1, 2, 7)),
            seen=self.chance.random() < 0.5,
            fault=self.chance.choice(("croupier", "player")),
            recoverable=self.chance.random() < 0.5,
        )


@pytest.mark.parametrize(("decree", "game"), PAIRS, ids=lambda name: name)
def test_any_round_has_its_outcome(decree: str, game: str) -> None:
    rounds_with_errors(Long(decree, game, 1), OWN[decree, game])


@pytest.mark.parametrize(
    ("game", "seats", "what"),
    [("circle-draw", 8, "deck_short"), ("seven-card-stud", 8, "cards_lacking")],
)
def test_a_full_table_reaches_the_end_of_the_pack(game: str, seats: int, what: str) -> None:
    evening = Long("BAL09", game, 2)
    evening.play.send("boxes.set", boxes=list(range(1, seats + 1)))
    evening.pack = pack(evening.play.game.book, seats)
    for _ in range(200):
        evening.round()
    check_words(evening.play)
    check_rounds(evening.play)
    assert what in irregular(evening.play)


OWN = {
    ("BAL09", "five-card-stud"): set[str](),
    ("EUS96", "five-card-stud"): set[str](),
    ("EUS96", "seven-card-stud"): set[str](),
    ("BAL09", "seven-card-stud"): {
        *(
            "deal_exposed",
            "deal_both_exposed",
            "deal_shown_by_player",
            "deal_last_card",
            "deal_last_of_two",
            "deal_skipped",
            "deal_premature",
        ),
    },
    ("BAL09", "circle-draw"): {
        "deck_short",
        "deal_deck_removed",
        "deal_false_opening",
        "opening_unproven",
        "deal_too_many",
    },
    ("EUS96", "circle-draw"): {"deck_short", "deal_deck_removed"},
}
"""Events that the rounds must reach."""
