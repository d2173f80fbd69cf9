"""Published results of circle poker that a person corrects: the cards decide where they were
compared, else the person does.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from common.contract.events import Hand, ResultCorrected, RoundResult
from common.contract.notation import read_input
from common.contract.refusals import RejectedError
from controller.games.circle.streets import pack
from controller.games.dealt.state import HISTORY_ROUNDS
from tests.support.games.circle_draw_play import covered
from tests.support.games.circle_play import HOLES, PAIRS, Play, deal_out, holdem, table
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import confidential, of_kind

STREETS = ("2c 3c 4c 9d", "2d Td", "2h 7d")


def correct(play: Play, **fields: Any) -> ResultCorrected:
    """Correct ``winner``, or hands to these cards: ``seat4`` for ``seat:4``."""
    winner = fields.pop("winner", None)
    hands = {who.replace("seat", "seat:"): cards.split() for who, cards in fields.items()}
    [corrected] = of_kind(
        play.send("result.correct", round=1, winner=winner, hands=hands or None), ResultCorrected
    )
    return corrected


def to_the_end(
    cards: str = HOLES, streets: tuple[str, ...] = STREETS, decree: str = "EUS96"
) -> Play:
    """Hold'em to its showdown, all in."""
    play = table(decree)
    play.bets()
    play.cards(cards)
    for street in streets:
        play.street(street)
    play.close()
    play.turn()
    return play


def fields_of(event: RoundResult | ResultCorrected) -> tuple[Any, ...]:
    """The outcome in a result."""
    return outcome_of(event).hands, outcome_of(event).winner, outcome_of(event).marks


@pytest.mark.parametrize(
    ("said", "cards", "streets"),
    [
        ({"seat4": "Ah 5s"}, HOLES.replace("As", "5s"), STREETS),
        (
            {"seat4": "Ah 5s", "seat2": "5h 8d"},
            HOLES.replace("As", "5s").replace("Qh", "5h").replace("Qs", "8d"),
            STREETS,
        ),
        ({"board": "3c 4c 9d Td Kd"}, HOLES, ("2c 3c 4c 9d", "2d Td", "2h Kd")),
        ({"board": "Tc Jc Qc Kc Ac"}, HOLES, ("2c Tc Jc Qc", "2d Kc", "2h Ac")),
    ],
)
def test_a_corrected_result_is_what_the_right_cards_would_have_made(
    said: dict[str, str], cards: str, streets: tuple[str, ...]
) -> None:
    play, other = to_the_end(), to_the_end(cards, streets)
    [then] = of_kind(other.events, RoundResult)
    play.again()
    assert fields_of(correct(play, **said)) == fields_of(then)
    assert history(play) == [{**history(other)[0], "corrected": True}]
    assert play.shown["last_winner"] == other.shown["last_winner"]


@pytest.mark.parametrize(("decree", "game"), PAIRS)
def test_every_game_with_its_boards_and_its_low_hand(decree: str, game: str) -> None:
    play = table(decree, game)
    play.bets()
    deal_out(play)
    play.turn()
    [result] = of_kind(play.events, RoundResult)
    lie = {hand.who: hand.cards for hand in outcome_of(result).hands}
    free = next(
        card
        for card in pack(play.game.book, 4)
        if card not in {card for own in lie.values() for card in own}
    )
    own = lie["seat:4"]
    now = correct(play, seat4=" ".join((*own[:-1], free)))
    assert len(outcome_of(now).hands) == len(outcome_of(result).hands)
    assert fields_of(correct(play, seat4=" ".join(own))) == fields_of(result)


def test_where_hands_were_compared_the_cards_decide() -> None:
    play = to_the_end()
    for why, fields in {
        "the result follows from the cards; leave out number, dice and winner": {
            "winner": "seat:3"
        },
        "hands is required; name each wrong hand with its right cards": {},
        "seat:4 has 2 cards, not 1; name as many": {"seat4": "Ad"},
        "seat:7 was not face up in round 1; face up were: seat:4, seat:3,": {"seat7": "Ad 5s"},
        "not in this deck: Xx": {"seat4": "Ah Xx"},
        "a card would be in the round twice; name each once": {"seat4": "Ah Kh"},
        "the hands of round 1 are already as sent": {"seat4": "As Ah"},
    }.items():
        state = play.state
        with pytest.raises(RejectedError, match=why):
            correct(play, **fields)
        assert play.state is state


