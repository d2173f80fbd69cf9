"""Linked tables of a pair of daemons are taken over while coins fall: the meter has every reported
coin, persons settle the unreported ones, and nothing is counted twice when those arrive later.
"""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from itertools import count
from pathlib import Path

import msgspec
import pytest

from controller.journal.reader import JournalReader
from tests.support.brokers.mosquitto import Subscriber, once
from tests.support.carrousel.floor import TOPICS
from tests.support.chaos.linked_daemon import STAKE, Play
from tests.support.chaos.linked_floor import SEEDS, LinkedFloor, Pit
from tests.support.chaos.linked_proof import (
    happened,
    published_stakes,
    staked,
    staked_at,
    tables_of,
)
from tests.support.chaos.poker_script import script
from tests.support.chaos.report import tell
from tests.support.daemon.pair import NAMES, Nats
from tests.support.waiting import until

DECREE, TABLES = "BAL05", ("bal05-1", "bal05-2")
RISE = (9, 10)
"""The meter's share of each coin."""
COINS = 40
"""Maximum coins of a box in a round."""
STAKED_BEFORE_FAULT_CENTS = 20 * STAKE
"""Coins staked at each table before a fault."""
KEEPALIVE = 20.0
"""Seconds. A statement is valid for three: coins fall that long while the broker is frozen."""
TAKEOVER_TIMEOUT_SECONDS = 180.0
"""Seconds that a takeover may take on a busy machine."""


class PairOfPits(LinkedFloor):
    """Two daemons with the same tables, of which one serves them. ``store``: of their lease."""

    def __init__(self, folder: Path, seed: int, play: Play, store: Nats) -> None:
        self._store = store
        tables = {DECREE: len(TABLES)}
        super().__init__(folder, seed, tables, play, pits=len(NAMES), keepalive=KEEPALIVE)
        self.subscriber: Subscriber | None = None

    def _pits(self, spread: dict[str, int], many: int, broker: str) -> list[Pit]:
        tables = dict.fromkeys(TABLES[: spread[DECREE]], DECREE)
        pair = f'servers = ["{self._store.url}"]\nlease = 3.0\nreplicas = 1\n'
        return [
            Pit(
                self.folder / name,
                "pit-1",
                broker,
                tables,
                f'[standby]\ninstance = "{name}"\n{pair}',
            )
            for name in NAMES[:many]
        ]

    def start(self) -> None:
        super().start()
        node = f"{TOPICS.root}/node/pit-1"
        alerts = f"{TOPICS.root}/jackpot/+/alert/+"
        events = f"{TOPICS.root}/+/event"
        self.subscriber = Subscriber(
            self.broker.port, events, alerts, f"{node}/status", f"{node}/health"
        )

    def close(self) -> None:
        if self.subscriber is not None:
            self.subscriber.close()
        super().close()

    def serving(self, before: str | None = None) -> tuple[Pit, str]:
        """Wait until a daemon serves in another run than before. Gives both."""
        assert self.subscriber is not None
        subscriber = self.subscriber

        def there() -> tuple[Pit, str] | None:
            status, health = subscriber.latest("/status"), subscriber.latest("/health")
            if not status or not health or status["status"] != "online":
                return None
            boot: str = status["boot"]
            if boot == before or health["boot"] != boot:
                return None
            return self.pits[NAMES.index(health["standby"]["instance"])], boot

        found: tuple[Pit, str] = until(
            "a daemon serves", there, self.diagnosis, TAKEOVER_TIMEOUT_SECONDS
        )
        return found

    def until_staked(self, pit: Pit, more: int = STAKED_BEFORE_FAULT_CENTS) -> None:
        """Wait until that number of further coins was staked at each table of a daemon."""
        for table in TABLES:
            wanted = staked_at(tables_of(pit.journal)[table]) + more
            until(
                f"coins at {table}",
                partial(_reached, pit, table, wanted),
                self.diagnosis,
                TAKEOVER_TIMEOUT_SECONDS,
            )

    def until_a_coin(self, pit: Pit) -> None:
        """Wait until a further coin was staked at one of the tables, no longer: a daemon that does
        not reach the broker gives up its tables within a lease.
        """
        before = {table: staked_at(tables_of(pit.journal)[table]) for table in TABLES}
        until(
            "a coin",
            lambda: any(_reached(pit, table, before[table] + 1) for table in TABLES),
            self.diagnosis,
            TAKEOVER_TIMEOUT_SECONDS,
        )

    def until_gaps(self) -> dict[str, tuple[str, int]]:
        """Wait until each table is out of play for what is missing. Gives the last event that was
        taken of each, as its alert says it.
        """
        assert self.subscriber is not None

        for table in TABLES:
            gap = partial(lambda table: self._why(table) == "gap", table)
            until(f"{table} has a gap", gap, self.diagnosis, TAKEOVER_TIMEOUT_SECONDS)
        assert "gap.settle" in self.state(DECREE)["asks"]
        found = {}
        for table in TABLES:
            alert = until(
                "its alert",
                partial(self.subscriber.latest, f"alert/{table}-gap"),
                self.diagnosis,
                TAKEOVER_TIMEOUT_SECONDS,
            )
            said = re.search(r"(?:last event accepted,|after) (\w+) (\d+)", alert["detail"])
            assert said is not None, alert
            found[table] = said[1], int(said[2])
        return found

    def settle(self, table: str, amount: int) -> None:
        """Two persons enter the stakes that were not published."""

        def settled() -> bool:
            assert self.persons is not None
            if self._why(table) == "gap":  # in the second of a start nothing is followed
                gap = self.state(DECREE)["tables"][table]["since"]
                order = ("gap.settle", {"table": table, "gap": gap, "amount": amount})
                self.persons.give(DECREE.lower(), [order])
            return self._why(table) != "gap"

        until(f"{table} has no gap", settled, self.diagnosis)

    def _why(self, table: str) -> str | None:
        """Why it is out of play."""
        why: str | None = self.state(DECREE).get("tables", {}).get(table, {}).get("why")
        return why

    def events(self, boot: str) -> list[bytes]:
        """The received events of a run, without duplicates."""
        assert self.subscriber is not None
        every = once(message.body for message in self.subscriber.on("/event"))
        return [msgspec.json.encode(each) for each in every if each["boot"] == boot]

    def in_ledger(self, table: str) -> int:
        """The stakes of a table in the ledger."""
        with closing(sqlite3.connect(f"file:{self.controller.ledger}?mode=ro", uri=True)) as file:
            words = "SELECT -sum(amount) FROM posting WHERE account = 'stakes' AND part = ?"
            (amount,) = file.execute(words, (table,)).fetchone()
        return int(amount or 0)


