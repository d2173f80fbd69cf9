"""Sessions of a table of craps, and its published state."""

from __future__ import annotations

import pytest

from common.contract.events import (
    LastRounds,
    RoundUnresolved,
    SessionClosed,
    ShooterChanged,
)
from common.contract.refusals import RejectedError
from common.readings import CardCut
from tests.support.games.craps_play import DECREES, table
from tests.support.games.outcomes import history
from tests.support.games.play import of_kind, only, whats

rule = pytest.mark.rule
every = pytest.mark.parametrize("decree", DECREES)


@rule("EUS96-115")
def test_the_last_shooter() -> None:
    play = table("EUS96")
    event = only(play.send("last_rounds.announce", role="croupier"), LastRounds)
    assert (event.purpose, event.left, event.announcement) == (
        "close",
        1,
        {"eu": "dadoen mahaiko azken jaurtitzaila"},
    )
    assert not of_kind(play.totals(4, 4, 6), LastRounds)
    events = play.totals(7)
    assert only(events, LastRounds).left == 0
    assert only(events, ShooterChanged).seat is None
    with pytest.raises(RejectedError, match="the last shooter has thrown"):
        play.send("bets.open")
    with pytest.raises(RejectedError, match="the last shooter has thrown"):
        play.send("shooter.set", seat=2)
    play.send("result.correct", round=4, dice=[2, 3])
    assert (play.state.last, play.state.shooter) == (1, 1)
    play.send("bets.open")
    with pytest.raises(RejectedError, match="already announced"):
        play.send("last_rounds.announce")


def test_the_last_shooter_who_refuses_gives_his_place() -> None:
    play = table("EUS96")
    play.send("last_rounds.announce")
    assert only(play.send("shooter.set", seat=2, why="refused"), ShooterChanged).last


@pytest.mark.parametrize("decree", ["BAL05", "ARA02", "GAL07"])
def test_the_last_shooter_is_worded_in_the_basque_country_alone(decree: str) -> None:
    play = table(decree)
    with pytest.raises(RejectedError, match="no announcement of the last shooter"):
        play.send("last_rounds.announce")


@every
def test_a_series_that_the_closing_breaks_off(decree: str) -> None:
    play = table(decree)
    play.totals(4)
    events = play.send("session.close")
    assert whats(events) == ["series_unfinished", "session.closed"]
    assert play.shown["phase"] == "closed"


def test_a_throw_in_the_air_at_the_closing() -> None:
    play = table()
    play.bets()
    play.move()
    assert whats(play.send("session.close")) == ["round.unresolved", "session.closed"]
    assert only(play.events, RoundUnresolved).why == "undecided"
    assert only(play.events, SessionClosed).session == 1
    assert play.lie(3, 4) == []


def test_a_throw_before_the_close_of_bets_that_waits_at_the_closing() -> None:
    play = table()
    play.send("bets.open")
    play.bet("win")
    play.throw(3, 4)
    assert whats(play.send("session.close")) == ["round.unresolved", "session.closed"]
    assert only(play.events, RoundUnresolved).dice == (3, 4)
    assert whats(play.send("round.void", reason="bad_throw")) == ["round.void"]


def test_a_throw_that_is_decided_after_the_closing() -> None:
    play = table()
    play.totals(4)
    play.bets()
    play.move()
    play.send("session.close")
    assert whats(play.send("round.confirm", dice=[3, 4])) == ["round.result"]
    assert whats(play.send("result.correct", round=2, dice=[3, 1])) == ["result.corrected"]
    assert play.shown["point"] is None


def test_no_state_of_the_previous_session_remains() -> None:
    play = table()
    play.totals(4)
    play.bet("field", "seat:2")
    play.send("session.close")
    play.send("session.open")
    state = play.state
    assert (play.point, state.shooter, state.bets, state.set, state.round) == (
        None,
        None,
        (),
        None,
        0,
    )
    assert play.game.view(state).history() == []


def test_nothing_happens_without_a_session() -> None:
    play = table()
    play.send("session.close")
    for command, fields in (
        ("bets.open", {}),
        ("bets.close", {}),
        ("dice.set", {"serials": ["a"]}),
        ("dice.choose", {"serials": ["a"]}),
        ("die.report", {}),
        ("dice.tell", {"values": [1, 1]}),
        ("shooter.set", {"seat": 1}),
        ("boxes.set", {"boxes": [1]}),
        ("bet.place", {"who": "seat:1", "bet": "win"}),
        ("last_rounds.announce", {}),
    ):
        with pytest.raises(RejectedError, match="no session is open"):
            play.send(command, **fields)
    assert play.throw(1, 1) == []


def test_bets_are_opened_and_closed_once() -> None:
    play = table()
    with pytest.raises(RejectedError, match="no bets are open"):
        play.send("bets.close")
    play.bets()
    for command, why in (
        ("bets.open", "round 1 is in progress"),
        ("bets.close", "no bets are open"),
    ):
        with pytest.raises(RejectedError, match=why):
            play.send(command)


def test_the_history_of_a_long_evening_is_bounded() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.throw(4, 4)
    for _ in range(70):
        play.throw(2, 3)
    assert (len(play.state.entries), len(play.game.view(play.state).history()), play.point) == (
        60,
        20,
        8,
    )
    with pytest.raises(RejectedError, match="not among the remembered rounds"):
        play.send("result.correct", round=11, dice=[1, 1])
    play.send("result.correct", round=12, dice=[4, 4])
    assert (play.point, play.shown["series"]) == (5, "point")


def test_inputs_of_other_games_are_ignored() -> None:
    play = table()
    before = play.state
    shoe = CardCut(at=play.now(), device="shoe")
    assert (play.take(shoe), play.state) == ([], before)
    assert not play.game.confidential(before, shoe, ())
    with pytest.raises(RejectedError, match="this game has no command limit-announce"):
        play.send("limit.announce", minimum=1000)


def test_the_shown_state() -> None:
    play = table()
    play.totals(4, 8, 7)
    shown = play.shown
    assert (shown["series"], shown["point"], shown["shooter"]) == ("come_out", None, 2)
    assert (shown["last_dice"], shown["last_total"], shown["throws"]) == (
        [1, 6],
        7,
        {"4": 1, "7": 1, "8": 1},
    )
    assert shown["dice"] == {
        "playing": ["101", "102"],
        "reserve": ["103", "104", "105", "106"],
        "lost": [],
        "unfit": [],
    }
    assert history(play)[0] == {
        "round": 1,
        "kind": "result",
        "outcome": {"family": "craps", "dice": [1, 3], "total": 4, "point": None},
        "corrected": False,
    }
    play.totals(5)
    assert (play.shown["series"], play.shown["point"], play.shown["phase"]) == (
        "point",
        5,
        "waiting",
    )
