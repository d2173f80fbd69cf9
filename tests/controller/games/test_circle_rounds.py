"""A round of circle poker: streets and betting intervals, cards from three sources."""

from __future__ import annotations

import pytest

from common.contract.events import (
    BetsClosed,
    BettingOpened,
    CardDealt,
    CardExpected,
    CardsBurned,
    CardTurned,
    HandDecided,
    Irregularity,
    RoundResult,
)
from common.contract.refusals import RejectedError
from tests.support.games.circle_play import PAIRS, SYNTHETIC, deal_out, holdem, shuffled, table
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

rule = pytest.mark.rule
every = pytest.mark.parametrize(("decree", "game"), PAIRS)
# The streets


@pytest.mark.parametrize(
    ("decree", "game", "own"),
    [
        pytest.param("BAL09", "omaha", 4, marks=rule("BAL09-028")),
        pytest.param("BAL09", "texas-holdem", 2, marks=rule("BAL09-029")),
        pytest.param("EUS96", "omaha", 4, marks=rule("EUS96-205", "EUS96-206")),
        pytest.param("EUS96", "omaha-five", 5, marks=rule("EUS96-205", "EUS96-206")),
        pytest.param("EUS96", "omaha-hi-lo", 4, marks=rule("EUS96-205", "EUS96-206")),
        pytest.param("EUS96", "texas-holdem", 2, marks=rule("EUS96-205", "EUS96-206")),
    ],
)
def test_burn_three_burn_one_burn_one(decree: str, game: str, own: int) -> None:
    play = table(decree, game)
    play.bets()
    order = [seat.who for seat in play.current.seats]
    one = ["|", "burn", "board"]
    assert deal_out(play) == [*order * own, "|", "burn", "board", "board", "board", *one, *one, "|"]
    assert [event.count for event in of_kind(play.events, CardsBurned)] == [1, 1, 1]
    dealt = of_kind(play.events, CardDealt)
    assert all((event.card is None) == event.to.startswith("seat:") for event in dealt)


@rule("EUS96-205", "EUS96-206")
def test_double_holdem_has_two_rows() -> None:
    play = table("EUS96", "holdem-double")
    play.bets()
    order = [seat.who for seat in play.current.seats]
    one = ["|", "burn", "board", "board:2"]
    assert deal_out(play) == [
        *order * 2,
        "|",
        "burn",
        *["board"] * 3,
        *["board:2"] * 3,
        *one,
        *one,
        "|",
    ]


def test_omaha_with_five_cards_may_show_the_first_common_card_with_the_deal() -> None:
    play = table("EUS96", "omaha-five", first_common="with_deal")
    play.bets()
    went = deal_out(play)
    assert went[20:25] == ["board", "|", "burn", "board", "board"]
    assert went.count("board") == 5


SYNTHETIC_DEAL = [
    *("BAL09-031", "EUS96-210", "ARA02-144 ARA02-146", "BAL05-140 BAL05-142"),
]


