"""The controller of the jackpots, twenty linked tables over four daemons, and a broker; coins and
hits of every kind. Controller, daemons and broker are killed, messages come twice and late, clocks
differ. At the end the ledger is, to the cent, what the gazettes make of what the tables wrote down.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.support.chaos.linked_daemon import Play
from tests.support.chaos.linked_floor import LinkedFloor, Pit
from tests.support.chaos.linked_proof import keeps_playing, prove, rest
from tests.support.chaos.report import tell
from tests.support.waiting import until

SPREAD = {"BAL05": 2, "ARA02": 2, "EUS96": 1}
FEW = dict.fromkeys(SPREAD, 1)
"""Tables of each decree at each of the four daemons, in the long form and in the short one."""


class Length(NamedTuple):
    """``kills``; ``hits``: the part of rounds in which something is won; ``coins``: the most in a
    box; ``pause``: seconds between two things that happen at a table; ``seconds``: after which it
    ends though not all kills were made.
    """

    kills: int
    hits: float
    coins: dict[str, int]
    pause: float
    seconds: float


SHORT = Length(3, 0.5, {"BAL05": 12, "ARA02": 12, "EUS96": 1}, 0.25, 20.0)
LONG = Length(300, 0.5, {"BAL05": 300, "ARA02": 300, "EUS96": 1}, 0.2, 7200.0)
MINUTES = "NOVAMAS_CHAOS_MINUTES"
"""The most minutes of the long form, where there are fewer."""


@pytest.fixture
def linked(
    programs: None, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., LinkedFloor]]:
    made: list[LinkedFloor] = []

    def make(*given: Any) -> LinkedFloor:
        made.append(LinkedFloor(tmp_path / "linked", *given))
        return made[-1]

    yield make
    for each in made:
        request.node.add_report_section("teardown", "linked floor", each.diagnosis())
        each.close()


def test_the_ledger_follows_the_gazettes(
    linked: Callable[..., LinkedFloor], seed: int, long: bool
) -> None:
    length = LONG if long else SHORT
    play = Play(seed=seed, hits=length.hits, coins=length.coins, pause=length.pause)
    floor = linked(seed, SPREAD if long else FEW, play)
    floor.start()
    kills = _trouble(floor, Random(seed), length)
    rest(floor)
    prove(floor, play, kills)


def test_a_clock_beyond_the_bound_puts_its_tables_out_of_play(
    linked: Callable[..., LinkedFloor], seed: int, long: bool
) -> None:
    """While there is no hit, the clock of a daemon jumps forward and back by more than the bound:
    coins of that time count as its tables recorded them.
    """
    if not long:
        pytest.skip("in the long form")
    play = Play(seed=seed, hits=0.3, coins={"ARA02": 12}, pause=0.2)
    floor = linked(seed, {"ARA02": 1}, play)
    floor.start()
    calm, pit = msgspec.structs.replace(play, calm=True), floor.pits[0]
    for wrong in (4.0, -4.0):
        until("hits", partial(_more_awards, floor, _awards(floor) + 4), floor.diagnosis, 240.0)
        floor.plays(calm)
        until(
            "no award is open", lambda: floor.persons and floor.persons.idle, floor.diagnosis, 240.0
        )
        time.sleep(6.0)  # what happens at the wrong time is after every hit
        floor.plays(calm, {pit.name: wrong})
        until("its clock is noticed", partial(_out_of_play, floor, pit), floor.diagnosis, 240.0)
        floor.plays(calm)
        floor.until_in_play()
        time.sleep(6.0)
        floor.plays(play)
    rest(floor)
    prove(floor, play, Counter())


def _awards(floor: LinkedFloor) -> int:
    assert floor.persons is not None
    return len(floor.persons.awards)


def _more_awards(floor: LinkedFloor, count: int) -> bool:
    return _awards(floor) >= count


def _out_of_play(floor: LinkedFloor, pit: Pit) -> bool:
    return all(floor.state("ARA02")["tables"][table]["why"] == "clock" for table in pit.tables)


def _trouble(floor: LinkedFloor, chance: Random, length: Length) -> Counter[str]:
    """Kill one after the other, at random instants."""
    kills: Counter[str] = Counter()
    begun = time.monotonic()
    seconds = min(length.seconds, 60 * float(os.environ.get(MINUTES, "120")))
    ahead = {pit.name: 0.0 for pit in floor.pits}
    while kills.total() < length.kills and time.monotonic() - begun < seconds:
        time.sleep(chance.uniform(0.2, 5.0))
        what = chance.choice(("controller", "daemon", "broker"))
        kills[what] += 1
        if what == "controller":
            floor.controller.kill()
            time.sleep(chance.choice((0.0, chance.uniform(0.0, 5.0))))
            floor.controller.start()
        elif what == "broker":
            floor.broker.kill()
            time.sleep(chance.choice((0.0, chance.uniform(0.0, 6.0))))
            floor.broker.start()
        else:
            pit = chance.choice(floor.pits)
            pit.kill()
            ahead[pit.name] = chance.uniform(-0.04, 0.04)
            floor.plays(floor.play, ahead)
            time.sleep(chance.choice((0.0, chance.uniform(0.0, 3.0))))
            pit.start()
        if chance.random() < 0.6:
            until("it goes on", partial(keeps_playing, floor, time.time()), floor.diagnosis, 600.0)
        if kills.total() % 10 == 0:
            tell(f"{time.monotonic() - begun:6.0f} s {dict(kills)} {_standing(floor)}")
    return kills


def _standing(floor: LinkedFloor) -> str:
    persons = floor.persons
    assert persons is not None
    return f"awards {len(persons.awards)}, open {_open(floor)}, orders {dict(persons.orders)}"


def _open(floor: LinkedFloor) -> int:
    return sum(len(floor.state(decree).get("awards", ())) for decree in floor.decrees)
