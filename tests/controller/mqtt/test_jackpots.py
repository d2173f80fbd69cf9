"""Statements of a jackpot's controller decide whether it is in play at a table: only a clear
statement counts, only until its time is over, and before any later input.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.public import PrivateKey

from common import clock
from common.confidential.boxes import CardCipher
from common.contract.commands import BetPlace, BetsOpen, BoxesSet, SessionOpen
from common.contract.events import BetPlaced, JackpotInPlay
from common.contract.notation import read_event
from common.contract.orders import Recall
from common.contract.refusals import RejectedError
from common.contract.retained import About
from common.contract.times import format_utc
from common.contract.topics import Topics
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.mqtt import jackpots
from controller.mqtt.jackpots import (
    MAX_VALIDITY_SECONDS,
    JackpotFeeds,
    JackpotLink,
    JackpotValidity,
    read_validity,
)
from controller.tables.runner import TableRunner, last_state
from controller.tables.table import Table
from tests.support.for_each import for_each

LINK = JackpotLink("palma", "carrousel-1", "t1", "ARA02", simulated=False)
NOW = 1_800_000_000.0
TOPIC = "novamas/v1/palma/jackpot/carrousel-1/state"


def statement(now: float = NOW, seconds: float = 15.0, **fields: Any) -> bytes:
    """A statement of this moment, valid for this many seconds."""
    whole = {
        "site": "palma",
        "jackpot": "carrousel-1",
        "title": {},
        "decree": "ARA02",
        "currency": "EUR",
        "boot": "7c02aa19",
        "time": format_utc(now),
        "until": format_utc(now + seconds),
        "in_play": True,
        "why": None,
        "value": 0,
        "seq": 0,
        "awards": [],
        "tables": {"t1": {"in_play": True, "since": format_utc(now)}},
        "authorisation": None,
    }
    return msgspec.json.encode(whole | fields)


def found(body: bytes, now: float = NOW, *, held: bool = False) -> JackpotValidity:
    return read_validity(LINK, body, now, held=held)


# Contents of a statement


def test_a_jackpot_is_in_play_until_its_time_is_over() -> None:
    assert found(statement()) == JackpotValidity(None, 15.0)
    assert found(statement(), NOW + 14.5) == JackpotValidity(None, 0.5)
    assert found(statement(), NOW + 15.0) == JackpotValidity("clock")
    assert found(statement(), NOW + 15.0, held=True) == JackpotValidity("unheard")


@pytest.mark.parametrize("slow", [10.0, 3600.0])
def test_no_clock_extends_the_validity_of_a_statement(slow: float) -> None:
    """A daemon whose clock is behind takes a past statement for one of the future."""
    assert found(statement(), NOW - slow) == JackpotValidity(None, 15.0)


def test_the_validity_of_a_statement_is_limited() -> None:
    assert found(statement(seconds=1e8)) == JackpotValidity(None, MAX_VALIDITY_SECONDS)


def test_fields_of_a_newer_controller_are_ignored() -> None:
    assert found(statement(more={"of": "it"})).why is None


@for_each(
    ("fields", "why"),
    [
        ({"site": "ibiza"}, "unreadable"),
        ({"jackpot": "carrousel-2"}, "unreadable"),
        ({"simulated": True}, "unreadable"),
        ({"until": "soon"}, "unreadable"),
        ({"until": None}, "unreadable"),
        ({"time": format_utc(NOW + 15)}, "unreadable"),
        ({"in_play": "yes"}, "unreadable"),
        ({"why": "because"}, "unreadable"),
        ({"decree": "EUS96"}, "foreign"),
        ({"tables": {}}, "not_authorised"),
        ({"tables": {"t2": {"in_play": True, "since": format_utc(NOW)}}}, "not_authorised"),
        ({"in_play": False, "why": "store"}, "store"),
        ({"in_play": False}, "unheard"),
        ({"tables": {"t1": {"in_play": False, "why": "gap", "since": format_utc(NOW)}}}, "gap"),
    ],
)
def test_statements_that_do_not_put_it_in_play(fields: dict[str, Any], why: str) -> None:
    assert found(statement(**fields)) == JackpotValidity(why)  # type: ignore[arg-type] # one of its words


def test_a_simulated_table_gets_only_simulated_jackpots() -> None:
    link = msgspec.structs.replace(LINK, simulated=True)
    assert read_validity(link, statement(), NOW, held=False).why == "unreadable"
    assert read_validity(link, statement(simulated=True), NOW, held=False).why is None


@given(st.binary(max_size=200) | st.recursive(st.none() | st.text(), st.lists).map(repr))
def test_an_invalid_statement_is_never_in_play(junk: bytes | str) -> None:
    assert found(junk if isinstance(junk, bytes) else junk.encode()).why is not None


@given(st.integers(0, len(statement()) - 1), st.binary(min_size=1, max_size=3))
def test_a_damaged_statement_is_not_valid_for_longer(place: int, junk: bytes) -> None:
    """Whatever is overwritten, it is read as it is, or not at all."""
    whole = statement()
    damaged = whole[:place] + junk + whole[place + len(junk) :]
    after = found(damaged)
    assert after.why is not None or 0 < after.seconds <= MAX_VALIDITY_SECONDS


# A table that gets the statement


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path / "journal.sqlite3")) as made:
        yield made


def make_runner(journal: Journal, jackpot: str | None = "carrousel-1") -> TableRunner:
    game = make_game("poker-no-draw", "ARA02", {})
    cipher = CardCipher(PrivateKey.generate().public_key, b"s" * 32)

    def make() -> Table:
        return Table(
            *("palma", "t1", "poker-no-draw", "ARA02", game, "b1"),
            saved=last_state(journal, "t1", cipher),
            about=About(jackpot=jackpot),
        )

    return TableRunner(make, journal, lambda: 1.0, lambda: None, cipher)


PERSON: Any = {"at": 1.0, "by": "M. Lasa", "role": "table_head"}
BET = BetPlace(**PERSON, who="box:1", bet="jackpot", amount=100)


async def opened(runner: TableRunner) -> None:
    """Bets are open."""
    await runner.execute(SessionOpen(**PERSON, minimum=500, currency="EUR"))
    await runner.execute(BetsOpen(**PERSON))
    await runner.execute(BoxesSet(**PERSON, boxes=(1, 2)))


async def received(runner: TableRunner) -> list[tuple[bool | None, str | None]]:
    await runner.drain()
    events = runner.stored.recall(Recall(boot="b1", first=1, limit=500), 1 << 20)
    return [
        (event.in_play, event.why)
        for event in map(read_event, events)
        if isinstance(event, JackpotInPlay)
    ]


UNHEARD, IN_PLAY = (False, "unheard"), (True, None)


async def test_a_table_gets_each_change_once(journal: Journal) -> None:
    runner = make_runner(journal)
    heard = JackpotFeeds([(Topics("palma"), runner)])
    assert heard.topics() == [TOPIC]
    assert not heard.on_message("novamas/v1/palma/t1/command/bets-open", b"{}", held=False)
    for _ in range(3):
        assert heard.on_message(TOPIC, statement(time.time()), held=False)
        await asyncio.sleep(jackpots.MIN_INTERVAL_SECONDS * 1.5)
    assert await received(runner) == [UNHEARD, IN_PLAY]


async def test_an_expired_statement_ends_before_any_later_input(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process was stopped: the first input then is a bet, and the timer has not run yet."""
    runner = make_runner(journal)
    heard = JackpotFeeds([(Topics("palma"), runner)])
    await opened(runner)
    heard.on_message(TOPIC, statement(time.time(), 60.0), held=False)
    await runner.execute(BET)
    present = time.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: present + 61.0)
    with pytest.raises(RejectedError, match="controller and table do not hear each other"):
        await runner.execute(BET)
    assert await received(runner) == [UNHEARD, IN_PLAY, UNHEARD]