@pytest.mark.parametrize("decree", by_decree(*SYNTHETIC_DEAL))
def test_synthetic_poker_turns_one_common_card_per_interval(decree: str) -> None:
    play = table(decree, "synthetic-poker")
    play.bets()
    order = [seat.who for seat in play.current.seats]
    assert deal_out(play) == [*order * 2, *["board"] * 5, "|", *["turn", "|"] * 4]
    first, *covered = [
        event.card for event in of_kind(play.events, CardDealt) if event.to == "board"
    ]
    assert first is not None
    assert covered == [None] * 4
    assert len(of_kind(play.events, CardTurned)) == 4
    assert [event.interval for event in of_kind(play.events, BettingOpened)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("decree", ["BAL09", "EUS96"])
def test_synthetic_poker_may_draw_each_common_card_in_its_time(decree: str) -> None:
    play = table(decree, "synthetic-poker", common="drawn")
    play.bets()
    order = [seat.who for seat in play.current.seats]
    assert deal_out(play) == [*order * 2, "board", "|", *["board", "|"] * 4]


@pytest.mark.parametrize("decree", ["ARA02", "BAL05"])
def test_where_the_decree_lays_them_down_the_setting_is_not_asked(decree: str) -> None:
    play = table(decree, "synthetic-poker", common="drawn")
    play.bets()
    assert deal_out(play).count("turn") == 4


@pytest.mark.parametrize("decree", SYNTHETIC)
def test_at_synthetic_poker_who_made_the_last_bet_speaks_first(decree: str) -> None:
    play = table(decree, "synthetic-poker")
    play.bets()
    play.cards(" ".join(shuffled(play, 1)[:13]))
    play.act(2, "bet")
    play.act(3, "raise")
    play.close()
    play.turn("board")
    play.close()
    play.turn("board")
    assert [event.first for event in of_kind(play.events, BettingOpened)] == [
        "seat:4",
        "seat:3",
        "seat:3",
    ]
    play.act(3, "fold")
    play.close()
    play.turn("board")
    assert of_kind(play.events, BettingOpened)[-1].first == "seat:4"


# Bets


def test_words_of_an_interval() -> None:
    play = holdem()
    play.act(4, "check")
    play.act(3, "bet")
    for action, said in (
        ("check", "seat:2 cannot check after a bet; send action call, raise or fold"),
        ("bet", "there is already a bet in this interval; send action raise"),
        ("muck", "it is not the showdown; for a player who gives up send action fold"),
        ("discard", "action discard is not possible here; possible: check, bet, call, raise,"),
    ):
        with pytest.raises(RejectedError, match=said):
            play.act(2, action)
    play.act(2, "raise")
    play.act(1, "fold")
    with pytest.raises(
        RejectedError, match="seat:1 does not play for the pot; playing: seat:4, seat:3, seat:2"
    ):
        play.act(1, "call")
    play.act(4, "all_in")
    with pytest.raises(RejectedError, match="nothing left to bet"):
        play.act(4, "call")
    decided = [(event.who, event.decision, event.by) for event in of_kind(play.events, HandDecided)]
    words = ["check", "bet", "raise", "fold", "all_in"]
    assert [word for _, word, _ in decided] == words
    assert {by for _, _, by in decided} == {"M. Lasa"}
    assert of_kind(play.events, HandDecided)[0].announcement == {"eu": "paso"}


@pytest.mark.parametrize("decree", by_decree("BAL09-083"))
def test_the_last_player_wins_and_shows_nothing(decree: str) -> None:
    play = holdem(decree)
    play.act(4, "bet")
    play.act(1, "fold")
    play.act(2, "fold")
    [result] = of_kind(play.act(3, "fold"), RoundResult)
    assert (
        outcome_of(result).winner,
        outcome_of(result).hands,
        outcome_of(result).marks,
        len(play.evidence(result)),
    ) == (
        "seat:4",
        (),
        ("no_showdown",),
        8,
    )
    assert play.state.current is None


@rule("BAL09-083")
@every
def test_the_croupier_states_the_last_player(decree: str, game: str) -> None:
    play = table(decree, game)
    play.bets()
    while not play.current.open:
        play.cards("-") if not play.current.due[0].up else play.cards("Ah")
    with pytest.raises(RejectedError, match="seat:9 does not play for the pot; playing: seat:4,"):
        play.close(winner=9)
    [result] = of_kind(play.close(winner=2), RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).marks) == ("seat:2", ("no_showdown",))


def test_where_all_are_all_in_there_are_no_more_intervals() -> None:
    play = holdem()
    for seat in (1, 2, 3):
        play.act(seat, "all_in")
    play.close()
    play.cards("2c 3c 4c 5d 2d 6d 2h 7d")
    assert [event.interval for event in of_kind(play.events, BettingOpened)] == [1]
    assert play.current.showdown


