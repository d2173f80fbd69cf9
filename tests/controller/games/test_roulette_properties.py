"""Invariants of the table for any readings and commands, in any order."""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from common.contract.commands import AnyCommand, RoundVoid
from common.contract.events import (
    AnyEvent,
    BetsClosed,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
)
from common.contract.events import RoundVoid as Null
from common.contract.notation import Input, read_input
from common.readings import LinkStale, LinkUp, Number, Phase, WheelFault, WheelNumber, WheelPhase
from tests.conftest import cases
from tests.support.games.holds import (
    continues,
    has_one_end,
    sessions_of,
    spoken,
    step,
    step_and_check,
)
from tests.support.games.outcomes import outcome_of
from tests.support.games.roulette_play import PAIRS, Play

SPINS = st.sampled_from([None, 1, 1, 2, 2, 3, 255, 256])
NUMBERS = st.sampled_from([0, 0, 0, 5, 5, 17, 36, 9, 37, "00"])
PEOPLE = st.sampled_from(["table_head", "table_head", "table_head", "inspector", "croupier"])
command = partial(spoken, people=PEOPLE)


def at(kind: Any, **fields: Any) -> st.SearchStrategy[Input]:
    return st.builds(kind, at=st.just(1.0), frame=st.just("f"), **fields)


PHASE = at(
    WheelPhase,
    phase=st.sampled_from(
        ["closed", "idle", "bets_open", "ball_in_rim", "no_more_bets", "settled"]
    ),
    spin=SPINS,
    rpm=st.sampled_from([None, 0.0, 17.5]),
    direction=st.sampled_from([None, "clockwise", "anticlockwise"]),
    late=st.sampled_from([False, False, False, True]),
)
READINGS = st.one_of(
    PHASE,
    PHASE,
    at(
        WheelNumber,
        number=NUMBERS,
        spin=SPINS,
        late=st.booleans(),
        conflict=st.sampled_from([None, None, None, 9]),
    ),
    at(
        WheelFault,
        fault=st.sampled_from(
            [
                "ball_removed",
                "ball_with_rotor",
                "failed_launch",
                "number_unknown",
                "number_changed",
                "sensor",
            ]
        ),
        active=st.booleans(),
    ),
    st.sampled_from([LinkStale(at=1.0, age=5.0), LinkUp(at=1.0)]),
)
ROUNDS = st.sampled_from([None, 1, 2, 3])
COMMANDS = st.one_of(
    command("session.open", minimum=st.sampled_from([None, 500])),
    command("session.close"),
    command("bets.open"),
    command("bets.close"),
    command(
        "round.void",
        reason=st.sampled_from(["ball_out", "cylinder_stopped", "inspector"]),
        round=ROUNDS,
    ),
    command("round.confirm", round=ROUNDS, number=st.one_of(st.none(), NUMBERS)),
    command("result.correct", round=st.sampled_from([1, 2, 3]), number=NUMBERS),
    command("last_rounds.announce"),
    command("limit.announce", minimum=st.sampled_from([400, 1000])),
)
COURSE: tuple[Phase, ...] = ("bets_open", "ball_in_rim", "no_more_bets", "settled")


def whole_spin(spin: int, number: Number) -> list[Input]:
    return [
        *(WheelPhase(at=1.0, phase=phase, spin=spin) for phase in COURSE),
        WheelNumber(at=1.0, number=number, spin=spin),
    ]


WHOLE_SPIN = st.builds(whole_spin, st.sampled_from([1, 2, 3]), NUMBERS)
BREACH = at(
    WheelFault,
    fault=st.sampled_from(["ball_removed", "ball_with_rotor", "failed_launch"]),
    active=st.just(True),
)
STOPPED_SPIN = st.builds(lambda spin, breach: [*spin[:2], breach, *spin[2:]], WHOLE_SPIN, BREACH)
"""A running spin about which a person may be asked."""
DISTURBANCE: st.SearchStrategy[Input] = st.one_of(READINGS, READINGS, COMMANDS)


