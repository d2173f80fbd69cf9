"""Places, the hand, the pack, sessions and limits at a table of circle poker."""

from __future__ import annotations

import pytest

from common.contract.events import (
    BettingOpened,
    ButtonMoved,
    CardDealt,
    DeckChecked,
    Irregularity,
    LastRounds,
    LimitChanged,
    RoundOpened,
    RoundResult,
    SessionClosed,
)
from common.contract.refusals import RejectedError
from common.readings import ShufflerState, ShufflerVerdict
from tests.support.games.circle_play import HOLES, Play, holdem, table
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import confidential, of_kind

rule = pytest.mark.rule
# Places and the hand


@pytest.mark.parametrize("decree", by_decree("BAL09-011", "EUS96-200"))
def test_no_round_with_fewer_than_four(decree: str) -> None:
    play = table(decree)
    play.send("boxes.set", boxes=[1, 2, 4])
    with pytest.raises(
        RejectedError, match=f"3 players are too few; at least 4 must play: {decree}"
    ):
        play.send("bets.open")


@pytest.mark.parametrize("decree", by_decree("ARA02-147", "BAL05-143"))
def test_no_synthetic_round_with_fewer_than_four(decree: str) -> None:
    play = table(decree, "synthetic-poker")
    play.send("boxes.set", boxes=[1, 2, 4])
    with pytest.raises(RejectedError, match="3 players are too few"):
        play.send("bets.open")


@rule("EUS96-213", "BAL05-143")
def test_no_more_players_than_the_decree_allows() -> None:
    for decree, game, most in (("EUS96", "omaha-five", 8), ("BAL05", "synthetic-poker", 10)):
        play = table(decree, game)
        play.send("boxes.set", boxes=[*range(1, most + 1)])
        with pytest.raises(
            RejectedError, match=f"{most + 1} players are too many; at most {most} may play"
        ):
            play.send("boxes.set", boxes=[*range(1, most + 2)])


def test_no_more_players_than_the_pack_has_cards_for() -> None:
    play = table("BAL09", "synthetic-poker")
    play.send("boxes.set", boxes=[*range(1, 13)])
    with pytest.raises(
        RejectedError,
        match="a round with 12 players needs 29 cards, and the deck has 28; seat fewer",
    ):
        play.send("bets.open")


@pytest.mark.parametrize("decree", by_decree("BAL09-015 BAL09-081", "EUS96-204"))
def test_the_hand_moves_before_each_new_deal(decree: str) -> None:
    """Clockwise where the decree says it: the places are numbered from the croupier's right, so
    downwards.
    """
    play = table(decree)
    seen = [play.state.button]
    for _ in range(4):
        play.bets()
        seen.append(play.state.button)
        assert play.shown["button"] == play.state.button
        play.cards(HOLES)
        play.close(winner=2)
    assert seen == ([4, 4, 3, 2, 1] if decree == "EUS96" else [4, 4, 1, 2, 3])
    assert [event.seat for event in of_kind(play.events, ButtonMoved)] == seen[1:]


def test_the_hand_passes_empty_places_and_follows_a_person() -> None:
    play = table(seats=(1, 3, 5, 8))
    play.bets()
    play.cards(HOLES)
    play.close(winner=3)
    play.send("boxes.set", boxes=[1, 2, 3, 4])
    play.bets()
    assert play.state.button == 4  # who had the hand is gone: the next after him, downwards
    play.cards("- - - - - - - -")
    play.close(winner=3)
    play.send("button.set", seat=1)
    [moved] = of_kind(play.send("button.set"), ButtonMoved)
    assert moved.seat == 4
    play.bets()
    assert play.state.button == 4
    with pytest.raises(RejectedError, match="round 3 is in progress and has no result yet"):
        play.send("button.set", seat=2)


def test_the_first_deal_needs_a_player_with_the_hand() -> None:
    play = Play()
    play.send("session.open")
    play.send("boxes.set", boxes=[1, 2, 3, 4])
    with pytest.raises(RejectedError, match="no player has the button; send button-set with seat"):
        play.send("bets.open")
    with pytest.raises(
        RejectedError, match="nobody sits at seat:5; seated: seat:1, seat:2, seat:3, seat:4"
    ):
        play.send("button.set", seat=5)


@pytest.mark.parametrize(
    ("settings", "order"),
    [
        ({}, [4, 1, 2, 3]),
        ({"direction": "clockwise"}, [4, 3, 2, 1]),
        ({"direction": "clockwise", "numbers": "from_left"}, [4, 1, 2, 3]),
        ({"first_card": "next"}, [1, 2, 3, 4]),
    ],
)
def test_the_order_of_the_deal_where_the_decree_leaves_it_open(
    settings: dict[str, str], order: list[int]
) -> None:
    play = holdem("BAL09", **settings)
    dealt = [event.to for event in of_kind(play.events, CardDealt)]
    assert dealt == [f"seat:{number}" for number in order] * 2
    [betting] = of_kind(play.events, BettingOpened)
    assert betting.first == f"seat:{order[0]}"


