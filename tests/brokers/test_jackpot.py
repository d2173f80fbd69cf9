"""The controller of jackpots at each engine: linked tables of two daemons play while it is killed
and a node of the broker is lost; persons pay what is won.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.support.brokers.engines import FOR_OUR_OWN, Engine
from tests.support.chaos.linked_daemon import Play
from tests.support.chaos.linked_floor import LinkedFloor, Persons, Pit
from tests.support.chaos.linked_proof import keeps_playing, prove, rest, tables_of
from tests.support.waiting import until

KINDS = FOR_OUR_OWN
SHORT = ("nats",)
"""The engine with nodes to lose. At one broker ``tests/chaos/test_carrousel.py`` does the same."""
DECREE = "BAL05"
HEAL_TIMEOUT_SECONDS = 180.0
"""Upper bound in seconds for a cluster to heal and the controller to catch up with every table."""


@pytest.fixture
def floor(
    programs: None, engine: Engine, tmp_path: Path, seed: int, request: pytest.FixtureRequest
) -> Iterator[LinkedFloor]:
    """One table at each of two daemons, a hit in every other round, and persons who pay."""
    play = Play(seed=seed, hits=0.5, coins={DECREE: 12}, pause=0.2)
    made = LinkedFloor(tmp_path, seed, {DECREE: 1}, play, pits=2, engine=engine)
    yield made
    request.node.add_report_section("teardown", "linked floor", made.diagnosis())
    made.close()


def test_a_jackpot_through_the_loss_of_its_controller_and_of_a_node(
    floor: LinkedFloor, engine: Engine
) -> None:
    floor.start()
    until_paid(floor)
    floor.controller.kill()
    until_staked(floor)
    floor.controller.start()
    until(
        "it goes on",
        partial(keeps_playing, floor, time.time()),
        floor.diagnosis,
        HEAL_TIMEOUT_SECONDS,
    )
    engine.lose()
    until_staked(floor)
    if len(engine.nodes) > 1:
        until(
            "others serve",
            partial(keeps_playing, floor, time.time()),
            floor.diagnosis,
            HEAL_TIMEOUT_SECONDS,
        )
    engine.regain()
    until(
        "it goes on",
        partial(keeps_playing, floor, time.time()),
        floor.diagnosis,
        HEAL_TIMEOUT_SECONDS,
    )
    until_paid(floor)
    rest(floor)
    prove(floor, floor.play, Counter({"controller": 1, "node": 1}))
    receipts_hold(floor)


def until_paid(floor: LinkedFloor) -> None:
    """Wait until one more hit is paid, with a receipt."""
    assert floor.persons is not None
    receipts = floor.persons.receipts
    known = len(receipts)
    until("a payment", lambda: len(receipts) > known, floor.diagnosis, HEAL_TIMEOUT_SECONDS)


def until_staked(floor: LinkedFloor) -> None:
    """Wait until more coins have fallen at each table, by the tables' own journals."""
    for pit in floor.pits:
        known = fallen(pit)
        until(
            f"coins at {pit.name}",
            partial(_beyond, pit, known),
            floor.diagnosis,
            HEAL_TIMEOUT_SECONDS,
        )


def _beyond(pit: Pit, known: int) -> bool:
    return fallen(pit) > known


def fallen(pit: Pit) -> int:
    """How many coins the journal of a daemon has."""
    rounds = (
        round_ for table in tables_of(pit.journal).values() for round_ in table.rounds.values()
    )
    return sum(len(round_.coins) for round_ in rounds)


def receipts_hold(floor: LinkedFloor) -> None:
    """Each receipt is printed again with its two persons and its entry of the ledger, which was
    verified.
    """
    assert floor.persons is not None
    ledger = str(floor.controller.ledger)
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as file:
        paid = file.execute(
            "SELECT position, hex(hash) FROM entry WHERE position IN "
            "(SELECT position FROM posting WHERE what = 'payment') ORDER BY position"
        ).fetchall()
    assert {number for _, number in floor.persons.receipts} <= {*range(1, len(paid) + 1)}
    for number, (position, hashed) in enumerate(paid, 1):
        words = ["receipt", ledger, "--jackpot", DECREE.lower(), "--number", str(number)]
        program = (sys.executable, "-m", "controller.cli", "carrousel")
        completed = subprocess.run(
            [*program, *words, "--format", "text"], capture_output=True, text=True, check=True
        ).stdout
        text = re.sub(r"\s", "", completed)
        assert hashed.lower() in text, completed
        assert f"{position}·" in text, completed
        assert all(person.title() in text for person in (Persons.FIRST, Persons.SECOND)), completed
