"""The tile of a table: its results, phase, pace and people; and what a correction changes."""

from __future__ import annotations

from typing import Any

import msgspec

from common.contract.outcomes import RouletteOutcome
from common.contract.times import format_utc
from subscribers.console.evidence import TableEvidence, add_evidence
from subscribers.console.sending import SecondPersonWait
from subscribers.console.tile import MIN_PACE_ROUNDS, correction_of, table_tile
from subscribers.console.view import TileResult
from subscribers.console.work import console_view
from subscribers.display.rounds import PlayedRound
from tests.subscribers.console.test_work import known, roulette, seen, touch
from tests.support.people.staff import VIDAL

START = 1_790_000_000.0


def played(round_: int, number: int, colour: Any, session: int = 1, after: float = 0.0) -> Any:
    outcome = RouletteOutcome(
        number=number,
        colour=colour,
        parity=None,
        half=None,
        dozen=None,
        column=None,
        zeros=0,
        last_of_session=False,
    )
    return PlayedRound(
        session=session,
        round=round_,
        kind="result",
        outcome=outcome,
        time=format_utc(START + after),
    )


def test_the_latest_results_of_the_session_in_their_colours_newest_first() -> None:
    void = PlayedRound(session=2, round=3, kind="void", reason="bad_launch")
    rounds = (
        played(9, 36, "red"),
        played(1, 17, "black", 2),
        played(2, 0, None, 2),
        void,
        played(4, 12, "red", 2),
    )
    tile = table_tile(seen(known(roulette(session=2, round=4)), rounds=rounds))
    assert [(each.round, each.text, each.lane) for each in tile.results] == [
        (4, "12", "red"),
        (2, "0", "green"),
        (1, "17", "black"),
    ]


def test_the_phase_runs_since_the_table_entered_it() -> None:
    evidence, since = TableEvidence(), []
    for phase, time in (("waiting", "T1"), ("bets_open", "T2"), ("bets_open", "T3")):
        state = {**roulette(phase=phase), "time": time}
        evidence = add_evidence(evidence, "state", msgspec.json.encode(state))
        context = msgspec.structs.replace(seen(known(state)), evidence=evidence)
        since.append(table_tile(context).since)
    assert since == [None, "T2", "T2"]  # the first one may have begun before
    assert add_evidence(evidence, "state", b"{") is evidence
    other = msgspec.structs.replace(seen(known(roulette(phase="closed"))), evidence=evidence)
    assert table_tile(other).since is None


def test_the_pace_needs_a_few_rounds_of_the_last_hour() -> None:
    rounds = [played(1, 7, "red", after=-9000.0)]
    for number in range(2, MIN_PACE_ROUNDS + 3):
        assert table_tile(seen(known(roulette()), rounds=tuple(rounds))).pace is None
        rounds.append(played(number, 7, "red", after=number * 90.0))
    assert table_tile(seen(known(roulette()), rounds=tuple(rounds))).pace == 40


def test_who_deals_and_the_announced_minimum() -> None:
    state = {
        **roulette(rounds_at_this_minimum=3, next_minimum=1000),
        "staff": {"croupier": ["A. Riera", "J. Pons"], "table_head": ["M. Lasa"]},
    }
    view = console_view(seen(known(state)))
    assert view.tile is not None
    assert view.tile.croupiers == "A. Riera, J. Pons"
    assert (view.tile.next_minimum, view.tile.rounds_until_minimum) == (1000, 3)
    assert [(each.person, each.duty) for each in view.on_duty] == [
        ("A. Riera", "croupier"),
        ("J. Pons", "croupier"),
        ("M. Lasa", "table_head"),
    ]


def test_the_second_person_sees_what_a_correction_replaces() -> None:
    wait = SecondPersonWait(touch=touch(), roles=VIDAL.roles, until=9.0)
    rounds = (played(1, 9, "red"), played(2, 17, "black"))
    context = seen(known(roulette()), VIDAL, waits=(wait,), rounds=rounds)
    (item,) = [each for each in console_view(context).items if each.what == "second"]
    before = TileResult(round=2, text="17", lane="black")
    after = TileResult(round=2, text="12", lane="red")
    assert item.correction is not None
    assert (item.correction.before, item.correction.after) == (before, after)
    assert [answer.correction for answer in item.answers] == [item.correction]


def test_a_correction_that_is_not_one_value_shows_no_change() -> None:
    context = seen(known(roulette()), rounds=(played(2, 17, "black"),))
    assert correction_of(context, {"round": 2, "hands": {"seat:1": ["As"]}}) is None
    assert correction_of(context, {"round": 7, "number": 12}) is None