def test_cards_of_a_folded_hand_are_neither_stored_nor_requested() -> None:
    play = table()
    play.bets()
    play.cards(HOLES)
    play.act(1, "fold")
    for street in STREETS:
        play.street(street)
    play.close()
    play.turn()
    kept = msgspec.json.encode([play.state.entries, play.state.played]).decode()
    assert not [card for card in ("Jh", "Js", "2c", "2d", "2h") if card in kept]
    with pytest.raises(
        RejectedError, match="seat:1 was not face up in round 1; face up were: seat:4, seat:3,"
    ):
        correct(play, seat1="Jh Jd")
    assert outcome_of(correct(play, seat4="Ah Jh")).winner == "seat:3", (
        "a card of the hand that gave up: not published"
    )


def test_without_showdown_a_person_states_the_winner() -> None:
    play = holdem()
    play.street(STREETS[0])
    play.close(winner=4)
    now = correct(play, winner="seat:3", board="3c 4c 8d")
    assert (outcome_of(now).winner, now.was, outcome_of(now).marks) == (
        "seat:3",
        "seat:4",
        ("no_showdown",),
    )
    assert outcome_of(now).hands == (Hand(who="board", cards=("3c", "4c", "8d")),)
    again = correct(play, board="3c 4c 9d")
    assert (outcome_of(again).winner, outcome_of(again).hands) == (
        "seat:3",
        (Hand(who="board", cards=("3c", "4c", "9d")),),
    )
    both = correct(play, winner="tie")
    assert (outcome_of(both).winner, both.was, outcome_of(both).marks) == (
        "tie",
        "seat:3",
        ("split",),
    )


def test_hands_that_lay_open_before_all_cards_came_do_not_decide_the_winner() -> None:
    play = table("BAL09", "five-card-stud")
    play.bets()
    play.cards("7c 8c 9c Tc Ac Kc Qc Jc")
    play.show(1, "8c Kc")
    for seat in (2, 3, 4):
        play.act(seat, "fold")
    assert outcome_of(of_kind(play.events, RoundResult)[0]).winner == "seat:1"
    assert outcome_of(correct(play, winner="seat:2")).winner == "seat:2"


def test_no_statement_overrides_cards_that_lay_open() -> None:
    play = holdem()
    for street in STREETS:
        play.street(street)
    play.close()
    play.turn(4)
    play.turn(2)
    play.send("round.confirm", winner="seat:4")
    with pytest.raises(
        RejectedError, match="seat:2 cannot win; other face-up cards beat this hand"
    ):
        correct(play, winner="seat:2")
    now = correct(play, seat2="Tc Ts", winner="seat:2")
    assert (outcome_of(now).winner, now.was) == ("seat:2", "seat:4")


def test_a_blank_hand_and_a_pot_that_stays() -> None:
    play = covered()
    play.close()
    with pytest.raises(RejectedError, match="nobody opened the pot of round 1"):
        correct(play, winner="seat:3")
    other = covered()
    other.act(2, "open")
    other.close(winner=2)
    other.turn(2)
    now = correct(other, winner="seat:2")
    assert (outcome_of(now).winner, outcome_of(now).marks) == ("seat:2", ("no_showdown",))


def test_a_round_of_long_ago_and_of_another_session() -> None:
    play = to_the_end()
    for _ in range(HISTORY_ROUNDS):
        play.bets()
        play.cards(HOLES)
        play.close(winner=3)
    with pytest.raises(
        RejectedError,
        match="no face-up hand of round 1 is remembered; only the latest 20 rounds are",
    ):
        correct(play, seat4="Ah 5s")
    assert correct(play, winner="seat:2").was == "seat:4", "a person may still say who had won"
    assert len(play.state.played) == HISTORY_ROUNDS
    play.send("session.close")
    play.open()
    assert play.state.played == ()


def test_a_correction_publishes_the_cards_or_is_for_surveillance_alone() -> None:
    play = to_the_end()
    line = {"at": 1.0, "type": "result.correct", "by": "M. Lasa", "role": "table_head", "round": 1}
    hands = {"right": {"seat:4": ["Ah", "5s"]}, "wrong": {"seat:4": ["Kh", "5s"]}}
    sealed = [
        confidential(
            play.game, play.state, read_input(msgspec.json.encode({**line, "hands": hand}))
        )
        for hand in hands.values()
    ]
    assert sealed == [False, True]
    assert not any(card.reading is not None for hand in play.state.played for card in hand.cards)
