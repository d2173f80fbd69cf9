"""Invariants of a table of boule or of the wheel of fortune: a thousand rounds with errors, and any
input.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.contract.events import (
    AnyEvent,
    BetsClosed,
    BetsLastCall,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
)
from common.contract.events import RoundVoid as Null
from common.contract.notation import Input
from common.contract.refusals import RejectedError
from common.readings import (
    LinkLost,
    LinkUp,
    Phase,
    Reading,
    WheelCell,
    WheelFault,
    WheelFaultName,
    WheelNumber,
    WheelPhase,
)
from tests.conftest import cases
from tests.support.games.cells_play import DECREES, Play
from tests.support.games.holds import has_one_end, sessions_of, spoken, step_and_check
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import make_command

GAMES = ("boule", "fortune-wheel")
by_inspector = partial(make_command, role="inspector")
FAULTS: tuple[WheelFaultName, ...] = (
    "ball_out",
    "between",
    "too_few_turns",
    "reversed",
    "sensor",
    "number_changed",
)
COURSE: tuple[Phase, ...] = ("launched", "settling", "settled")
OUTCOMES = (RoundResult, Null, RoundUnresolved)
PHASES: tuple[Phase, ...] = (*COURSE, "idle", "bets_open", "no_more_bets", "closed", "ball_in_rim")


def reading(kind: type[Any], **fields: Any) -> Any:
    device = "rota" if fields.get("phase") == "ball_in_rim" else "wheel"
    return kind(at=1.0, device=device, frame=str(fields), **fields)


def gap() -> list[Input]:
    return [LinkLost(at=1.0, device="wheel", reason="unplugged"), LinkUp(at=1.0, device="wheel")]


# A thousand rounds


class Floor:
    """A table and its people, who play one round after the other, with errors."""

    def __init__(self, game: str, decree: str, phases: str) -> None:
        self.play = Play(game, decree, phases=phases)
        self.chance = random.Random(f"{game} {decree} {phases}")
        self.cells = 18 if game == "boule" else 64 if decree == "ARA02" else 54
        self.known: dict[
            int, set[Any]
        ] = {}  # round -> the numbers reported while it was current or unresolved
        self.by_hand = phases == "person"

    def take(self, *inputs: Input) -> None:
        for each in inputs:
            before = self.play.state
            number = self._number(each)
            if number is not None:
                for of in (before.round, before.round + 1, getattr(each, "round", None) or 0):
                    self.known.setdefault(of, set()).add(number)
                for entry in before.unresolved():
                    self.known.setdefault(entry.round, set()).add(number)
            try:
                self.play.take(each)
            except RejectedError:
                assert not isinstance(each, Reading)
                assert self.play.state == before

    def _number(self, given_: Input) -> Any:
        if isinstance(given_, WheelCell):
            return self.play.game.turn(self.play.state).symbols().get(given_.cell)
        return getattr(given_, "number", None)

    def round(self, spin: int) -> None:
        """A spin in which something may be left out, repeated, or inserted; then the people decide
        what is open.
        """
        cell = self.chance.randint(1, self.cells)
        course: list[Input] = [reading(WheelPhase, phase=phase, spin=spin) for phase in COURSE]
        course.append(
            reading(WheelCell, cell=cell, spin=spin, turns=self.chance.choice([None, 1, 5, 9]))
        )
        if self.by_hand:
            course = [
                by_inspector("bets.open"),
                *course[:2],
                by_inspector("bets.close"),
                *course[2:],
            ]
        if self.chance.random() < 0.5:
            self._disturb(course)
        self.take(*course)
        self.decide()

    def _disturb(self, course: list[Input]) -> None:
        chance = self.chance
        at = chance.randrange(len(course))
        fault = reading(WheelFault, fault=chance.choice(FAULTS), active=True)
        trouble: list[list[Input]] = [
            [fault, reading(WheelFault, fault=fault.fault, active=False)],
            [fault],
            gap(),
            [
                *gap(),
                reading(
                    WheelCell,
                    cell=chance.randint(0, self.cells + 1),
                    spin=chance.randint(1, 9),
                    late=True,
                ),
            ],
            [
                reading(
                    WheelNumber,
                    number=chance.choice([1, 2, 5, 24, 37]),
                    conflict=chance.choice([None, 7]),
                )
            ],
            [reading(WheelPhase, phase=chance.choice(PHASES), spin=chance.choice([None, 1, 2]))],
            [by_inspector("round.void", reason="inspector")],
            [by_inspector("session.close"), by_inspector("session.open")],
            [by_inspector("bets.close"), by_inspector("bets.open")],
        ]
        if chance.random() < 0.4:
            del course[at]
        course[at:at] = chance.choice(trouble)

    def decide(self) -> None:
        """A person in charge decides everything that waits: the current round, and those that are
        unresolved.
        """
        shown = self.play.shown
        if shown["asks"]:
            self.take(by_inspector("round.confirm"), by_inspector("round.void", reason="inspector"))
        if self.by_hand:
            self.take(by_inspector("round.void", reason="inspector", round=shown["round"] or 1))
        for of in self.play.shown["unresolved"]:
            self.take(
                by_inspector("round.confirm", round=of),
                by_inspector("round.void", reason="inspector", round=of),
            )
        shown = self.play.shown
        assert (shown["asks"], shown["unresolved"]) == ([], [])


TURNS = cases(150, 1000)
"""More than the 256 that a device counts before it wraps around."""


@pytest.mark.parametrize("phases", ["person", "device"])
@pytest.mark.parametrize("decree", DECREES)
@pytest.mark.parametrize("game", GAMES)
def test_rounds_with_errors(game: str, decree: str, phases: str) -> None:
    floor = Floor(game, decree, phases)
    floor.take(by_inspector("session.open", minimum=500))
    results = 0
    for spin in range(1, TURNS + 1):
        before = len(floor.play.events)
        floor.round(spin % 256)
        new = floor.play.events[before:]
        for event in new:
            if isinstance(event, RoundResult):
                results += 1
                assert outcome_of(event).number in floor.known[event.round]
        if spin % 50 == 0:
            floor.play.again()
            msgspec.json.encode(
                [floor.play.shown, floor.play.game.view(floor.play.state).history()]
            )
    check(floor.play.events)
    assert results > TURNS * 0.6


def check(events: list[AnyEvent]) -> None:
    """Each round has at most one result, none after it was null; rounds and calls come in their
    order.
    """
    for rounds in sessions_of(
        events, RoundOpened, BetsLastCall, BetsClosed, *OUTCOMES, ResultCorrected
    ):
        without = [
            those
            for those in rounds.values()
            if not any(isinstance(event, OUTCOMES) for event in those)
        ]
        assert len(without) <= 1  # the current one
        for those in rounds.values():
            has_one_end(those)
            calls = [
                type(event)
                for event in those
                if isinstance(event, RoundOpened | BetsLastCall | BetsClosed)
            ]
            assert calls == [
                kind for kind in (RoundOpened, BetsLastCall, BetsClosed) if kind in calls
            ]
            if any(isinstance(event, RoundResult) and not event.confirmed_by for event in those):
                assert BetsClosed in calls


# Any input

SPINS = st.sampled_from([None, 1, 1, 2, 2, 3, 255])
CELLS = st.sampled_from([0, 1, 2, 5, 18, 19, 54, 64, 65])
NUMBERS = st.sampled_from([1, 5, 24, 40, "joker", "00"])
ROUNDS = st.sampled_from([None, 1, 2, 3])


def at(kind: Any, **fields: Any) -> st.SearchStrategy[Input]:
    return st.builds(kind, at=st.just(1.0), frame=st.just("f"), **fields)


def command(kind: str, **fields: Any) -> st.SearchStrategy[Input]:
    return spoken(
        kind, st.sampled_from(["table_head", "inspector", "inspector", "croupier"]), **fields
    )


ANY = st.one_of(
    at(
        WheelPhase,
        phase=st.sampled_from(PHASES),
        spin=SPINS,
        late=st.sampled_from([False, False, True]),
    ),
    at(WheelPhase, phase=st.sampled_from(COURSE), spin=SPINS),
    at(
        WheelCell,
        cell=CELLS,
        spin=SPINS,
        late=st.sampled_from([False, True]),
        turns=st.sampled_from([None, 1, 9]),
    ),
    at(WheelNumber, number=NUMBERS, spin=SPINS, conflict=st.sampled_from([None, 7])),
    at(
        WheelFault,
        fault=st.sampled_from([*FAULTS, "number_unknown", "failed_launch"]),
        active=st.booleans(),
    ),
    st.sampled_from(gap()),
    command("session.open", minimum=st.sampled_from([None, 500])),
    command("session.close"),
    command("bets.open"),
    command("bets.close"),
    command("bet.place", who=st.just("seat:1"), bet=st.sampled_from(["5", "red", "24"])),
    command("round.void", reason=st.sampled_from(["ball_out", "inspector"]), round=ROUNDS),
    command("round.confirm", round=ROUNDS, number=st.one_of(st.none(), NUMBERS)),
    command("result.correct", round=st.sampled_from([1, 2]), number=NUMBERS),
    command("last_rounds.announce"),
    command("limit.announce", minimum=st.sampled_from([400, 1000])),
)
OPEN = by_inspector("session.open", role="table_head", minimum=500)


@st.composite
def stopped_round(draw: st.DrawFn) -> list[Input]:
    """A running round about which a person may be asked."""
    spin = draw(SPINS)
    launched, settling, settled = (reading(WheelPhase, phase=phase, spin=spin) for phase in COURSE)
    doubt = draw(
        st.sampled_from(
            [
                reading(WheelFault, fault=fault, active=True)
                for fault in ("between", "too_few_turns", "ball_out", "reversed")
            ]
            + [launched]
        )
    )
    cell = reading(
        WheelCell, cell=draw(CELLS), spin=spin, turns=draw(st.sampled_from([None, 1, 9]))
    )
    return [
        by_inspector("bets.open"),
        launched,
        settling,
        by_inspector("bets.close"),
        doubt,
        settled,
        cell,
        cell,
    ]


SCRIPT = st.lists(
    st.one_of(ANY.map(lambda one: [one]), ANY.map(lambda one: [one]), stopped_round()),
    min_size=5,
    max_size=20,
).map(lambda parts: [OPEN, *(each for part in parts for each in part)])
TABLE = st.builds(
    lambda game, decree, kept: Play(game, decree, **kept),
    st.sampled_from(GAMES),
    st.sampled_from(DECREES),
    st.fixed_dictionaries(
        {
            "phases": st.sampled_from(["device", "person"]),
            "last_rounds_count": st.sampled_from(["valid", "all"]),
            **dict.fromkeys(
                ("between", "too_few_turns", "launched_again"), st.sampled_from(["warn", "ask"])
            ),
        }
    ),
)


@settings(max_examples=cases(50, 200), deadline=None)
@given(TABLE, SCRIPT)
def test_any_inputs_keep_the_invariants(play: Play, script: list[Input]) -> None:
    for each in script:
        hand = play.state.current
        step_and_check(play, each, waits=hand.round if hand and hand.asks else None)
    check(play.events)
