"""Results of poker that a person corrects, and corrects back, at the table of any family: the
common invariants.
"""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from common.contract.events import AnyEvent, AwardQualified, ResultCorrected, RoundResult
from common.contract.refusals import RejectedError
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import AnyPlay


class Standing:
    """A subscriber's view of one round: its result, and the awards that are valid."""

    def __init__(self) -> None:
        self.hands: Any = ()
        self.marks: Any = ()
        self.winner: Any = None
        self.awards: Counter[AwardQualified] = Counter()

    def see(self, events: Sequence[AnyEvent]) -> None:
        """Apply the events of one step."""
        for event in events:
            if isinstance(event, RoundResult | ResultCorrected):
                self.hands, self.marks, self.winner = (
                    outcome_of(event).hands,
                    outcome_of(event).marks,
                    getattr(outcome_of(event), "winner", None),
                )
            if isinstance(event, AwardQualified):
                self.awards[msgspec.structs.replace(event, valid=True)] += 1 if event.valid else -1
        assert set(self.awards.values()) <= {0, 1}, (
            "an award given twice, or one taken back that was not given"
        )
        assert all(event.round for event in events)

    def now(self) -> tuple[Any, ...]:
        """Return the whole view."""
        return self.hands, self.marks, self.winner, +self.awards


def there_and_back(
    play: AnyPlay[Any, Any],
    chance: random.Random,
    standing: Standing,
    number: int,
    pack: Sequence[str],
    *,
    lows: bool = False,
) -> bool:
    """Correct one card of the result, and correct it back: the view is as before. Return True if it
    could be corrected. ``lows``: hands are set in two, and a card of a low hand is given with it.
    """
    before, state = standing.now(), play.state
    shown = [hand for hand in standing.hands if hand.cards]
    if not shown:
        return False
    hand = chance.choice(shown)
    lie = {card for each in shown for card in each.cards}
    was, now = chance.choice(hand.cards), chance.choice([card for card in pack if card not in lie])
    cards = [now if card == was else card for card in hand.cards]
    low = lows and was in hand.low
    there = {f"{hand.who}.low": [now if card == was else card for card in hand.low]} if low else {}
    back = {f"{hand.who}.low": list(hand.low)} if low else {}
    events: list[AnyEvent] = []
    with contextlib.suppress(
        RejectedError
    ):  # a card that had lain face up with a hand that left the round
        events = play.send("result.correct", round=number, hands={hand.who: cards, **there})
    if not events:
        assert play.state is state
        return False
    [corrected] = [event for event in events if isinstance(event, ResultCorrected)]
    standing.see(events)
    assert {each.cards for each in outcome_of(corrected).hands if each.who == hand.who} == {
        tuple(cards)
    }
    changed = {each.who: each.cards for each in outcome_of(corrected).hands}
    assert {each.who: each.cards for each in before[0]} | {hand.who: tuple(cards)} == changed
    standing.see(
        play.send("result.correct", round=number, hands={hand.who: list(hand.cards), **back})
    )
    assert standing.now() == before
    return True
