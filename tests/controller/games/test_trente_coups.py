"""A coup of trente et quarante: the two rows, the winners, and a person's decisions about a card
that stops the table.
"""

from __future__ import annotations

import pytest

from common.contract.events import (
    BetsClosed,
    CardDealt,
    CardExpected,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from controller.games.cards import is_red
from controller.games.trente.rows import is_coup, marks, next_row, points, rows, winner
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind
from tests.support.games.trente_play import (
    BLACK_WINS,
    DECREES,
    RED_WINS,
    REFAIT,
    TIE,
    Play,
    coups,
    shuffled,
    table,
)

every = pytest.mark.parametrize("decree", DECREES)


# Arithmetic


def test_the_values_of_cards() -> None:
    assert [points([card]) for card in ("Ac", "2d", "9h", "Ts", "Jc", "Qd", "Kh")] == [
        1,
        2,
        9,
        10,
        10,
        10,
        10,
    ]


def test_the_rows_are_parted_where_the_first_reaches_31() -> None:
    cards = BLACK_WINS.split()
    assert rows(cards) == (("Ts", "Jd", "Qc", "2s"), ("Kd", "Th", "9d", "8c"))
    assert [next_row(cards[:count]) for count in range(9)] == ["black"] * 4 + ["red"] * 4 + [None]
    assert [is_coup(cards[:count]) for count in range(9)] == [False] * 8 + [True]
    assert not is_coup([*cards, "2c"])


@pytest.mark.parametrize("decree", by_decree("BAL05-088", "ARA02-037", "EUS96-091", "GAL07-081"))
def test_rows_make_31_to_40_whatever_comes(decree: str) -> None:
    for cards in coups(shuffled(len(decree)))[:30]:
        play = table(decree)
        [result] = of_kind(play.coup(" ".join(cards)), RoundResult)
        for hand in outcome_of(result).hands:
            assert isinstance(hand.points, int)
            assert 31 <= hand.points <= 40
            assert points(hand.cards[:-1]) < 31


# The course


@pytest.mark.parametrize(
    "decree", by_decree("BAL05-087", "ARA02-036 ARA02-038", "EUS96-090", "GAL07-080")
)
def test_the_black_row_comes_first_then_the_red_one(decree: str) -> None:
    play = table(decree)
    events = play.coup(BLACK_WINS)
    assert [event.to for event in of_kind(events, CardExpected)] == ["black", "red", None]
    dealt = [(event.to, event.index) for event in of_kind(events, CardDealt)]
    assert dealt == [("black", n) for n in (1, 2, 3, 4)] + [("red", n) for n in (1, 2, 3, 4)]
    assert [event.card for event in of_kind(events, CardDealt)] == BLACK_WINS.split()
    assert play.sealed == []


@pytest.mark.parametrize(
    "decree",
    by_decree("BAL05-089 BAL05-091", "ARA02-039 ARA02-041 ARA02-042", "EUS96-092", "GAL07-082"),
)
def test_the_row_nearer_to_31_wins_and_equal_ones_are_null(decree: str) -> None:
    play = table(decree)
    events = [*play.coup(BLACK_WINS), *play.coup(RED_WINS), *play.coup(TIE), *play.coup(REFAIT)]
    results = of_kind(events, RoundResult)
    assert [outcome_of(result).winner for result in results] == ["black", "red", "tie", "refait"]
    assert [outcome_of(result).marks for result in results] == [
        ("colour",),
        ("inverse",),
        ("tie",),
        ("refait",),
    ]
    made = [[hand.points for hand in outcome_of(result).hands] for result in results]
    assert made == [[32, 37], [37, 31], [35, 35], [31, 31]]
    outcomes = [[hand.outcome for hand in outcome_of(result).hands] for result in results]
    assert outcomes == [["win", "lose"], ["lose", "win"], ["tie", "tie"], [None, None]]
    calls = play.game.book.announcements
    assert [result.announcement for result in results] == [
        calls["colour_wins"],
        calls["colour_loses"],
        None,
        None,
    ]
    assert all(len(play.evidence(result)) == 8 for result in results)


@pytest.mark.parametrize("decree", by_decree("BAL05-090", "ARA02-040", "EUS96-093", "GAL07-083"))
def test_colour_is_that_of_the_first_card_of_the_black_row(decree: str) -> None:
    seen = set()
    for seed in range(6):
        for cards in coups(shuffled(seed)):
            won = winner(cards)
            if won in ("black", "red"):
                same = is_red(cards[0]) == (won == "red")
                seen.add((won, same))
                assert marks(cards) == (("colour",) if same else ("inverse",))
    assert len(seen) == 4
    play = table(decree)
    swapped = " ".join(["Td", *BLACK_WINS.split()[1:]])
    [result] = of_kind(play.coup(swapped), RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).marks) == ("black", ("inverse",))


