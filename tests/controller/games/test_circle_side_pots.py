"""Results where a player was all in: who has the main pot, and of side pots only what was reported
to the table.
"""

from __future__ import annotations

import pytest

from common.contract.events import AnyEvent, RoundResult
from common.contract.refusals import RejectedError
from common.readings import CardDrawn
from tests.support.games.circle_play import HOLES, Play, table
from tests.support.games.outcomes import outcome_of

rule = pytest.mark.rule
STREETS = ("2c 3c 4c 9d", "2d Td", "2h 7d")
"""Hold'em: a board of 3c 4c 9d Td 7d. 4 has aces, 3 kings, 2 queens, 1 jacks."""


def draw(play: Play, cards: str) -> list[AnyEvent]:
    events: list[AnyEvent] = []
    for card in cards.split():
        events += play.take(
            CardDrawn(at=play.now(), device="shoe", frame=f"frame {card}", card=card)
        )
    return events


def showdown(
    all_in: tuple[int, ...],
    game: str = "texas-holdem",
    holes: str = HOLES,
    streets: tuple[str, ...] = STREETS,
) -> Play:
    play = table("EUS96", game)
    play.send("bets.open")
    play.send("bets.close")
    draw(play, holes)
    for seat in all_in:
        play.act(seat, "all_in")
    for cards in streets:
        if play.current.open:
            play.close()
        draw(play, cards)
    if play.current.open:
        play.close()
    return play


def result(play: Play) -> RoundResult:
    [found] = [event for event in play.turn() if isinstance(event, RoundResult)]
    return found


def outcomes(found: RoundResult) -> dict[str, str | None]:
    return {hand.who: hand.outcome for hand in outcome_of(found).hands if hand.settled}


@rule("BAL09-054")
@pytest.mark.parametrize(
    ("all_in", "told"),
    [
        ((), {"seat:4": "win", "seat:3": "lose", "seat:2": "lose", "seat:1": "lose"}),
        ((4,), {"seat:4": "win", "seat:3": None, "seat:2": "lose", "seat:1": "lose"}),
        ((4, 3), {"seat:4": "win", "seat:3": None, "seat:2": None, "seat:1": "lose"}),
        ((4, 3, 2, 1), {"seat:4": "win", "seat:3": None, "seat:2": None, "seat:1": None}),
        ((1,), {"seat:4": "win", "seat:3": "lose", "seat:2": "lose", "seat:1": "lose"}),
    ],
)
def test_a_player_beaten_only_by_players_all_in_is_not_reported_as_losing(
    all_in: tuple[int, ...], told: dict[str, str | None]
) -> None:
    found = result(showdown(all_in))
    assert outcomes(found) == told
    assert (outcome_of(found).winner, outcome_of(found).marks) == (
        "seat:4",
        ("all_in",) if all_in else (),
    )
    main = {
        hand.who: [(bet.bet, bet.outcome) for bet in hand.settled]
        for hand in outcome_of(found).hands
        if hand.settled
    }
    assert main == {
        who: [("pot", "win" if who == "seat:4" else "lose")] for who in told
    }  # all of them play for that one


def test_a_person_cannot_award_the_main_pot_to_another() -> None:
    play = showdown((4,))
    for seat in (4, 3):
        play.turn(seat)
    with pytest.raises(
        RejectedError, match="seat:3 cannot win; other face-up cards beat this hand"
    ):
        play.send("round.confirm", winner="seat:3")


@pytest.mark.parametrize(("all_in", "of_three"), [((4,), None), ((4, 3), None), ((1,), "lose")])
def test_a_hand_may_win_a_side_pot_by_its_low_too(
    all_in: tuple[int, ...], of_three: str | None
) -> None:
    """4 has the best high and the best low. 3 has kings and the only other low, 2 queens,
    1 jacks.
    """
    holes = "Ah Kd Qh Jh  2s Ks Qs Js  Ad 5h Qd Jd  As 6s Qc Jc"
    found = result(showdown(all_in, "omaha-hi-lo", holes, ("2c 3h 4c 8d", "2d Th", "2h 9c")))
    assert (outcome_of(found).winner, outcome_of(found).marks) == ("seat:4", ("low", "all_in"))
    told = outcomes(found)
    assert (told["seat:4"], told["seat:3"]) == ("win", of_three)
    assert told["seat:1"] == "lose"  # by the queens of 2, who could have bet more


def test_a_beaten_high_may_win_a_side_pot_by_its_low() -> None:
    """The kings of 2 beat the high of 3; of the lows only that of 4 is better than his, who was all
    in.
    """
    holes = "Ah Qd Kh Jh  2s Qs Ks Js  Ad 5h Kd Jd  As 6s Kc Jc"
    found = result(showdown((4,), "omaha-hi-lo", holes, ("2c 3h 4c 8d", "2d Th", "2h 9c")))
    [three] = [hand for hand in outcome_of(found).hands if hand.who == "seat:3"]
    assert [bet.outcome for bet in three.settled] == ["lose", "lose"]
    assert three.outcome is None
