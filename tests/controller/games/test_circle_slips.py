"""Slips of the croupier at circle poker, and inputs at an awkward moment: nothing goes astray, and
each has a way out.
"""

from __future__ import annotations

import pytest

from common.contract.events import (
    BettingOpened,
    CardDealt,
    CardRemoved,
    HandDecided,
    RoundResult,
)
from common.contract.refusals import RejectedError
from tests.support.games.circle_draw_play import covered, discard, opened
from tests.support.games.circle_play import Play, deal_out, holdem, shuffled, table, whats
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind


def stud(game: str, seats: int = 5, streets: int = 1) -> tuple[Play, list[str]]:
    """Stud, dealt until this many streets lie and the bets on them are equal. Return the cards that
    are left, the next one last.
    """
    play = table("BAL09", game, seats=tuple(range(1, seats + 1)))
    play.bets()
    cards = shuffled(play, 3)[::-1]
    while play.current.street < streets:
        if play.current.open:
            play.close()
        else:
            play.cards(cards.pop())
    return play, cards


def test_a_player_who_folds_after_bets_closed_too_early_gets_no_more_cards() -> None:
    play, cards = stud("five-card-stud")
    events = play.act(3, "fold")
    assert [event.decision for event in of_kind(events, HandDecided)] == ["fold"]
    assert [event.to for event in of_kind(play.cards(" ".join(cards[-4:])), CardDealt)] == [
        "seat:5",
        "seat:1",
        "seat:2",
        "seat:4",
    ]
    assert play.current.open


def test_the_last_to_give_up_after_the_bets_were_closed_leaves_a_winner() -> None:
    play = holdem()
    play.act(1, "fold")
    play.act(2, "fold")
    play.close()
    [result] = of_kind(play.act(3, "fold"), RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).marks) == ("seat:4", ("no_showdown",))


def test_no_player_folds_before_the_first_bets() -> None:
    play = table()
    play.bets()
    with pytest.raises(RejectedError, match="no betting interval is open"):
        play.act(1, "fold")


def test_a_player_who_folds_at_the_showdown_does_not_show() -> None:
    play = holdem()
    play.street("2c 3c 4c 5c")
    play.street("6c 7c")
    play.street("8c 9c")
    play.close()
    with pytest.raises(RejectedError, match="muck"):
        play.act(1, "fold")


@pytest.mark.rule("BAL09-055")
def test_hands_that_are_null_get_no_more_cards() -> None:
    play, cards = stud("five-card-stud")
    play.cards(cards.pop())
    play.error("touched", 3)
    play.error("touched", 4)
    dealt = of_kind(play.cards(" ".join(cards[-2:])), CardDealt)
    assert [event.to for event in dealt] == ["seat:1", "seat:2"]
    assert play.current.open


@pytest.mark.rule("BAL09-046")
@pytest.mark.parametrize("action", ["go", "pass"])
def test_a_player_whose_hand_is_null_is_no_longer_asked_about_his_last_card(
    action: str,
) -> None:
    play, cards = stud("seven-card-stud", streets=4)
    play.seen(cards.pop())
    assert play.state.doubts[0].who == "seat:5"
    removed = [
        *of_kind(play.error("touched", 5), CardRemoved),
        *of_kind(play.error("touched", 2), CardRemoved),
    ]
    assert [event.to for event in removed] == ["seat:5", "seat:2"]
    assert play.asks == ()
    with pytest.raises(RejectedError, match="not asked"):
        play.send("hand.act", who="seat:5", action=action)


def test_of_two_rows_a_hand_must_not_be_beaten_in_either() -> None:
    play = table("EUS96", "holdem-double")
    play.bets()
    deal_out(play, 5)
    for seat in (2, 3, 4):
        play.turn(seat)  # 2 is best on the first row, 3 on the second
    for seat in (2, 3):
        with pytest.raises(
            RejectedError, match=f"seat:{seat} cannot win; other face-up cards beat"
        ):
            play.send("round.confirm", winner=f"seat:{seat}")
    assert of_kind(play.send("round.confirm", winner="tie"), RoundResult)