@rule("BAL05-140")
@pytest.mark.parametrize("decree", ["ARA02", "BAL05"])
def test_synthetic_poker_is_dealt_against_the_clock(decree: str) -> None:
    play = table(
        decree, "synthetic-poker", direction="clockwise"
    )  # the decree says it: the setting is not asked
    play.bets()
    assert [seat.number for seat in play.current.seats] == [4, 1, 2, 3]


@rule("BAL09-016")
def test_who_rests_keeps_the_place_for_two_rounds() -> None:
    play = table("BAL09", seats=(1, 2, 3, 4, 5))
    play.act(2, "out")
    with pytest.raises(RejectedError, match="seat:2 is already sitting out"):
        play.act(2, "out")
    with pytest.raises(
        RejectedError, match="nobody sits at seat:7; seated: seat:1, seat:2, seat:3, seat:4, seat:5"
    ):
        play.act(7, "out")
    said = []
    for _ in range(4):
        said.append([event.what for event in of_kind(play.bets(), Irregularity)])
        assert "seat:2" not in [seat.who for seat in play.current.seats]
        play.cards("- - - - - - - -")
        play.close(winner=1)
    assert said == [[], [], ["rest_too_long"], []]
    assert play.shown["resting"] == {"seat:2": 4}
    play.act(2, "in")
    with pytest.raises(RejectedError, match="seat:2 is not sitting out"):
        play.act(2, "in")
    play.bets()
    assert play.current.seat("seat:2") is not None


def test_a_resting_player_counts_among_the_four() -> None:
    play = table()
    play.act(2, "out")
    play.bets()
    assert len(play.current.seats) == 3
    other = table()
    for seat in (1, 2, 3):
        other.act(seat, "out")
    with pytest.raises(RejectedError, match="fewer than two players are in this round"):
        other.send("bets.open")


# The pack


@pytest.mark.parametrize(
    ("decree", "rounds"),
    [
        pytest.param("EUS96", 1, marks=rule("EUS96-201")),
        pytest.param("BAL09", 3, marks=rule("BAL09-008")),
    ],
)
def test_the_pack_is_checked(decree: str, rounds: int) -> None:
    """Before each game, or now and then: after ``deck_check_rounds`` rounds without a check the
    table reports so.
    """
    play = table(decree, deck_check_rounds=3)
    said = []
    for _ in range(5):
        said.append(
            "deck_unchecked" in [event.what for event in of_kind(play.bets(), Irregularity)]
        )
        play.cards("- - - - - - - -")
        play.close(winner=1)
    assert said == [number >= rounds for number in range(5)]
    [checked] = of_kind(play.send("deck.check", role="croupier", cards=52), DeckChecked)
    assert (checked.right, checked.count, checked.by) == (True, 52, "M. Lasa")
    assert "deck_unchecked" not in [event.what for event in of_kind(play.bets(), Irregularity)]


@rule("BAL09-007")
def test_a_pack_that_is_not_right_is_not_played_with() -> None:
    play = table("BAL09")
    play.take(
        ShufflerVerdict(at=1.0, device="shuffler", count=51, count_right=False, missing=("7h",))
    )
    [checked] = of_kind(play.events, DeckChecked)[-1:]
    assert (checked.right, checked.device) == (False, "shuffler")
    assert "deck_defective" in play.state.alerts
    with pytest.raises(RejectedError, match=r"the deck is not whole; .*: BAL09-007"):
        play.send("bets.open")
    play.send("deck.check", cards=52, right=False)
    with pytest.raises(
        RejectedError, match="the deck is not whole; replace it and send deck-check"
    ):
        play.send("bets.open")
    play.send("deck.check", cards=52)
    assert not play.state.alerts
    play.send("bets.open")


def test_a_shuffler_that_only_judges_the_count() -> None:
    play = table()
    play.take(ShufflerVerdict(at=1.0, count_right=True))
    play.take(ShufflerVerdict(at=2.0, count=52, set_right=False))
    assert [event.right for event in of_kind(play.events, DeckChecked)][1:] == [True, False]


def test_while_a_round_is_played_no_missing_card_is_named() -> None:
    """They are in the hands of the players."""
    play = holdem()
    verdict = ShufflerVerdict(at=1.0, count=44, count_right=False, missing=("Ah",))
    assert confidential(play.game, play.state, verdict)
    play.take(verdict)
    assert "Ah" not in str(of_kind(play.events, DeckChecked)[-1])