def _reached(pit: Pit, table: str, wanted: int) -> bool:
    return staked_at(tables_of(pit.journal)[table]) >= wanted


def stored(pit: Pit, boot: str) -> list[tuple[str, int, bytes]]:
    """The events that a daemon has of a run, each with its table and number."""
    with closing(JournalReader(pit.journal)) as reader:
        return [
            (entry.table, entry.seq, entry.body)
            for entry in reader.entries()
            if (entry.kind, entry.boot) == ("event", boot)
        ]


def untold(pit: Pit, table: str, last: tuple[str, int]) -> int:
    """The stakes that a daemon stored for a table after an event of a run, to the run's end."""
    every = [(seq, body) for of, seq, body in stored(pit, last[0]) if of == table]
    told = happened(body for seq, body in every if seq <= last[1])
    return staked_at(happened(body for _, body in every)[table]) - staked_at(told[table])


def without_void(seed: int) -> int:
    """The first seed from this one on without an early void round: otherwise reported coins might
    turn out not to be staked.
    """

    def void(seed: int, table: str, number: int) -> bool:
        return script(seed, table, DECREE, 1, number, hits=0.0, coins=COINS).void

    return next(
        each
        for each in count(seed)
        if not any(void(each, table, number) for table in TABLES for number in range(1, 21))
    )


@pytest.fixture
def floor(
    programs: None, tmp_path: Path, seed: int, request: pytest.FixtureRequest
) -> Iterator[PairOfPits]:
    with ExitStack() as stack:
        store = Nats(tmp_path / "nats")
        stack.callback(store.kill)
        store.start()
        play = Play(seed=without_void(seed), hits=0.0, coins={DECREE: COINS}, pause=0.1)
        made = PairOfPits(tmp_path / "pair", seed, play, store)
        stack.callback(made.close)
        stack.callback(
            lambda: request.node.add_report_section("teardown", "pair", made.diagnosis())
        )
        yield made


