"""31-31 at trente et quarante is no tie: it is the zero of this game, with its prison, its count in
a row and its last hand.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import ResultCorrected, RoundResult, RoundUnresolved
from common.contract.refusals import RejectedError
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind, only
from tests.support.games.trente_play import BLACK_WINS, DECREES, REFAIT, TIE, Play, table

every = pytest.mark.parametrize("decree", DECREES)
REFAIT_FIELDS = ("winner", "marks", "refaits", "choices", "last_of_session")


def refait_fields(event: RoundResult | ResultCorrected) -> tuple[Any, ...]:
    """The fields of a result about 31-31."""
    return tuple(getattr(event.outcome, name) for name in REFAIT_FIELDS)


@pytest.mark.parametrize("decree", by_decree("BAL05-089", "ARA02-042", "EUS96-092", "GAL07-082"))
def test_31_31_returns_no_stake_and_states_the_choices(decree: str) -> None:
    play = table(decree)
    result = only(play.coup(REFAIT), RoundResult)
    assert refait_fields(result) == ("refait", ("refait",), 1, ("half", "prison"), False)
    assert [hand.outcome for hand in outcome_of(result).hands] == [None, None]
    shown = play.shown
    assert (shown["last_winner"], shown["last_marks"]) == ("refait", ["refait"])
    assert (shown["refaits"], shown["refait_choices"]) == (1, ["half", "prison"])
    [line] = history(play)
    outcome = line["outcome"]
    assert (outcome["winner"], outcome["refaits"], outcome["choices"]) == (
        "refait",
        1,
        ["half", "prison"],
    )


@pytest.mark.parametrize("decree", by_decree("BAL05-089", "ARA02-041", "EUS96-092", "GAL07-082"))
def test_any_other_tie_is_null_and_its_stakes_are_returned(decree: str) -> None:
    play = table(decree)
    result = only(play.coup(TIE), RoundResult)
    assert refait_fields(result) == ("tie", ("tie",), 0, (), False)
    assert [hand.outcome for hand in outcome_of(result).hands] == ["tie", "tie"]


@pytest.mark.parametrize("decree", by_decree("BAL05-089", "ARA02-042", "EUS96-092", "GAL07-082"))
def test_refaits_in_a_row_are_counted_and_null_coups_change_nothing(decree: str) -> None:
    play = table(decree)
    counts: list[Any] = []
    for cards in (REFAIT, TIE, REFAIT, BLACK_WINS, REFAIT):
        counts.append(outcome_of(only(play.coup(cards), RoundResult)).refaits)
        play.bets()
        play.send("round.void", reason="misdeal")
        assert play.shown["refaits"] == max(counts[-1], counts[0] if cards == TIE else 0)
    assert counts == [1, 0, 2, 0, 1]


@pytest.mark.parametrize("decree", by_decree("BAL05-089", "ARA02-042", "EUS96-092", "GAL07-082"))
def test_at_the_last_hand_of_the_session_there_is_no_choice(decree: str) -> None:
    play = table(decree)
    play.send("last_rounds.announce")
    hands = play.game.book.last_rounds or 1
    for left in range(hands, 0, -1):
        play.send("bets.open")
        shown = play.shown["refait_choices"]
        play.send("bets.close")
        result = only(play.cards(REFAIT), RoundResult)
        may = ("refund",) if left == 1 else ("half", "prison")
        assert (outcome_of(result).choices, shown, outcome_of(result).last_of_session) == (
            may,
            list(may),
            left == 1,
        )
        assert outcome_of(result).refaits == hands - left + 1
    with pytest.raises(RejectedError, match="have been played"):
        play.send("bets.open")


@every
def test_the_regime_of_the_american_roulette_leaves_no_prison(decree: str) -> None:
    play = table(decree, refait="half")
    assert outcome_of(only(play.coup(REFAIT), RoundResult)).choices == ("half",)


@pytest.mark.parametrize("decree", by_decree("BAL05-089", "ARA02-042", "EUS96-092", "GAL07-082"))
def test_a_person_states_which_of_the_two_it_is(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Td Jd")
    play.gap()
    with pytest.raises(RejectedError, match="refait"):
        play.send("round.confirm", winner="31-31")
    assert refait_fields(only(play.send("round.confirm", winner="refait"), RoundResult)) == (
        "refait", ("refait",), 1, ("half", "prison"), False,
    )  # fmt: skip


def hide(play: Play) -> None:
    """A refait with a silence in it, so that it has no result."""
    play.bets()
    play.cards(REFAIT.rsplit(" ", 1)[0] + " -")
    play.gap()
    assert only(play.decide("read", card="Ac"), RoundUnresolved).candidate == "refait"


@every
def test_a_refait_made_uncertain_by_a_silence_is_the_candidate(decree: str) -> None:
    play = table(decree)
    hide(play)
    assert outcome_of(only(play.send("round.confirm", round=1), RoundResult)).winner == "refait"


@pytest.mark.parametrize("decree", by_decree("BAL05-089", "ARA02-042", "EUS96-092", "GAL07-082"))
def test_a_correction_states_it_too_and_recounts_the_later_ones(decree: str) -> None:
    play = table(decree)
    for cards in (REFAIT, BLACK_WINS, REFAIT, REFAIT):
        play.coup(cards)
    events = of_kind(play.send("result.correct", round=2, winner="refait"), ResultCorrected)
    assert [(event.round, outcome_of(event).refaits) for event in events] == [
        (2, 2),
        (3, 3),
        (4, 4),
    ]
    assert refait_fields(events[0]) == ("refait", ("refait",), 2, ("half", "prison"), False)
    events = of_kind(play.send("result.correct", round=2, winner="tie"), ResultCorrected)
    assert [
        (event.round, outcome_of(event).winner, outcome_of(event).refaits) for event in events
    ] == [
        (2, "tie", 0),
        (3, "refait", 2),
        (4, "refait", 3),
    ]
    assert events[0].was == "refait"
    events = of_kind(play.send("result.correct", round=1, winner="red"), ResultCorrected)
    assert [(event.round, outcome_of(event).refaits) for event in events] == [
        (1, 0),
        (3, 1),
        (4, 2),
    ]


@every
def test_a_late_result_of_an_unresolved_round_recounts_the_later_ones(
    decree: str,
) -> None:
    play = table(decree)
    hide(play)
    assert outcome_of(only(play.coup(REFAIT), RoundResult)).refaits == 1
    events = play.send("round.confirm", round=1)
    assert outcome_of(only(events, RoundResult)).refaits == 1
    later = only(events, ResultCorrected)
    assert (later.round, outcome_of(later).winner, later.was, outcome_of(later).refaits) == (
        2,
        "refait",
        "refait",
        2,
    )