def test_a_shuffler_in_trouble_raises_an_alert() -> None:
    play = table()
    play.take(ShufflerState(at=1.0, device="shuffler", state="jam"))
    assert play.state.alerts == ("shuffler_jam",)
    play.take(ShufflerState(at=2.0, device="shuffler", state="ready"))
    assert not play.state.alerts


# Sessions and limits


def test_a_match_that_closes_leaves_its_round_unresolved() -> None:
    play = holdem()
    play.send("session.close")
    assert of_kind(play.events, SessionClosed)
    with pytest.raises(RejectedError, match="no session is open"):
        play.send("bets.open")
    [entry] = play.state.unresolved()
    with pytest.raises(
        RejectedError, match="winner must be one of: seat:4, seat:3, seat:2, seat:1, tie"
    ):
        play.send("round.confirm", winner="seat:7")
    [result] = of_kind(play.send("round.confirm", winner="seat:2"), RoundResult)
    assert (outcome_of(result).winner, result.confirmed_by, entry.round) == (
        "seat:2",
        "M. Lasa (table_head)",
        1,
    )


@rule("BAL09-077", "BAL09-078")
def test_another_minimum_is_announced_and_applies_from_the_next_round() -> None:
    play = holdem("BAL09")
    assert play.shown["minimum"] == 500
    [announced] = of_kind(play.send("limit.announce", role="director", minimum=1000), LastRounds)
    assert (announced.purpose, announced.left) == ("limit", 1)
    assert play.state.minimum == 500
    assert (play.shown["next_minimum"], play.shown["rounds_at_this_minimum"]) == (1000, 1)
    play.close(winner=1)
    assert (play.shown["next_minimum"], play.shown["rounds_at_this_minimum"]) == (1000, 0)
    [changed] = of_kind(play.bets(), LimitChanged)
    assert (changed.minimum, changed.was, changed.currency) == (1000, 500, "EUR")
    assert (play.shown["minimum"], play.shown["next_minimum"]) == (1000, None)


@rule("BAL09-070")
def test_the_minimum_the_maximum_and_the_ante_must_agree() -> None:
    for maximum, ante, wrong in (
        (2500, 250, 0),
        (1250, 250, 0),
        (2501, 250, 1),
        (1249, 250, 1),
        (2000, 251, 1),
    ):
        play = table("BAL09", maximum=maximum, ante=ante)
        found = [event for event in of_kind(play.events, Irregularity) if event.what == "limits"]
        assert len(found) == wrong, (maximum, ante)


@rule("BAL09-071", "BAL09-079", "EUS96-214")
def test_the_share_of_the_house_and_the_length_of_a_match_are_shown() -> None:
    play = table("BAL09", rake="pot", rake_percent=5, duration=120)
    shown = play.shown
    assert [line["of"] for line in shown["rake"]] == ["pot", "session"]
    assert (
        shown["settings"]["rake"],
        shown["settings"]["rake_percent"],
        shown["settings"]["duration"],
    ) == ("pot", 5, 120)


@pytest.mark.parametrize(("decree", "left"), [("BAL09", 2), ("EUS96", 3)])
def test_the_last_hands_are_announced(decree: str, left: int) -> None:
    play = table(decree)
    play.send("last_rounds.announce")
    with pytest.raises(RejectedError, match="the last rounds are already announced"):
        play.send("last_rounds.announce")
    play.bets()
    play.cards(HOLES)
    play.close(winner=1)
    assert [event.left for event in of_kind(play.events, LastRounds)] == [left, left - 1]


def test_the_last_hands_where_the_decree_has_none() -> None:
    play = table("ARA02", "synthetic-poker")
    with pytest.raises(
        RejectedError, match="the decree has no announcement of last rounds in this game; send"
    ):
        play.send("last_rounds.announce")


def test_each_player_speaks_for_himself() -> None:
    play = holdem()
    with pytest.raises(
        RejectedError,
        match="role croupier is not allowed to do this; allowed: table_head, inspector",
    ):
        play.send("round.void", role="croupier", reason="misdeal")
    with pytest.raises(RejectedError, match="this game has no command shoe-start"):
        play.send("shoe.start", shoe="S1")
    with pytest.raises(
        RejectedError, match="ball_out is not a reason to void a round here; allowed: wrong_order,"
    ):
        play.send("round.void", reason="ball_out")
    play.send("round.void", role="inspector", reason="inspector")
    [opened] = of_kind(play.bets(), RoundOpened)
    assert opened.relaunch