def test_a_player_back_from_a_rest_does_not_get_his_folded_hand() -> None:
    play = holdem()
    play.act(1, "fold")
    play.act(1, "out")
    play.act(1, "in")
    assert not play.state.resting
    assert [seat.who for seat in play.current.live] == ["seat:4", "seat:3", "seat:2"]
    play.act(1, "in")  # and now the hand is put together again
    assert len(play.current.live) == 4


def test_a_player_who_leaves_during_a_round_may_change_the_next_pack() -> None:
    play = covered(seats=(1, 2, 3, 4, 5, 6), deal="")
    assert play.state.deck
    play.send("boxes.set", boxes=[1, 2, 3, 4, 5])  # with five they play with 32 cards
    play.send("round.void", reason="inspector")
    assert whats(play.bets()) == ["deck_unchecked"]
    assert len(play.current.due) == 25


def test_an_opener_who_had_passed_is_refused() -> None:
    play = covered()
    play.act(4, "open")
    play.act(4, "check")
    assert play.current.opener is None
    play.act(3, "open")
    play.act(4, "call")
    with pytest.raises(
        RejectedError, match="cannot check after a bet; send action call, raise or fold"
    ):
        play.act(4, "check")
    play.close()
    assert [place.to for place in play.current.due] == ["seat:3", "seat:4", "seat:1", "seat:2"]


def test_an_opener_who_was_raised_has_opened() -> None:
    play = covered()
    play.act(3, "open")
    play.act(4, "raise")
    with pytest.raises(
        RejectedError, match="cannot check after a bet; send action call, raise or fold"
    ):
        play.act(3, "check")
    assert play.current.opener == 3


def test_a_wrong_number_of_discards_is_corrected() -> None:
    play = opened(3)
    discard(play, 3, 3, "Ad")
    discard(play, 3, 2)
    assert [place.to for place in play.current.due] == ["seat:3", "seat:4", "seat:1", "seat:2"]
    play.cards("Ah")
    with pytest.raises(
        RejectedError, match="seat:3 has already received 2 cards; report an extra card with"
    ):
        discard(play, 3, 1)
    discard(play, 3, 3, "As")
    assert [event.index for event in of_kind(play.events, CardDealt) if event.to == "seat:3"][
        -3:
    ] == [6, 7, 8]
    discard(play, 4, 0)
    with pytest.raises(RejectedError, match="seat:1 discards first"):
        discard(play, 2, 1)


def test_the_last_of_four_cards_is_not_due_where_three_were_discarded() -> None:
    play = covered("EUS96")
    play.close()
    discard(play, 4, 4, "Ad Ah As")
    discard(play, 4, 3)
    assert [(place.to, place.turn) for place in play.current.due] == [
        ("seat:3", True),
        ("seat:2", True),
        ("seat:1", True),
    ]


def test_a_hand_that_was_not_folded_gets_its_card_while_no_hand_has_one() -> None:
    play, cards = stud("five-card-stud")
    play.act(1, "fold")
    play.act(1, "in")
    assert [(place.to, place.up) for place in play.current.due] == [
        (f"seat:{seat}", True) for seat in (5, 1, 2, 3, 4)
    ]
    play.cards(cards.pop())
    play.act(2, "fold")
    with pytest.raises(
        RejectedError, match="seat:2 cannot return; the others have received cards since"
    ):
        play.act(2, "in")


def test_the_first_to_speak_is_published_again_when_an_open_card_is_corrected() -> None:
    play = table("BAL09", "five-card-stud")
    play.bets()
    opened_by = of_kind(play.cards("7h 8h 9h Th 7s 8s Js Ts"), BettingOpened)
    assert [(event.interval, event.first) for event in opened_by] == [(1, "seat:2")]
    events = of_kind(play.show(1, "Qs", index=2), BettingOpened)
    assert [(event.interval, event.first) for event in events] == [(1, "seat:1")]
    assert (
        of_kind([*play.accept(), *play.act(1, "bet"), *play.show(3, "As", index=2)], BettingOpened)
        == []
    )
