"""How long a player may rest: in a row, or in the whole match, as the decree has it."""

from __future__ import annotations

import pytest

from common.contract.events import AnyEvent, Irregularity
from tests.support.games.circle_play import Play, table

rule = pytest.mark.rule


def rounds(play: Play, count: int) -> list[bool]:
    """True for each round that exceeds a player's rest."""
    found = []
    for _ in range(count):
        events: list[AnyEvent] = [*play.send("bets.open"), *play.send("bets.close")]
        found.append(
            "rest_too_long" in [event.what for event in events if isinstance(event, Irregularity)]
        )
        play.send("cards.deal", count=len(play.current.due))
        play.close(winner=1)
    return found


def rests_again(decree: str, most: int) -> list[bool]:
    """``most`` rounds of rest, a round played, and rest again."""
    play = table(decree, seats=(1, 2, 3, 4, 5))
    play.act(2, "out")
    assert rounds(play, most) == [False] * most
    play.act(2, "in")
    assert rounds(play, 1) == [False]
    play.act(2, "out")
    return rounds(play, 2)


@rule("BAL09-016")
def test_in_the_balearics_each_rest_is_counted_separately() -> None:
    assert rests_again("BAL09", 2) == [False, False]


@rule("EUS96-200")
def test_in_the_basque_country_a_rest_of_three_rounds_is_for_the_whole_match() -> None:
    """«gehienez, hiru jokaldiz edo eskuz, partida bakoitzeko»"""
    assert rests_again("EUS96", 3) == [True, False]


@rule("EUS96-200")
def test_another_player_at_the_place_starts_at_zero() -> None:
    play = table("EUS96", seats=(1, 2, 3, 4, 5))
    play.act(2, "out")
    assert rounds(play, 3) == [False] * 3
    play.send("boxes.set", boxes=[1, 3, 4, 5])
    play.send("boxes.set", boxes=[1, 2, 3, 4, 5])
    play.act(2, "out")
    assert rounds(play, 4) == [False, False, False, True]


@rule("EUS96-200")
def test_a_new_match_starts_at_zero() -> None:
    play = table("EUS96", seats=(1, 2, 3, 4, 5))
    play.act(2, "out")
    assert rounds(play, 3) == [False] * 3
    play.send("session.close")
    play.open((1, 2, 3, 4, 5), button=5)
    play.act(2, "out")
    assert rounds(play, 4) == [False, False, False, True]
