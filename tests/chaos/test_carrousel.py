"""The controller of the jackpots, twelve linked tables over four daemons, and a broker; coins and
hits of every kind. Controller, daemons and broker are killed, messages come twice and late, clocks
differ. At the end the ledger is, to the cent, what the gazettes make of what the tables wrote down.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from tests.support.chaos.linked_daemon import Play
from tests.support.chaos.linked_floor import LinkedFloor, Pit
from tests.support.chaos.linked_proof import keeps_playing, prove, rest
from tests.support.waiting import until

TABLES = {"BAL05": 1, "ARA02": 1, "EUS96": 1}
"""Tables of each decree at each of the four daemons."""
COINS = {"BAL05": 12, "ARA02": 12, "EUS96": 1}
"""The most coins in a box."""
KILLS, SECONDS = 3, 20.0
"""It ends after so many kills, or after that time though not all were made."""


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


def test_the_ledger_follows_the_gazettes(linked: Callable[..., LinkedFloor], seed: int) -> None:
    play = Play(seed=seed, hits=0.5, coins=COINS, pause=0.25)
    floor = linked(seed, TABLES, play)
    floor.start()
    kills = _trouble(floor, Random(seed))
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


def _trouble(floor: LinkedFloor, chance: Random) -> Counter[str]:
    """Kill one after the other, at random instants."""
    kills: Counter[str] = Counter()
    begun = time.monotonic()
    ahead = {pit.name: 0.0 for pit in floor.pits}
    while kills.total() < KILLS and time.monotonic() - begun < SECONDS:
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
    return kills
