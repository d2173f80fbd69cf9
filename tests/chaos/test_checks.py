"""The checks themselves: a run that went wrong must not pass."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.chaos.archive import Holding
from tests.support.chaos.floor import Spin
from tests.support.chaos.schedule import schedule
from tests.support.chaos.truth import missing, open_rounds, wrong_numbers

PLAYED = [Spin(255, 7), Spin(256, 0), Spin(1, 17), Spin(2, 17), Spin(3, 32)]


def result(spin: int, number: int, kind: str = "round.result") -> dict[str, Any]:
    seen = {"candidate": number} if kind == "round.unresolved" else {"outcome": {"number": number}}
    return {"type": kind, "spin": spin, "session": 1, "round": spin, **seen}


def test_a_number_that_was_not_played_is_found() -> None:
    assert not wrong_numbers(
        [result(256, 0), result(2, 17), result(3, 32, "round.unresolved")], PLAYED
    )
    assert wrong_numbers([result(2, 16)], PLAYED)
    assert wrong_numbers([result(2, 16, "round.unresolved")], PLAYED)
    assert wrong_numbers([result(2, 17), result(1, 17)], PLAYED)  # in another order
    assert wrong_numbers([result(9, 17)], PLAYED)
    assert wrong_numbers([result(2, 17), result(3, 17)], PLAYED)  # the number of the spin before


def test_a_round_or_a_spin_without_an_outcome_is_found() -> None:
    opened = [{"type": "round.opened", "session": 1, "round": number} for number in (1, 2, 3)]
    ended = [
        {"type": kind, "session": 1, "round": number}
        for number, kind in ((1, "round.void"), (2, "round.unresolved"))
    ]
    assert open_rounds([*opened, ended[0]]) == [(1, 2)]
    assert open_rounds([*opened, *ended]) == []
    assert missing([254, 255, 1, 2], [254, 255, 2]) == [1]
    assert missing([254, 255, 1], [254, 255, 1]) == []


def event(boot: str, seq: int, **more: Any) -> dict[str, Any]:
    return {"table": "r1", "boot": boot, "seq": seq, **more}


def test_doubles_are_dropped_and_what_comes_too_late_is_found() -> None:
    holding = Holding()
    for body in (
        event("a", 1),
        event("a", 2),
        event("a", 2),
        event("a", 5),
        event("a", 4, historical=True),
        event("b", 1),
    ):
        holding.take(body)
    assert list(holding.held) == [
        ("r1", "a", 1),
        ("r1", "a", 2),
        ("r1", "a", 5),
        ("r1", "a", 4),
        ("r1", "b", 1),
    ]
    assert (holding.tally.doubled, holding.tally.filled, holding.tally.misordered) == (1, 1, [])
    holding.take(event("a", 3))
    holding.take(event("a", 6))  # of the run before this one
    assert holding.tally.misordered == [("r1", "a", 3), ("r1", "a", 6)]


@given(seed=st.integers(0, 10_000), kills=st.integers(0, 40), broker=st.booleans())
def test_a_schedule_can_be_had_again_and_leaves_everything_up(
    seed: int, kills: int, broker: bool
) -> None:
    steps = schedule(seed, kills, broker=broker)
    assert steps == schedule(seed, kills, broker=broker)
    does = [step.do for step in steps]
    daemon = [do for do in does if do.endswith("daemon")]
    assert daemon == ["kill daemon", "start daemon"] * kills
    troubles = [do for do in does if do.endswith("broker")]
    assert broker or not troubles
    assert set(zip(troubles[::2], troubles[1::2], strict=True)) <= {
        ("kill broker", "start broker"),
        ("freeze broker", "thaw broker"),
    }