def test_takeovers_of_linked_tables(floor: PairOfPits) -> None:
    floor.start()
    first, run = floor.serving()
    [second] = [pit for pit in floor.pits if pit is not first]
    floor.until_staked(first)

    # killed, with coins that no client received
    floor.broker.signal(signal.SIGSTOP)
    floor.until_a_coin(first)
    first.kill()
    floor.broker.signal(signal.SIGCONT)
    _, other = floor.serving(run)
    settled = 0
    for table, last in floor.until_gaps().items():
        assert last[0] == run
        events = staked_at(happened(floor.events(run))[table])
        assert floor.in_ledger(table) == events > 0
        missing = untold(first, table, last)
        floor.settle(table, missing)
        settled += missing
    assert settled > 0
    floor.until_in_play(TAKEOVER_TIMEOUT_SECONDS)
    floor.until_staked(second)

    # handed back, with the events that the first one had not published
    first.start()
    assert second.stop() == 0
    _, again = floor.serving(other)
    late = partial(_all_heard, floor, first, run)
    until(
        "the unpublished events arrive after all", late, floor.diagnosis, TAKEOVER_TIMEOUT_SECONDS
    )
    for table, last in floor.until_gaps().items():
        assert last[0] == other
        floor.settle(table, untold(second, table, last))
    floor.until_in_play(TAKEOVER_TIMEOUT_SECONDS)
    floor.until_staked(first)

    # there and back while the controller was away
    floor.controller.kill()
    second.start()
    assert first.stop() == 0
    _, away = floor.serving(again)
    first.start()
    assert second.stop() == 0
    floor.serving(away)
    floor.controller.start()
    for table, last in floor.until_gaps().items():
        assert last[0] == again, "nothing of the second daemon is missing"
        floor.settle(table, untold(second, table, (away, 0)))
    floor.until_in_play(TAKEOVER_TIMEOUT_SECONDS)
    floor.until_staked(first)

    at_rest(floor, first)
    judged(floor, settled)


def _all_heard(floor: PairOfPits, pit: Pit, run: str) -> bool:
    """Whether the last stored event of a run was received from each table."""
    last = {table: seq for table, seq, _ in stored(pit, run)}
    events = [msgspec.json.decode(body) for body in floor.events(run)]
    return {*last.items()} <= {(event["table"], event["seq"]) for event in events}


def at_rest(floor: PairOfPits, serving: Pit) -> None:
    """Play stops; everything is published."""
    floor.plays(msgspec.structs.replace(floor.play, on=False))
    until(
        "all rounds are ended",
        lambda: not _plays(serving),
        floor.diagnosis,
        TAKEOVER_TIMEOUT_SECONDS,
    )
    until(
        "all coins are published",
        lambda: staked(floor) == published_stakes(floor),
        floor.diagnosis,
        TAKEOVER_TIMEOUT_SECONDS,
    )
    assert floor.controller.stop() == 0
    assert serving.stop() == 0
    assert "Traceback" not in floor.controller.log()


def _plays(pit: Pit) -> bool:
    return any(table.open for table in tables_of(pit.journal).values())


def judged(floor: PairOfPits, settled: int) -> None:
    """The meter has its part of every coin that is in a journal, once; the rest is the house's."""
    coins = staked(floor)[DECREE]
    with closing(sqlite3.connect(f"file:{floor.controller.ledger}?mode=ro", uri=True)) as file:
        words = "SELECT account, sum(amount) FROM posting GROUP BY account"
        sums = dict(file.execute(words).fetchall())
    risen = coins * RISE[0] // RISE[1]
    tell(f"{coins // STAKE} coins, {settled // STAKE} of them settled; {sums}")
    assert sums["meter"] == SEEDS[DECREE] * len(TABLES) + risen
    assert sums["house"] == coins - risen
    program = [sys.executable, "-m", "controller.cli", "carrousel", "verify"]
    verified = subprocess.run(
        [*program, str(floor.controller.ledger)], check=False, capture_output=True, text=True
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
