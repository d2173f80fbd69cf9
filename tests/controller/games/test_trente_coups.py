"""A coup of trente et quarante: the two rows, what wins, what a person decides about a card that stops the table."""

from __future__ import annotations

import pytest

from controller.events import (
    BetsClosed,
    CardDealt,
    CardExpected,
    CardRemoved,
    Irregularity,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from controller.games.cards import is_red
from controller.games.game import Rejected
from controller.games.trente_rows import is_coup, marks, next_row, points, rows, winner
from controller.games.trente_state import QUEUE
from tests.controller.games.trente_play import BLACK_WINS, DECREES, RED_WINS, REFAIT, TIE, Play, coups, of_kind, shuffled
from tests.controller.test_rulebooks import of

every = pytest.mark.parametrize("decree", DECREES)


def table(decree: str = "ARA02", **settings: str) -> Play:
    play = Play(decree, **settings)
    play.open()
    return play


# Arithmetic


def test_the_values_of_cards() -> None:
    assert [points([card]) for card in ("Ac", "2d", "9h", "Ts", "Jc", "Qd", "Kh")] == [1, 2, 9, 10, 10, 10, 10]


def test_the_rows_are_parted_where_the_first_reaches_31() -> None:
    cards = BLACK_WINS.split()
    assert rows(cards) == (("Ts", "Jd", "Qc", "2s"), ("Kd", "Th", "9d", "8c"))
    assert [next_row(cards[:count]) for count in range(9)] == ["black"] * 4 + ["red"] * 4 + [None]
    assert [is_coup(cards[:count]) for count in range(9)] == [False] * 8 + [True]
    assert not is_coup([*cards, "2c"])


@pytest.mark.parametrize("decree", of("BAL05-088", "ARA02-037", "EUS96-091", "GAL07-081"))
def test_rows_make_31_to_40_whatever_comes(decree: str) -> None:
    for cards in coups(shuffled(len(decree)))[:30]:
        play = table(decree)
        [result] = of_kind(RoundResult, play.coup(" ".join(cards)))
        assert isinstance(result.hands, tuple)
        for hand in result.hands:
            assert 31 <= hand.points <= 40
            assert points(hand.cards[:-1]) < 31


# The course


@pytest.mark.parametrize("decree", of("BAL05-087", "ARA02-036 ARA02-038", "EUS96-090", "GAL07-080"))
def test_the_black_row_comes_first_then_the_red_one(decree: str) -> None:
    play = table(decree)
    said = play.coup(BLACK_WINS)
    assert [event.to for event in of_kind(CardExpected, said)] == ["black", "red", None]
    dealt = [(event.to, event.index) for event in of_kind(CardDealt, said)]
    assert dealt == [("black", n) for n in (1, 2, 3, 4)] + [("red", n) for n in (1, 2, 3, 4)]
    assert [event.card for event in of_kind(CardDealt, said)] == BLACK_WINS.split()
    assert play.sealed == []


@pytest.mark.parametrize("decree", of("BAL05-089 BAL05-091", "ARA02-039 ARA02-041 ARA02-042", "EUS96-092", "GAL07-082"))
def test_the_row_nearer_to_31_wins_and_equal_ones_are_null(decree: str) -> None:
    play = table(decree)
    said = [*play.coup(BLACK_WINS), *play.coup(RED_WINS), *play.coup(TIE), *play.coup(REFAIT)]
    results = of_kind(RoundResult, said)
    assert [result.winner for result in results] == ["black", "red", None, None]
    assert [result.marks for result in results] == [("colour",), ("inverse",), ("tie",), ("tie", "refait")]
    made = [[hand.points for hand in result.hands or ()] for result in results]
    assert made == [[32, 37], [37, 31], [35, 35], [31, 31]]
    outcomes = [[hand.outcome for hand in result.hands or ()] for result in results]
    assert outcomes == [["win", "lose"], ["lose", "win"], ["tie", "tie"], ["tie", "tie"]]
    calls = play.game.book.announcements
    assert [result.announcement for result in results] == [calls["colour_wins"], calls["colour_loses"], None, None]
    assert all(len(result.frames) == 8 for result in results)


@pytest.mark.parametrize("decree", of("BAL05-090", "ARA02-040", "EUS96-093", "GAL07-083"))
def test_colour_is_that_of_the_first_card_of_the_black_row(decree: str) -> None:
    seen = set()
    for seed in range(6):
        for cards in coups(shuffled(seed)):
            won = winner(cards)
            if won is not None:
                same = is_red(cards[0]) == (won == "red")
                seen.add((won, same))
                assert marks(cards) == (("colour",) if same else ("inverse",))
    assert len(seen) == 4
    play = table(decree)
    swapped = " ".join(["Td", *BLACK_WINS.split()[1:]])
    [result] = of_kind(RoundResult, play.coup(swapped))
    assert (result.winner, result.marks) == ("black", ("inverse",))


@pytest.mark.parametrize("decree", of("BAL05-093", "ARA02-045", "GAL07-085"))
def test_the_cards_stay_in_view_until_the_next_coup(decree: str) -> None:
    play = table(decree)
    play.coup(BLACK_WINS)
    shown = play.game.show(play.state)
    assert shown["rows"] == {"black": ["Ts", "Jd", "Qc", "2s"], "red": ["Kd", "Th", "9d", "8c"]}
    assert shown["points"] == {"black": 32, "red": 37}
    assert (shown["phase"], shown["last_winner"], shown["last_marks"]) == ("waiting", "black", ["colour"])
    play.say("bets.open")
    assert play.game.show(play.state)["rows"] == {"black": [], "red": []}


def test_at_a_table_without_keys_the_first_card_opens_the_round() -> None:
    play = table(rounds="shoe")
    said = [*play.cards(BLACK_WINS), *play.cards(RED_WINS)]
    assert [event.round for event in of_kind(RoundOpened, said)] == [1, 2]
    assert all(event.unobserved for event in of_kind(BetsClosed, said))
    assert [result.winner for result in of_kind(RoundResult, said)] == ["black", "red"]


def test_history_has_one_line_for_each_round() -> None:
    play = table()
    play.coup(BLACK_WINS)
    play.coup(TIE)
    play.bets()
    play.say("round.void", reason="misdeal")
    first, second, third = play.game.history(play.state)
    made = {"black": 32, "red": 37}
    assert first == {"round": 1, "kind": "result", "winner": "black", "points": made, "marks": ["colour"], "corrected": False}
    assert second["winner"] == "tie"
    assert (third["kind"], third["reason"]) == ("void", "misdeal")


# A card that stops the table


def test_an_unread_card_stops_the_table_until_a_person_has_read_it() -> None:
    play = table()
    first, *rest = BLACK_WINS.split()
    play.bets()
    said = play.cards(f"- {' '.join(rest)}")
    assert [(event.to, event.index, event.card) for event in of_kind(CardDealt, said)] == [("black", 1, None)]
    assert [(event.what, event.asks) for event in of_kind(Irregularity, said)] == [("card_unread", ("card.decide", "round.void"))]
    assert play.sealed == rest
    said = play.say("card.decide", action="read", card=first)
    assert [event.card for event in of_kind(CardDealt, said)] == BLACK_WINS.split()
    [result] = of_kind(RoundResult, said)
    assert (result.winner, result.marks, result.confirmed_by) == ("black", ("colour",), "M. Lasa (table_head)")


def test_an_unread_card_may_leave_the_game() -> None:
    play = table()
    play.bets()
    play.cards(f"Ts - {' '.join(BLACK_WINS.split()[1:])}")
    said = play.say("card.decide", action="remove")
    assert [(event.why, event.card) for event in of_kind(CardRemoved, said)] == [("card_unread", None)]
    [result] = of_kind(RoundResult, said)
    assert result.hands is not None
    assert [hand.cards for hand in result.hands or ()] == [("Ts", "Jd", "Qc", "2s"), ("Kd", "Th", "9d", "8c")]


def test_two_cards_unread_are_asked_for_one_after_the_other() -> None:
    play = table()
    play.bets()
    play.cards("Ts - - 2s Kd Th 9d 8c")
    assert of_kind(RoundResult, play.say("card.decide", action="read", card="Jd")) == []
    assert play.state.asks == ("card.decide", "round.void")
    [result] = of_kind(RoundResult, play.say("card.decide", action="read", card="Qc"))
    assert result.winner == "black"


def test_a_card_before_bets_close_waits_and_may_be_the_first_of_the_round() -> None:
    play = table()
    play.say("bets.open")
    [irregular] = of_kind(Irregularity, play.cards("Ts"))
    assert (irregular.what, irregular.asks) == ("card_before_close", ("card.decide", "round.void"))
    play.say("card.decide", action="accept")
    said = play.say("bets.close")
    assert [event.card for event in of_kind(CardDealt, said)] == ["Ts"]
    [result] = of_kind(RoundResult, play.cards(BLACK_WINS[3:]))
    assert result.winner == "black"


def test_a_card_out_of_its_time_may_leave_the_game() -> None:
    play = table()
    play.coup(BLACK_WINS)
    [irregular] = of_kind(Irregularity, play.cards("7h"))
    assert (irregular.what, irregular.asks) == ("card_out_of_round", ("card.decide",))
    with pytest.raises(Rejected, match="a card waits"):
        play.say("bets.open")
    [removed] = of_kind(CardRemoved, play.say("card.decide", action="remove"))
    assert removed.card == "7h"
    assert of_kind(RoundResult, play.coup(RED_WINS)) != []


@pytest.mark.parametrize("rounds", ["keys", "shoe"])
def test_a_card_may_be_kept_for_the_next_round(rounds: str) -> None:
    play = table(rounds=rounds)
    cards = RED_WINS.split()
    if rounds == "keys":
        play.bets()
    play.cards(" ".join(BLACK_WINS.split()[:7]))
    play.cards(cards[0], unsure=True)
    play.say("card.decide", action="next_round")
    [result] = of_kind(RoundResult, play.cards(BLACK_WINS.split()[7]))
    assert (result.round, result.winner) == (1, "black")
    said = play.bets() if rounds == "keys" else []
    [result] = of_kind(RoundResult, [*said, *play.cards(" ".join(cards[1:]))])
    assert (result.round, result.winner, result.marks) == (2, "red", ("inverse",))


def test_a_card_accepted_that_completes_the_coup_leaves_the_next_one_over() -> None:
    play = table()
    play.bets()
    play.cards(" ".join(BLACK_WINS.split()[:7]))
    play.cards("8c", unsure=True)
    play.cards("7h")
    said = play.say("card.decide", action="accept")
    [result] = of_kind(RoundResult, said)
    assert result.winner == "black"
    assert [event.what for event in of_kind(Irregularity, said)] == ["card_out_of_round"]
    assert play.state.asks == ("card.decide",)


def test_what_a_person_reads_in_place_of_the_shoe_counts() -> None:
    play = table()
    play.bets()
    play.cards("9s", unsure=True)
    play.cards(BLACK_WINS[3:])
    assert play.sealed == ["9s", *BLACK_WINS.split()[1:]]
    said = play.say("card.decide", action="read", card="Ts")
    [result] = of_kind(RoundResult, said)
    assert (result.winner, len(result.frames)) == ("black", 7)


@pytest.mark.parametrize("card", ["Xx", "joker"])
def test_a_card_that_is_none_of_the_game_is_read_or_removed(card: str) -> None:
    play = table()
    play.bets()
    [irregular] = of_kind(Irregularity, play.cards(card))
    assert irregular.what == "card_foreign"
    with pytest.raises(Rejected, match="no card of the game"):
        play.say("card.decide", action="accept")
    [dealt] = of_kind(CardDealt, play.say("card.decide", action="read", card="Ts"))
    assert dealt.card == "Ts"


def test_a_card_once_too_often_stops_the_table() -> None:
    play = table()
    play.bets()
    said = play.cards("7h 7h 7h 7h 7h 7h 7h")
    assert [event.what for event in of_kind(Irregularity, said)] == ["card_too_many"]
    assert len(of_kind(CardDealt, said)) == 6


def test_a_card_goes_to_no_row_by_a_persons_choice() -> None:
    play = table()
    play.bets()
    play.cards("7h", unsure=True)
    with pytest.raises(Rejected, match="the row that the rules say"):
        play.say("card.decide", action="for", who="red")


# Outcomes by a person


@every
def test_a_round_is_null_by_who_is_responsible(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Ts Jd")
    with pytest.raises(Rejected, match="the role croupier"):
        play.say("round.void", role="croupier", reason="misdeal")
    with pytest.raises(Rejected, match="not null for ball_out"):
        play.say("round.void", reason="ball_out")
    [void] = of_kind(RoundVoid, play.say("round.void", reason="cards_stuck"))
    assert (void.reason, void.law) == ("cards_stuck", play.game.book.void["cards_stuck"].rule)
    assert of_kind(RoundResult, play.coup(BLACK_WINS)) != []


def test_what_cannot_be_followed_is_refused() -> None:
    play = Play()
    for command in ("bets.open", "shoe.end", "session.close"):
        with pytest.raises(Rejected, match="no session"):
            play.say(command)
    play.say("session.open")
    with pytest.raises(Rejected, match="no shoe"):
        play.say("bets.open")
    with pytest.raises(Rejected, match="without a number"):
        play.say("shoe.start", shoe=" ")
    play.say("shoe.start", shoe="S1")
    for command, fields, why in (
        ("bets.close", {}, "no bets are open"),
        ("card.decide", {"action": "accept"}, "no card waits"),
        ("round.void", {"reason": "misdeal"}, "no round is in hand"),
        ("round.confirm", {"winner": "player"}, "no round is in hand"),
        ("hand.draw", {}, "takes no hand.draw"),
        ("last_rounds.announce", {}, "no announcement"),
    ):
        with pytest.raises(Rejected, match=why):
            play.say(command, **fields)
    play.bets()
    with pytest.raises(Rejected, match="waits for no decision"):
        play.say("round.confirm", winner="black")
    with pytest.raises(Rejected, match="round 1 is in hand"):
        play.say("shoe.end")


def test_a_result_is_corrected_not_erased() -> None:
    play = table()
    play.coup(BLACK_WINS)
    for fields, why in (
        ({"round": 2, "winner": "red"}, "not among the rounds"),
        ({"round": 1}, "say the winner"),
        ({"round": 1, "winner": "black"}, "is black already"),
    ):
        with pytest.raises(Rejected, match=why):
            play.say("result.correct", **fields)
    [corrected] = of_kind(ResultCorrected, play.say("result.correct", round=1, winner="red"))
    assert (corrected.winner, corrected.was) == ("red", "black")
    [line] = play.game.history(play.state)
    assert (line["winner"], line["marks"], line["corrected"]) == ("red", [], True)
    assert play.game.show(play.state)["rows"] == {"black": [], "red": []}
    play.bets()
    play.say("round.void", reason="misdeal")
    with pytest.raises(Rejected, match="no result to correct"):
        play.say("result.correct", round=2, winner="red")


# What a silence hides


def test_a_silence_in_a_round_leaves_it_to_a_person() -> None:
    play = table()
    play.bets()
    play.cards("Ts Jd")
    [irregular] = of_kind(Irregularity, play.gap())
    assert (irregular.what, irregular.asks) == ("silence", ("round.confirm", "round.void"))
    assert of_kind(Irregularity, play.gap()) == []
    [unresolved] = of_kind(RoundUnresolved, play.cards("Qc"))
    assert (unresolved.why, unresolved.candidate) == ("silence", None)
    assert play.cards("2s Kd") == []
    assert play.game.show(play.state)["asks"] == ["bets.open"]
    with pytest.raises(Rejected, match="not all known: say the winner"):
        play.say("round.confirm")
    [result] = of_kind(RoundResult, play.say("round.confirm", winner="red"))
    assert (result.winner, result.hands, result.marks) == ("red", (), ())
    assert of_kind(RoundResult, play.coup(RED_WINS)) != []


def test_cards_known_only_later_are_kept_for_who_decides() -> None:
    play = table()
    play.bets()
    cards = BLACK_WINS.split()
    play.cards(" ".join(cards[:6]))
    play.gap()
    said = play.cards(" ".join(cards[6:]), late=True)
    assert [event.candidate for event in of_kind(RoundUnresolved, said)] == [None]
    assert play.sealed == cards[6:]
    [result] = of_kind(RoundResult, play.say("round.confirm"))
    assert (result.winner, result.confirmed_by) == ("black", "M. Lasa (table_head)")


def test_a_decision_about_a_card_does_not_end_what_a_silence_may_have_hidden() -> None:
    play = table()
    play.bets()
    play.cards("Ts Jd")
    play.cards("Qc", unsure=True)
    play.gap()
    said = play.say("card.decide", action="accept")
    [unresolved] = of_kind(RoundUnresolved, said)
    assert unresolved.candidate is None
    assert of_kind(CardDealt, said) == []


def test_a_round_confirmed_in_its_silence_leaves_what_may_still_come() -> None:
    play = table()
    play.bets()
    play.cards("Ts Jd")
    play.gap()
    [result] = of_kind(RoundResult, play.say("round.confirm", winner="red"))
    assert result.winner == "red"
    assert play.cards("Qc 2s") == []
    assert of_kind(RoundResult, play.coup(RED_WINS)) != []


def test_more_cards_than_can_wait_are_counted_and_leave_the_round_to_a_person() -> None:
    play = table()
    play.bets()
    play.cards("-")
    play.cards(" ".join(shuffled(3)[:40]))
    assert play.state.shoe is not None
    assert (play.state.shoe.drawn, len(play.state.queue)) == (41, QUEUE)
    play.say("card.decide", action="read", card="5c")
    while "card.decide" in play.state.asks:
        play.say("card.decide", action="remove")
    assert not play.state.spilled
    assert play.state.hand is None
    assert play.state.asks == ()


def test_at_a_table_without_keys_cards_that_could_not_wait_are_a_gap() -> None:
    play = table(rounds="shoe")
    play.cards("-")
    play.cards(" ".join(shuffled(3)[:40]))
    said = play.say("card.decide", action="read", card="5c")
    assert of_kind(RoundResult, said) != []
    assert play.state.hand is not None
    assert [event.what for event in of_kind(Irregularity, said)] == ["silence"]
    assert play.state.asks == ("round.confirm", "round.void")


def test_at_a_table_without_keys_a_round_that_began_in_a_silence_is_counted() -> None:
    play = table(rounds="shoe")
    play.cards(BLACK_WINS)
    play.gap()
    said = play.cards("Ts Jd")
    assert [(event.round, event.why) for event in of_kind(RoundUnresolved, said)] == [(2, "silence")]
    play.say("round.confirm", round=2, winner="black")
    play.say("bets.open")
    [result] = of_kind(RoundResult, play.cards(RED_WINS))
    assert result.round == 3


def test_at_a_table_without_keys_bets_opened_before_a_silence_do_not_close_it() -> None:
    play = table(rounds="shoe")
    play.say("bets.open")
    play.gap()
    said = play.cards("Ts")
    assert [event.round for event in of_kind(RoundUnresolved, said)] == [1]


def test_a_silence_between_rounds_hides_nothing_where_bets_have_keys() -> None:
    play = table()
    play.coup(BLACK_WINS)
    play.gap()
    [result] = of_kind(RoundResult, play.coup(RED_WINS))
    assert (result.round, result.confirmed_by) == (2, None)
