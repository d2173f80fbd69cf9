"""What a shuffler misses may be the cards of a player who did not show them: then nobody is told which they are."""

from __future__ import annotations

import pytest

from controller.events import AnyEvent, DeckChecked
from devices.readings import ShufflerVerdict
from tests.controller.games.circle_play import Play, table

rule = pytest.mark.rule
LACKS = ShufflerVerdict(at=1.0, device="shuffler", count=50, count_right=False, missing=("Ah", "As"))
RIGHT = ShufflerVerdict(at=1.0, device="shuffler", count=52, count_right=True, set_right=True)


def missing(play: Play) -> tuple[bool, tuple[str, ...]]:
    """Whether the verdict is for surveillance alone, and which cards everybody is told."""
    confidential = play.game.confidential(play.state, LACKS)
    said: list[AnyEvent] = play.take(LACKS)
    [checked] = [event for event in said if isinstance(event, DeckChecked)]
    assert (checked.right, checked.count) == (False, 50)
    return confidential, checked.missing


@rule("BAL09-082")
@pytest.mark.parametrize("ends", ["winner", "void"])
def test_after_a_round_the_cards_that_are_missing_may_be_those_of_who_did_not_show(ends: str) -> None:
    play = table("BAL09")
    play.say("bets.open")
    play.say("bets.close")
    play.say("cards.deal", count=8)
    if ends == "winner":
        play.close(winner=4)
    else:
        play.say("round.void", reason="inspector")
    assert missing(play) == (True, ())
    assert missing(play) == (True, ())  # counted again, and still not there
    play.take(RIGHT)
    assert missing(play) == (False, ("Ah", "As"))  # nothing was dealt since it was whole


@rule("BAL09-082")
def test_before_the_first_round_of_a_match_nobody_has_cards() -> None:
    play = table("BAL09")
    assert missing(play) == (False, ("Ah", "As"))
