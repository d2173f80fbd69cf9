"""A talla at the table: the shoe and its data, the burn, the cut card, the end, a shoe that
restarts.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import (
    AlertRaised,
    CardDealt,
    CardsBurned,
    CardTurned,
    Irregularity,
    RoundResult,
    RoundUnresolved,
    SessionClosed,
    ShoeCut,
    ShoeEnded,
    ShoeStarted,
)
from common.contract.refusals import RejectedError
from common.readings import CardCut, CardDrawn, ShoeReset
from tests.support.for_each import for_each
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import confidential, of_kind, only, whats
from tests.support.games.punto_banca_play import DECREES, Play, expected

every = pytest.mark.parametrize("decree", DECREES)


def table(decree: str = "ARA02", **settings: Any) -> Play:
    play = Play(decree, **settings)
    play.open()
    return play


def session(decree: str = "ARA02", **settings: Any) -> Play:
    play = Play(decree, **settings)
    play.send("session.open")
    return play


def reset(play: Play) -> list[Any]:
    return play.take(ShoeReset(at=play.now(), device="shoe", detail="power"))


# Data of the shoe


@pytest.mark.parametrize(
    "decree", by_decree("BAL05-001 BAL05-003", "EUS96-048", "GAL07-045", "ARA02-071")
)
def test_a_shoe_has_a_number_and_is_published_with_its_cards(decree: str) -> None:
    play = session(decree)
    with pytest.raises(
        RejectedError, match=f"a shoe without a number may not be used; .*: {decree}-"
    ):
        play.send("shoe.start", shoe=" ")
    started = only(play.send("shoe.start", role="croupier", shoe="S7", model="Ace"), ShoeStarted)
    assert (started.shoe, started.model, started.decks, started.cards, started.cut) == (
        "S7",
        "Ace",
        6,
        312,
        7,
    )
    assert play.shown["shoe"]["number"] == "S7"


@pytest.mark.parametrize("decree", by_decree("BAL05-002", "EUS96-050", "GAL07-046", "ARA02-071"))
def test_a_model_that_is_not_homologated(decree: str) -> None:
    play = session(decree, models=("Ace", "Ace II"))
    assert whats(play.send("shoe.start", shoe="S7", model="Ace II")) == [
        "shoe.started",
        "card.expected",
    ]
    for model in ("Other", None):
        assert (
            only(play.send("shoe.start", shoe="S7", model=model), Irregularity).what == "shoe_model"
        )


@pytest.mark.parametrize(
    "decree",
    by_decree(
        "BAL05-007 BAL05-008 BAL05-009 BAL05-095",
        "ARA02-071 ARA02-072",
        "EUS96-054 EUS96-055 EUS96-116 EUS96-117",
        "GAL07-040 GAL07-041 GAL07-042 GAL07-047",
    ),
)
def test_a_fault_of_the_cards_is_reported_with_the_article(decree: str) -> None:
    play = session(decree)
    events = play.send("shoe.start", shoe="S7", cards=311, backs=[6], index=False, cut=10)
    names = ["shoe_count", "cards_backs", "cards_index", "cut_card"]
    assert [event.what for event in of_kind(events, Irregularity)] == names
    for event in of_kind(events, Irregularity):
        assert (event.law, event.article) == (
            play.game.book.laws[event.what].rule,
            play.game.book.laws[event.what].article,
        )
    assert (
        of_kind(
            play.send("shoe.start", shoe="S7", cards=312, backs=[3, 3], index=True, cut=7),
            Irregularity,
        )
        == []
    )


@pytest.mark.rule("GAL07-043")
@every
def test_used_cards_are_allowed_while_perfect(decree: str) -> None:
    assert of_kind(session(decree).send("shoe.start", shoe="S7", new=False), Irregularity) == []


@pytest.mark.parametrize("decree", by_decree("BAL05-003", "EUS96-049", "GAL07-045", "ARA02-071"))
def test_the_same_shoe_session_after_session(decree: str) -> None:
    play = Play(decree)
    told = []
    for number in ("S1", "S1", "S1", "S2", "S1"):
        play.send("session.open")
        events = [*play.send("shoe.start", shoe=number), *play.send("shoe.start", shoe=number)]
        told.append([event.what for event in of_kind(events, Irregularity)])
        play.send("session.close")
        play.again()
    assert told == [[], [], ["shoe_systematic"], [], []]


def test_cards_without_a_shoe_are_reported() -> None:
    play = session()
    events = play.cards("7h 8h")
    assert [event.what for event in of_kind(events, Irregularity)] == ["shoe_missing"]
    assert only(events, AlertRaised).alert == "shoe_missing"
    with pytest.raises(RejectedError, match="no shoe is at the table"):
        play.send("bets.open")
    with pytest.raises(RejectedError, match="no shoe is at the table"):
        play.send("shoe.end")
    assert "alert.cleared" in whats(play.send("shoe.start", shoe="S1"))
    play.send("session.close")
    assert [event.what for event in of_kind(play.cards("7h 8h"), Irregularity)] == [
        "card_out_of_round"
    ]
    assert play.state.alerts == ("card_while_closed",)
    assert "alert.cleared" in whats(play.send("session.open"))


def test_a_shoe_needs_a_session() -> None:
    play = Play()
    for command, fields in (
        ("shoe.start", {"shoe": "S1"}),
        ("bets.open", {}),
        ("shoe.end", {}),
        ("session.close", {}),
    ):
        with pytest.raises(RejectedError, match="no session is open"):
            play.send(command, **fields)
    play.send("session.open")
    with pytest.raises(RejectedError, match="session 1 is already open"):
        play.send("session.open")
    with pytest.raises(RejectedError, match="minimum must be above 0, not 0"):
        Play().send("session.open", minimum=0)


# The burn


@pytest.mark.parametrize("decree", by_decree("BAL05-096", "ARA02-073", "EUS96-118", "GAL07-051"))
@for_each(
    ("shown", "burned"), [("As", 1), ("7c", 7), ("Td", 10), ("Jh", 10), ("Qc", 10), ("Ks", 10)]
)
def test_the_first_card_determines_how_many_are_burned(
    decree: str, shown: str, burned: int
) -> None:
    play = session(decree)
    assert expected(play.send("shoe.start", shoe="S1")) == ["burn"]
    [dealt] = of_kind(play.cards(shown, to="first"), CardDealt)
    assert (dealt.to, dealt.index, dealt.card) == ("burn", 1, shown)
    assert play.sealed == []
    for rank in "23456789T"[: burned - 1]:
        assert play.cards(f"{rank}c") == []
    with pytest.raises(RejectedError, match="the cards are not burned yet"):
        play.send("bets.open")
    events = play.cards("2d", to="burn")
    assert only(events, CardsBurned) == CardsBurned(session=1, count=burned, shown=shown)
    assert expected(events) == [None]
    assert len(play.sealed) == burned
    play.send("bets.open")


@every
def test_the_shown_card_may_be_one_of_the_burned(decree: str) -> None:
    play = session(decree, burn_card="within")
    play.send("shoe.start", shoe="S1")
    assert only(play.cards("3c 4c 5c"), CardsBurned).count == 2
    play.send("shoe.start", shoe="S1")
    assert only(play.cards("Ac"), CardsBurned).count == 0


def test_a_first_card_that_was_not_read() -> None:
    play = session()
    play.send("shoe.start", shoe="S1")
    irregularity = only(play.cards("-"), Irregularity)
    assert (irregularity.what, irregularity.detail, irregularity.asks) == (
        "card_unread",
        "burn 1",
        ("card.decide",),
    )
    play.cards("4c 5c")
    with pytest.raises(RejectedError, match="send card-decide read with the first burn card"):
        play.send("card.decide", action="remove")
    events = play.send("card.decide", action="read", card="2h")
    assert [event.card for event in of_kind(events, CardTurned)] == ["2h"]
    assert only(events, CardsBurned).count == 2


@pytest.mark.parametrize("decree", DECREES)
def test_a_burned_card_equal_to_the_one_shown_is_not_published(decree: str) -> None:
    play = session(decree)
    play.send("shoe.start", shoe="S1")
    play.cards("2c 5h")
    last = CardDrawn(at=play.now(), device="shoe", frame="the 2c", card="2c")
    assert confidential(play.game, play.state, last)
    assert only(play.take(last), CardsBurned).shown == "2c"


def test_more_burned_than_were_due() -> None:
    play = session()
    play.send("shoe.start", shoe="S1")
    play.cards("- 4c 5c 6c")
    events = play.send("card.decide", action="read", card="2h")
    assert only(events, Irregularity).detail == "4 cards came, 3 were due"
    assert only(events, CardsBurned).count == 3


@pytest.mark.parametrize("action", ["accept", "next_round", "remove"])
def test_the_shoe_reports_that_the_burn_is_over(action: str) -> None:
    play = session()
    play.send("shoe.start", shoe="S1")
    irregularity = only(play.cards("2c 9c") + play.cards("5h", to="player", index=1), Irregularity)
    assert (irregularity.what, irregularity.detail) == (
        "card_misplaced",
        "burn expected, the shoe says player",
    )
    events = play.send("card.decide", action=action)
    if action == "remove":
        assert of_kind(events, CardsBurned) == []
        return
    assert only(events, CardsBurned).count == (2 if action == "accept" else 1)
    assert bool(play.state.carried) is (action == "next_round")


def test_a_silence_in_the_burn() -> None:
    play = session()
    play.send("shoe.start", shoe="S1")
    play.cards("5c 9c")
    assert [event.what for event in of_kind(play.gap(), Irregularity)] == ["silence"]
    assert of_kind(play.cards("9d"), CardsBurned) == []
    assert play.shown["phase"] == "decision"
    assert only(play.send("card.decide", action="accept"), CardsBurned).shown == "5c"
    play.coup("Kc Qd 7h 6s")


@pytest.mark.rule("BAL05-005", "EUS96-056")
@every
def test_a_continuous_shoe_has_no_burn_no_cut_and_no_count(decree: str) -> None:
    play = session(decree, continuous=True, turn="when_complete")
    assert only(play.send("shoe.start", shoe="S1"), ShoeStarted).cut == 0
    for _ in range(100):
        play.bets()
        assert outcome_of(only(play.cards("Kc Qd 7h 6s"), RoundResult)).winner == "player"
    assert play.take(CardCut(at=1.0)) == []
    assert play.shown["shoe"]["left"] is None


# The cut card


@pytest.mark.parametrize("decree", by_decree("BAL05-104", "ARA02-082", "EUS96-126", "GAL07-048"))
def test_after_the_cut_card_the_coup_ends_and_then_no_other(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Kc Qd")
    cut = only(play.cut(), ShoeCut)
    assert (cut.drawn, cut.left, cut.rounds_left) == (4, 308, 1)
    assert play.cut() == []
    play.cards("7h 6s")
    events = play.send("cards.turn")
    assert outcome_of(only(events, RoundResult)).winner == "player"
    ended = only(events, ShoeEnded)
    assert (ended.why, ended.drawn, ended.left, ended.missing) == ("cut", 6, 306, ())
    assert play.shown["phase"] == "shoe_over"
    law = play.game.book.laws["shoe_over"]
    with pytest.raises(
        RejectedError, match=f"the cut card has come and no further round begins; .*: {law.rule}, "
    ):
        play.send("bets.open")
    assert only(play.cards("2c"), Irregularity).what == "shoe_over"
    with pytest.raises(RejectedError, match="the shoe is over; send card-decide remove"):
        play.send("card.decide", action="accept")
    with pytest.raises(RejectedError, match="this shoe has no further round"):
        play.send("card.decide", action="next_round")
    play.send("card.decide", action="remove")
    assert of_kind(play.send("shoe.end", left=305), ShoeEnded) == []
    assert only(play.send("shoe.start", shoe="S2"), ShoeStarted).shoe == "S2"


@pytest.mark.parametrize("decree", by_decree("BAL05-095", "ARA02-072", "EUS96-117", "GAL07-047"))
def test_the_cut_card_comes_where_the_decree_requires_it(decree: str) -> None:
    play = table(decree, turn="when_complete")
    cut = play.cut()
    assert only(cut, Irregularity).what == "cut_card"
    assert only(cut, Irregularity).detail == "310 cards are behind it by the count"
    assert (only(cut, ShoeCut).rounds_left, only(cut, ShoeEnded).why) == (0, "cut")


@every
def test_the_cut_card_before_the_first_card_of_a_coup(decree: str) -> None:
    play = table(decree)
    play.bets()
    assert only(play.cut(), ShoeCut).rounds_left == 1
    play.cards("Kc Qd 7h 6s")
    assert whats(play.send("cards.turn"))[-2:] == ["round.result", "shoe.ended"]
    play = table(decree, cut_first="end")
    play.bets()
    events = play.cut()
    assert (only(events, ShoeCut).rounds_left, only(events, ShoeEnded).why) == (0, "cut")
    assert [event.what for event in of_kind(events, Irregularity)][-1] == "shoe_over"
    play.cards("Kc")
    with pytest.raises(RejectedError, match="send card-decide remove"):
        play.send("card.decide", action="accept")
    play.send("round.void", reason="inspector")
    assert play.shown["phase"] == "shoe_over"


# The end


def test_the_count_at_the_end() -> None:
    play = table()
    play.coup("Kc Qd 7h 6s")
    play.bets()
    with pytest.raises(RejectedError, match="round 2 is in progress"):
        play.send("shoe.end")
    play.send("round.void", reason="inspector")
    events = play.send("shoe.end", left=305)
    assert only(events, Irregularity).detail == "305 cards are left, by the count 306"
    assert (only(events, ShoeEnded).why, only(events, ShoeEnded).left) == ("person", 305)


def test_closing_the_table_ends_the_talla() -> None:
    play = table()
    play.bets()
    play.cards("Kc Qd 7h")
    events = play.send("session.close", locked=True)
    assert (only(events, RoundUnresolved).why, only(events, ShoeEnded).why) == (
        "undecided",
        "person",
    )
    assert only(events, SessionClosed).locked
    assert (play.state.shoe, play.state.current, play.shown["phase"]) == (
        None,
        None,
        "closed",
    )
    play.open()
    play.send("bets.open")
    assert of_kind(play.send("session.close"), RoundUnresolved) == []


# The shoe restarts


@every
def test_a_shoe_that_restarts_in_a_round(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.cards("Kc Qd")
    said = reset(play)
    assert only(said, RoundUnresolved).why == "undecided"
    assert only(said, Irregularity).asks == ("shoe.start", "card.decide")
    assert reset(play) == []
    assert play.cards("7h") == []
    with pytest.raises(RejectedError, match="the shoe restarted; send"):
        play.send("bets.open")
    with pytest.raises(RejectedError, match="card-decide accept if it holds the same cards"):
        play.send("card.decide", action="remove")
    play.send("card.decide", action="accept")
    play.coup("Kc Qd 7h 6s")
    assert play.shown["shoe"]["left"] is None
    reset(play)
    said = play.send("shoe.start", shoe="S2")
    assert only(said, ShoeEnded).why == "reset"
    assert play.shown["phase"] == "burning"


def test_an_unused_shoe_may_restart() -> None:
    play = session()
    assert reset(play) == []
    play.send("shoe.start", shoe="S1")
    assert reset(play) == []


def test_no_round_can_have_begun_in_a_silence_after_the_shoe_is_over() -> None:
    play = session(rounds="shoe", turn="when_complete")
    play.send("shoe.start", shoe="S1")
    play.cards("Ac 2c")
    play.cut()
    play.gap()
    events = play.cards("5h")
    assert only(events, Irregularity).what == "shoe_over"
    assert of_kind(events, RoundUnresolved) == []