def test_a_hand_that_was_not_folded_is_restored() -> None:
    play = holdem()
    play.act(3, "fold")
    assert [seat.number for seat in play.current.live] == [4, 2, 1]
    play.act(3, "in")
    assert [seat.number for seat in play.current.live] == [4, 3, 2, 1]
    assert [event.decision for event in of_kind(play.events, HandDecided)] == ["fold", "in"]
    with pytest.raises(RejectedError, match="seat:3 is not sitting out"):
        play.act(3, "in")


def test_raises_have_a_limit_where_the_decree_has_one() -> None:
    play = holdem()
    for _ in range(9):
        play.act(2, "raise")
    assert not of_kind(play.events, Irregularity)


# The sources of cards


def test_cards_from_a_shuffler_come_in_packets() -> None:
    play = table()
    play.bets()
    for _ in range(4):
        play.packet(2)
    dealt = [(event.to, event.index, event.card) for event in of_kind(play.events, CardDealt)]
    assert dealt == [(f"seat:{seat}", index, None) for seat in (4, 3, 2, 1) for index in (1, 2)]
    assert play.current.open
    play.close()
    play.packet(1)
    play.packet(3)
    assert play.asks == ("cards.show",)
    play.show("board", "2c 3c 4c")
    assert [event.card for event in of_kind(play.events, CardTurned)] == ["2c", "3c", "4c"]
    assert not play.asks


def test_cards_dealt_by_hand() -> None:
    play = table()
    play.send("bets.open")
    events = play.send("cards.deal", role="croupier", count=8)
    assert [event.unobserved for event in of_kind(events, BetsClosed)] == [True]
    with pytest.raises(
        RejectedError, match="the betting interval is open; send betting-close, or report a card"
    ):
        play.send("cards.deal", count=1)
    play.close()
    with pytest.raises(
        RejectedError, match="4 cards are due, not 5; report a wrong number with deal-error"
    ):
        play.send("cards.deal", count=5)
    play.send("cards.burn")
    with pytest.raises(RejectedError, match="the next card goes to board; it is not a burn card"):
        play.send("cards.burn")
    with pytest.raises(RejectedError, match="3 of these cards are dealt face up, not 2"):
        play.send("cards.deal", count=3, cards=["2c", "3c"])
    events = play.send("cards.deal", who="board", cards=["2c", "3c", "4c"])
    assert [event.card for event in of_kind(events, CardDealt)] == ["2c", "3c", "4c"]
    assert play.current.open


def test_one_hand_may_be_dealt_before_another() -> None:
    play = table()
    play.bets()
    play.send("cards.deal", who="seat:1", count=2)
    with pytest.raises(RejectedError, match="0 cards are due to seat:1, not 1"):
        play.send("cards.deal", who="seat:1")
    play.cards("Ah Kh")
    dealt = [event.to for event in of_kind(play.events, CardDealt)]
    assert dealt == ["seat:1", "seat:1", "seat:4", "seat:3"]


@rule("EUS96-205")
def test_a_card_that_was_not_burned() -> None:
    play = holdem()
    play.close()
    events = play.show("board", "2c 3c 4c")
    [irregular] = of_kind(events, Irregularity)
    assert (irregular.what, irregular.law) == ("burn_missing", "EUS96-205")
    assert [event.card for event in of_kind(events, CardDealt)] == ["2c", "3c", "4c"]


def test_a_common_card_that_was_not_read() -> None:
    play = holdem()
    play.close()
    events = play.cards("2c 3c - 5c")
    assert [event.what for event in of_kind(events, Irregularity)] == ["card_unread"]
    assert play.asks == ("cards.show",)
    with pytest.raises(RejectedError, match="board has 1 unread cards, not 3"):
        play.show("board", "2c 3c 4c")
    play.show("board", "4c")
    assert [card.face for card in play.current.cards_of("board")] == ["3c", "4c", "5c"]


def test_the_place_where_the_next_card_is_expected() -> None:
    play = holdem()
    expected = [event.to for event in of_kind(play.events, CardExpected)]
    assert expected == [f"seat:{seat}" for seat in (4, 3, 2, 1, 4, 3, 2, 1)] + [None]
    play.close()
    assert play.state.expected == "burn"