async def test_a_clock_that_was_set_forward_ends_a_statement(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = make_runner(journal)
    heard = JackpotFeeds([(Topics("palma"), runner)])
    heard.on_message(TOPIC, statement(time.time(), 60.0), held=False)
    present = time.time()
    monkeypatch.setattr(clock, "wall", lambda: present + 61.0)
    runner.on_readings([])
    assert await received(runner) == [UNHEARD, IN_PLAY, UNHEARD]


async def test_of_many_statements_the_latest_counts(journal: Journal) -> None:
    runner = make_runner(journal)
    heard = JackpotFeeds([(Topics("palma"), runner)])
    for _ in range(5000):
        heard.on_message(TOPIC, statement(time.time()), held=False)
        heard.on_message(TOPIC, b"junk", held=False)
    heard.on_message(TOPIC, statement(time.time(), in_play=False, why="closed"), held=False)
    await asyncio.sleep(jackpots.MIN_INTERVAL_SECONDS * 3)
    events = await received(runner)
    assert events[-1] == (False, "closed")
    assert len(events) < 100


async def test_a_rebuilt_table_gets_the_statement_again(journal: Journal) -> None:
    """It may have lost the statement: it starts without, and gets the next one."""
    runner = make_runner(journal)
    heard = JackpotFeeds([(Topics("palma"), runner)])
    heard.on_message(TOPIC, statement(time.time(), 60.0), held=False)
    await runner.drain()
    runner._behind = True  # it ran ahead of what could be stored
    runner._publish_stored()
    await runner.drain()
    assert runner.table.jackpot is not None
    assert not runner.table.jackpot.in_play
    await asyncio.sleep(jackpots.MIN_INTERVAL_SECONDS * 1.5)
    heard.on_message(TOPIC, statement(time.time(), 60.0), held=False)
    await runner.drain()
    assert runner.table.jackpot.in_play


async def test_a_table_without_the_setting_gets_no_statement(journal: Journal) -> None:
    runner = make_runner(journal, None)
    heard = JackpotFeeds([(Topics("palma"), runner)])
    assert heard.topics() == []
    assert not heard.on_message(TOPIC, statement(time.time()), held=False)
    assert await received(runner) == []
    assert runner.table.jackpot is None


async def test_two_tables_of_one_jackpot_get_their_own_state(
    journal: Journal, tmp_path: Path
) -> None:
    with closing(Journal(tmp_path / "other.sqlite3")) as other:
        one, two = make_runner(journal), make_runner(other)
        two.table.id = "t2"
        heard = JackpotFeeds([(Topics("palma"), one), (Topics("palma"), two)])
        heard.on_message(TOPIC, statement(time.time()), held=False)
        await asyncio.gather(one.drain(), two.drain())
        for runner, why in ((one, None), (two, "not_authorised")):
            assert runner.table.jackpot is not None
            assert runner.table.jackpot.why == why


async def test_bets_follow_the_statement(journal: Journal) -> None:
    runner = make_runner(journal)
    heard = JackpotFeeds([(Topics("palma"), runner)])
    await opened(runner)
    with pytest.raises(RejectedError, match="controller and table do not hear each other"):
        await runner.execute(BET)
    heard.on_message(TOPIC, statement(time.time(), 60.0), held=False)
    await runner.execute(BET)
    await runner.drain()
    stored = runner.stored.recall(Recall(boot="b1", first=1, limit=500), 1 << 20)
    placed = [event for event in map(read_event, stored) if isinstance(event, BetPlaced)]
    assert [event.amount for event in placed] == [100]


async def test_a_removed_table_gets_no_more_statements(tmp_path: Path) -> None:
    with (
        closing(Journal(tmp_path / "one.sqlite3")) as first,
        closing(Journal(tmp_path / "other.sqlite3")) as second,
    ):
        one, other = make_runner(first), make_runner(second)
        heard = JackpotFeeds([(Topics("palma"), one)])
        heard.remove(one.table.id)
        assert heard.topics() == []
        assert not heard.on_message(TOPIC, statement(time.time()), held=False)
        heard.add(Topics("palma"), one)
        assert heard.topics([one.table.id]) == heard.topics() == [TOPIC]
        assert heard.topics(["another"]) == []
        heard.on_message(TOPIC, statement(time.time(), 60.0), held=False)
        heard.on_message(TOPIC, statement(time.time(), 60.0), held=False)  # it waits for its turn
        heard.remove(one.table.id)
        before = one.table.seq
        heard.add(Topics("palma"), other)
        await asyncio.sleep(jackpots.MIN_INTERVAL_SECONDS * 1.5)
        assert one.table.seq == before
        assert await received(one) == [UNHEARD, IN_PLAY]
        assert await received(other) == [UNHEARD, IN_PLAY], "what waited is for who is there now"
