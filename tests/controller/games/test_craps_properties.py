"""Invariants of a table of craps for any readings and commands, in any order."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.contract.events import (
    AnyEvent,
    BetsClosed,
    DiceChosen,
    PointSet,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
)
from common.contract.events import RoundVoid as Null
from common.contract.notation import Input
from common.readings import DiceFault, DiceRead, DiceState, LinkLate, LinkLost, LinkStale, LinkUp
from controller.games.craps.bets import next_point, settle_all
from tests.conftest import cases
from tests.support.games.craps_play import DECREES, OTHERS, SET, Play, table
from tests.support.games.holds import continues, has_one_end, sessions_of, step, step_and_check
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import make_command

POINTS = (4, 5, 6, 8, 9, 10)
VOIDS = ("die_off_table", "dice_slid", "bad_throw", "inspector")
BETS = ("win", "dont_win", "come", "dont_come", "field", "win_odds", "right:8", "hard_6")


def check(events: list[AnyEvent]) -> None:
    """Rounds are counted without a gap, each has at most one outcome, and the point follows from
    the results.
    """
    for rounds in sessions_of(
        events, RoundOpened, BetsClosed, RoundResult, Null, RoundUnresolved, ResultCorrected
    ):
        dice: dict[int, tuple[tuple[int, ...], int | None, Any]] = {}
        for number, of_round in rounds.items():
            has_one_end(of_round)
            for event in of_round:
                if isinstance(event, RoundResult | ResultCorrected):
                    assert not isinstance(outcome_of(event).point, msgspec.UnsetType)
                    assert outcome_of(event).total == sum(outcome_of(event).dice)
                    dice[number] = outcome_of(event).dice, outcome_of(event).point, event.bets
        point = None
        for number in sorted(dice):
            values, against, _ = dice[number]
            assert against == point
            point = next_point(POINTS, point, sum(values))


# 1,000 rounds


class Croupier:
    """Plays rounds with the errors of people and devices, and makes the decisions that the table
    asks for.
    """

    def __init__(self, decree: str, rounds: str) -> None:
        self.chance = random.Random(f"{decree} {rounds}")
        self.play = table(decree, rounds=rounds)
        self.sets = 0

    def send(self, kind: str, **fields: Any) -> None:
        step(self.play, make_command(kind, **fields))

    def dice(self) -> tuple[int, int]:
        return self.chance.randint(1, 6), self.chance.randint(1, 6)

    def round(self) -> None:
        play, luck = self.play, self.chance.random
        self.decide()
        if luck() < 0.3:
            self.send(
                "bet.place",
                who=f"seat:{self.chance.choice((1, 2, 4))}",
                bet=self.chance.choice(BETS),
                amount=500,
            )
        if luck() < 0.97:
            self.send("bet.place", who=f"seat:{play.state.shooter}", bet="win")
        self.send("bets.open")
        if luck() < 0.97:
            self.send("bets.close")
        if (silence := luck()) < 0.01:
            play.gap()
        elif silence < 0.05:
            play.take(LinkStale(at=play.now(), device="dice", age=5.0))
            play.take(LinkUp(at=play.now(), device="dice"))
        if luck() < 0.97:
            play.move()
        if luck() < 0.04:
            self.send("die.report", serial=(play.shown["dice"]["playing"] or ["x"])[0])
        if luck() < 0.05:
            play.fault(self.chance.choice(("no_read", "cocked", "unchanged", "missing", "extra")))
        if luck() < 0.04:
            self.send("round.void", reason=self.chance.choice(VOIDS))
        if luck() < 0.5:
            play.state_said("settled")
        play.lie(*((7, 0) if luck() < 0.01 else self.dice()), late=luck() < 0.03)
        if luck() < 0.02:
            self.send(
                "result.correct",
                round=max(1, play.state.round - self.chance.randint(0, 3)),
                dice=self.dice(),
            )
        if luck() < 0.03:
            play.again()
        self.decide()
        if luck() < 0.01:
            self.session()

    def decide(self) -> None:
        """Decide as a person until the table waits for no decision."""
        for _ in range(20):
            shown = self.play.shown
            if shown["shooter"] is None and not shown["asks"]:
                self.send("shooter.set", seat=self.play.shown["seats"][0])
            if not shown["asks"]:
                return
            match self.chance.choice(shown["asks"]):
                case "dice.set":
                    self.sets += 1
                    self.send("dice.set", serials=[f"{self.sets}-{number}" for number in range(6)])
                case "dice.choose":
                    free = shown["dice"]["reserve"]
                    self.send("dice.choose", serials=self.chance.sample(free, 2))
                case "round.void":
                    self.send(
                        "round.void",
                        reason="inspector",
                        round=(shown["unresolved"] or [shown["round"]])[0],
                    )
                case kind:
                    values: dict[str, Any] = (
                        {"values": self.dice()} if kind == "dice.tell" else {"dice": self.dice()}
                    )
                    rounds = (
                        {"round": (shown["unresolved"] or [shown["round"]])[0]}
                        if kind == "round.confirm"
                        else {}
                    )
                    self.send(kind, **values, **rounds)
        raise AssertionError(f"the table still asks {self.play.shown['asks']}")

    def session(self) -> None:
        self.decide()
        self.send("session.close")
        self.send("session.open")
        self.send("boxes.set", boxes=[1, 2, 4])
        self.decide()


THROWS, MIN_POINTS_SET = cases(200, 1000), cases(45, 300)
"""Throws of a play, and the minimum number of points: of 200 some 60, within three standard
deviations.
"""


@pytest.mark.parametrize("rounds", ["keys", "dice"])
@pytest.mark.parametrize("decree", DECREES)
def test_rounds_with_errors(decree: str, rounds: str) -> None:
    """Played with errors: no exception, no unresolved round left, no dice that were neither read
    nor reported, no wrong point or pay.
    """
    croupier = Croupier(decree, rounds)
    for _ in range(THROWS):
        croupier.round()
    play = croupier.play
    assert play.shown["unresolved"] == []
    check(play.events)
    results = [event for event in play.events if isinstance(event, RoundResult)]
    assert len(results) > THROWS * 0.8
    for event in results:
        assert isinstance(event.bets, tuple)
        assert not isinstance(outcome_of(event).point, msgspec.UnsetType)
        assert event.bets[
            : len(event.bets) - sum(bool(bet.who) for bet in event.bets)
        ] == settle_all(play.game.rules, outcome_of(event).dice, outcome_of(event).point)
    assert sum(isinstance(event, DiceChosen) for event in play.events) > THROWS // 100
    assert sum(isinstance(event, PointSet) for event in play.events) > MIN_POINTS_SET


# Anything in any order

VALUES = st.sampled_from([(1, 3), (1, 3), (3, 3), (3, 4), (3, 4), (6, 6), (0, 9), (2,), (1, 1)])
THROW = st.sampled_from([None, 1, 2, 2, 3, 4])
LATE = st.sampled_from([False, False, False, True])
READINGS: st.SearchStrategy[Input] = st.one_of(
    st.builds(
        DiceState,
        at=st.just(1.0),
        state=st.sampled_from(["idle", "moving", "moving", "settled"]),
        throw=THROW,
        late=LATE,
    ),
    st.builds(DiceRead, at=st.just(1.0), frame=st.just("f"), values=VALUES, throw=THROW, late=LATE),
    st.builds(
        DiceFault,
        at=st.just(1.0),
        fault=st.sampled_from(["no_read", "cocked", "unchanged", "missing", "sensor"]),
        active=st.booleans(),
    ),
    st.sampled_from(
        [
            LinkStale(at=1.0, age=5.0),
            LinkUp(at=1.0),
            LinkLost(at=1.0, reason="x"),
            LinkLate(at=1.0, frames=2, silence=9.0),
        ]
    ),
)
SEATS, SERIALS = st.sampled_from([1, 2, 3]), st.sampled_from([*SET, *OTHERS[:2]])
ROUNDS = st.sampled_from([None, 1, 2, 3])
PEOPLE = {"role": st.sampled_from(["table_head", "table_head", "croupier", "technician"])}
FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "session.open": {},
    "session.close": {},
    "bets.open": {},
    "bets.close": {},
    "dice.set": {
        "serials": st.sampled_from([SET, SET, OTHERS, (*SET[:5], "x"), SET[:3]]),
        "side": st.sampled_from([200, 300]),
    },
    "dice.choose": {"serials": st.lists(SERIALS, min_size=2, max_size=2)},
    "die.report": {"serial": st.one_of(st.none(), SERIALS), "found": st.booleans()},
    "dice.tell": {"values": VALUES},
    "boxes.set": {"boxes": st.lists(SEATS, max_size=3)},
    "shooter.set": {"seat": SEATS, "why": st.sampled_from([None, "refused", "withdrawn"])},
    "bet.place": {
        "who": SEATS.map(lambda seat: f"seat:{seat}"),
        "bet": st.sampled_from(BETS),
        "amount": st.sampled_from([None, 9]),
    },
    "bet.withdraw": {"who": SEATS.map(lambda seat: f"seat:{seat}"), "bet": st.sampled_from(BETS)},
    "round.void": {"reason": st.sampled_from(VOIDS), "round": ROUNDS},
    "round.confirm": {"round": ROUNDS, "dice": st.one_of(st.none(), VALUES)},
    "result.correct": {"round": st.sampled_from([1, 2, 3]), "dice": VALUES},
    "last_rounds.announce": {},
}


def commands(kind: str) -> st.SearchStrategy[Input]:
    return st.fixed_dictionaries({**PEOPLE, **FIELDS[kind]}).map(
        lambda fields: make_command(kind, **fields)
    )


COMMANDS = st.one_of(*map(commands, FIELDS))
TABLES = st.builds(
    lambda decree, kept: table(decree, **kept),
    st.sampled_from(DECREES),
    st.fixed_dictionaries(
        {
            "rounds": st.sampled_from(["keys", "dice"]),
            "serials": st.sampled_from(["told", "unwatched"]),
            "shooter": st.sampled_from(["told", "unwatched", "unwatched"]),
            "early_throw": st.sampled_from(["ask", "void", "ignored"]),
            "floor_die": st.sampled_from(["two", "one"]),
        }
    ),
)


@settings(max_examples=cases(62, 250), deadline=None)
@given(TABLES, st.lists(st.one_of(READINGS, READINGS, COMMANDS), min_size=5, max_size=40))
def test_any_inputs_keep_the_invariants(play: Play, script: list[Input]) -> None:
    for each in script:
        hand = play.state.current
        step_and_check(play, each, waits=hand.round if hand and hand.asks else None)
        dice = play.shown["dice"]
        assert len(dice["playing"]) <= 2
        if play.state.set:
            assert sorted([*dice["playing"], *dice["reserve"], *dice["lost"]]) == sorted(
                play.state.set.serials
            )
    check(play.events)


@settings(max_examples=cases(15, 60), deadline=None)
@given(TABLES, st.lists(st.one_of(READINGS, COMMANDS), min_size=5, max_size=30), st.data())
def test_a_table_continues_from_its_saved_state(
    play: Play, script: list[Input], data: st.DataObject
) -> None:
    continues(play, script, data.draw(st.integers(0, len(script))))