@st.composite
def disturbed_spin(draw: st.DrawFn) -> list[Input]:
    """A spin in which something is left out or inserted."""
    spin: list[Input] = draw(WHOLE_SPIN)
    if draw(st.booleans()):
        del spin[draw(st.integers(0, len(spin) - 1))]
    for _ in range(draw(st.integers(1, 3))):
        spin.insert(draw(st.integers(0, len(spin))), draw(DISTURBANCE))
    return spin


OPEN = read_input(
    '{"at": 0, "type": "session.open", "by": "M. Lasa", "role": "table_head", "minimum": 500}'
)
CLOSE = read_input(
    '{"at": 0, "type": "session.close", "by": "M. Lasa", "role": "table_head", "locked": true}'
)
PARTS = st.one_of(
    WHOLE_SPIN,
    STOPPED_SPIN,
    disturbed_spin(),
    disturbed_spin(),
    DISTURBANCE.map(lambda one: [one]),
    st.just([CLOSE, OPEN]),
)
SCRIPT = st.builds(
    lambda first, parts: [OPEN, *first, *(each for part in parts for each in part)],
    st.one_of(st.just([]), STOPPED_SPIN),
    st.lists(PARTS, min_size=3, max_size=12),
)
POLICY = st.sampled_from(["warn", "ask", "void"])
TABLE = st.builds(
    lambda pair, kept: Play(pair[1], pair[0], **kept),
    st.sampled_from(PAIRS),
    st.fixed_dictionaries(
        {
            "phases": st.sampled_from(["device", "device", "person"]),
            "last_rounds_count": st.sampled_from(["valid", "all"]),
            "rotor_after_void": st.sampled_from(["counts", "ignored"]),
            **dict.fromkeys(
                ("rotor_not_reversed", "ball_with_rotor", "failed_launch", "ball_removed"), POLICY
            ),
        }
    ),
)


@settings(max_examples=cases(100, 400), deadline=None)
@given(TABLE, SCRIPT)
def test_any_inputs_keep_the_invariants(play: Play, script: list[Input]) -> None:
    for each in script:
        hand = play.state.current
        step_and_check(play, each, waits=hand.round if hand and hand.asks else None)
    check(play.events)
    assert play.state.tally().zeros == zeros(play.events)


def check(events: list[AnyEvent]) -> None:
    """Each round has at most one result, none after it was null; rounds and announcements come in
    their order.
    """
    for rounds in sessions_of(
        events, RoundOpened, BetsClosed, RoundResult, Null, RoundUnresolved, ResultCorrected
    ):
        for of_round in rounds.values():
            has_one_end(of_round)
            for event in of_round:
                if isinstance(event, RoundResult):
                    assert outcome_of(event).number in range(37)
                    assert (outcome_of(event).colour is None) == (outcome_of(event).number == 0)


def zeros(events: list[AnyEvent]) -> int:
    """The zeros in a row, counted from the published results of the last session."""
    session = max(event.session for event in events)
    numbers: dict[int, Any] = {}
    for event in events:
        if event.session == session and isinstance(event, RoundResult | ResultCorrected):
            numbers[event.round] = outcome_of(event).number
    running = 0
    for round_ in sorted(numbers):
        running = running + 1 if numbers[round_] == 0 else 0
    return running


@settings(max_examples=cases(25, 100), deadline=None)
@given(TABLE, SCRIPT, st.data())
def test_a_table_continues_from_its_saved_state(
    play: Play, script: list[Input], data: st.DataObject
) -> None:
    continues(play, script, data.draw(st.integers(0, len(script))))


@settings(max_examples=cases(25, 100), deadline=None)
@given(TABLE, SCRIPT, st.sampled_from(["croupier", "technician"]))
def test_only_permitted_roles_declare_a_spin_null(
    play: Play, script: list[Input], role: Any
) -> None:
    for each in script:
        step(play, each)
    given_: AnyCommand = RoundVoid(at=1.0, by="x", role=role, reason="ball_out")
    if role not in play.game.book.void_by:
        assert step(play, given_) == []