@pytest.mark.parametrize("decree", by_decree("BAL05-093", "ARA02-045", "GAL07-085"))
def test_the_cards_stay_in_view_until_the_next_coup(decree: str) -> None:
    play = table(decree)
    play.coup(BLACK_WINS)
    shown = play.shown
    assert shown["rows"] == {"black": ["Ts", "Jd", "Qc", "2s"], "red": ["Kd", "Th", "9d", "8c"]}
    assert shown["points"] == {"black": 32, "red": 37}
    assert (shown["phase"], shown["last_winner"], shown["last_marks"]) == (
        "waiting",
        "black",
        ["colour"],
    )
    play.send("bets.open")
    assert play.shown["rows"] == {"black": [], "red": []}


def test_at_a_table_without_keys_the_first_card_opens_the_round() -> None:
    play = table(rounds="shoe")
    events = [*play.cards(BLACK_WINS), *play.cards(RED_WINS)]
    assert [event.round for event in of_kind(events, RoundOpened)] == [1, 2]
    assert all(event.unobserved for event in of_kind(events, BetsClosed))
    assert [outcome_of(result).winner for result in of_kind(events, RoundResult)] == [
        "black",
        "red",
    ]


def test_history_has_one_line_for_each_round() -> None:
    play = table()
    play.coup(BLACK_WINS)
    play.coup(TIE)
    play.bets()
    play.send("round.void", reason="misdeal")
    first, second, third = history(play)
    hands = first["outcome"].pop("hands")
    assert {hand["who"]: hand["points"] for hand in hands} == {"black": 32, "red": 37}
    assert first == {
        "round": 1,
        "kind": "result",
        "outcome": {
            "family": "trente-et-quarante",
            "winner": "black",
            "marks": ["colour"],
            "refaits": 0,
            "last_of_session": False,
            "choices": [],
        },
        "corrected": False,
    }
    assert second["outcome"]["winner"] == "tie"
    assert (third["kind"], third["reason"]) == ("void", "misdeal")


# Outcomes by a person


@every
def test_the_person_responsible_declares_a_round_null(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Ts Jd")
    with pytest.raises(RejectedError, match="role croupier is not allowed"):
        play.send("round.void", role="croupier", reason="misdeal")
    with pytest.raises(RejectedError, match="ball_out is not a reason to void a round"):
        play.send("round.void", reason="ball_out")
    [void] = of_kind(play.send("round.void", reason="cards_stuck"), RoundVoid)
    assert (void.reason, void.law) == ("cards_stuck", play.game.book.void["cards_stuck"].rule)
    assert of_kind(play.coup(BLACK_WINS), RoundResult) != []


def test_impossible_commands_are_refused() -> None:
    play = Play()
    for command in ("bets.open", "shoe.end", "session.close"):
        with pytest.raises(RejectedError, match="no session"):
            play.send(command)
    play.send("session.open")
    with pytest.raises(RejectedError, match="no shoe"):
        play.send("bets.open")
    with pytest.raises(RejectedError, match="without a number"):
        play.send("shoe.start", shoe=" ")
    play.send("shoe.start", shoe="S1")
    for command, fields, why in (
        ("bets.close", {}, "no bets are open"),
        ("card.decide", {"action": "accept"}, "no card needs a decision"),
        ("round.void", {"reason": "misdeal"}, "no round is in progress"),
        ("round.confirm", {"winner": "player"}, "no round is in progress"),
        ("hand.draw", {}, "has no command hand-draw"),
    ):
        with pytest.raises(RejectedError, match=why):
            play.send(command, **fields)
    play.bets()
    with pytest.raises(RejectedError, match="is not waiting for a confirmation"):
        play.send("round.confirm", winner="black")
    with pytest.raises(RejectedError, match="round 1 is in progress"):
        play.send("shoe.end")


def test_a_result_is_corrected_not_erased() -> None:
    play = table()
    play.coup(BLACK_WINS)
    for fields, why in (
        ({"round": 2, "winner": "red"}, "not among the remembered rounds"),
        ({"round": 1}, "winner must be one of"),
        ({"round": 1, "winner": "black"}, "is already black"),
    ):
        with pytest.raises(RejectedError, match=why):
            play.send("result.correct", **fields)
    [corrected] = of_kind(play.send("result.correct", round=1, winner="red"), ResultCorrected)
    assert (outcome_of(corrected).winner, corrected.was) == ("red", "black")
    [line] = history(play)
    outcome = line["outcome"]
    assert (outcome["winner"], outcome["marks"], line["corrected"]) == ("red", [], True)
    assert play.shown["rows"] == {"black": [], "red": []}
    play.bets()
    play.send("round.void", reason="misdeal")
    with pytest.raises(RejectedError, match="no result to correct"):
        play.send("result.correct", round=2, winner="red")
