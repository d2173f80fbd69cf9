"""Two controllers of the jackpots, six linked tables over two daemons, their broker, and the store
of lease and log; coins and hits of every kind, which two persons pay. One controller or the other
is killed, frozen, stopped, or gets a full disk; both lose power; the store or the broker goes away.
At the end both ledgers are the same, and to the cent what the gazettes make of what the tables
wrote down.
"""

from __future__ import annotations

import resource
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from common.standby.fence import FENCED_EXIT_STATUS
from subscribers.carrousel.verification import verify
from tests.conftest import cases
from tests.support.carrousel.floor import Controller
from tests.support.chaos.linked_daemon import Play
from tests.support.chaos.linked_floor import Carrousel, LinkedFloor
from tests.support.chaos.linked_proof import keeps_playing, prove, rest
from tests.support.chaos.report import tell
from tests.support.daemon.pair import NAMES, Nats
from tests.support.waiting import TIMEOUT_SECONDS, until

TABLES = {"BAL05": 1, "ARA02": 1, "EUS96": 1}
COINS = {"BAL05": 12, "ARA02": 12, "EUS96": 1}
LEASE_SECONDS = 4.0
NEAR_ENTRIES = 20
"""The waiting controller follows if it lacks fewer entries than that."""
RECOVERY_SECONDS = 240.0
"""Within this time play goes on after a fault, however busy the machine is."""


class Pair(Controller):
    """Both controllers, in the place of one: ``ledger`` is that of the first."""

    def __init__(self, both: tuple[Carrousel, Carrousel]) -> None:
        self.both = both
        self.ledger = both[0].ledger

    def start(self) -> None:
        """Start both; the first one has the ledger."""
        self.both[0].start()
        until("it serves", lambda: "carrousel up" in self.both[0].log(), self.log)
        self.both[1].start()

    def restart_ended(self) -> None:
        """Start again what has ended itself, as the service manager does."""
        for each in self.both:
            if each.process is not None and each.process.poll() is not None:
                each.start()

    def restart_killed(self) -> None:
        """Start again what the test has ended."""
        for each in self.both:
            if each.process is None:
                each.start()

    def log(self) -> str:
        return "\n".join(f"{each.ledger}\n{each.log()[-6000:]}" for each in self.both)

    def kill(self) -> None:
        for each in self.both:
            each.kill()

    def stop(self) -> int:
        """Stop both, the waiting one first, once it has every entry."""
        self.restart_ended()
        until("both ledgers are the same", lambda: rows(self.both[0]) == rows(self.both[1]))
        waiting, serving = sorted(self.both, key=lambda each: each is self.serving())
        return waiting.stop() or serving.stop()

    def serving(self) -> Controller | None:
        """The one that has taken the lease last, by the ledgers."""
        starts = [last_start(each) for each in self.both]
        last: dict[str, Any] = max(starts, key=lambda start: int(start.get("term", 0)))
        if not last:
            return None
        return self.both[NAMES.index(last["instance"])]


def rows(controller: Controller) -> list[tuple[int, bytes]]:
    """Return position and hash of each entry."""
    if not controller.ledger.exists():
        return []
    with closing(sqlite3.connect(f"file:{controller.ledger}?mode=ro", uri=True)) as ledger:
        return ledger.execute("SELECT position, hash FROM entry ORDER BY position").fetchall()


def last_start(controller: Controller) -> dict[str, Any]:
    """Return the last start in a ledger."""
    if not controller.ledger.exists():
        return {}
    with closing(sqlite3.connect(f"file:{controller.ledger}?mode=ro", uri=True)) as ledger:
        row = ledger.execute(
            "SELECT fact FROM entry WHERE cause_table IS NULL AND substr(fact, 1, 17) = "
            """CAST('{"fact":"started"' AS BLOB) ORDER BY position DESC LIMIT 1"""
        ).fetchone()
    return {} if row is None else msgspec.json.decode(row[0])


class PairedFloor(LinkedFloor):
    """Linked tables with two controllers, and their store."""

    def __init__(self, folder: Path, seed: int, play: Play) -> None:
        self.store = Nats(folder / "nats")
        folder.mkdir(parents=True)
        super().__init__(folder, seed, TABLES, play, pits=2)

    def make_controller(
        self, broker: str, tables: Sequence[str], jackpots: str, keepalive: float
    ) -> Controller:
        north, south = (
            Carrousel(
                self.folder / name,
                broker,
                tables,
                f'standby = true\n[standby]\nservers = ["{self.store.url}"]\n'
                f'instance = "{name}"\nreplicas = 1\nlease = {LEASE_SECONDS}\n{jackpots}',
                keepalive,
            )
            for name in NAMES
        )
        self.pair = Pair((north, south))
        return self.pair

    def start(self) -> None:
        self.store.start()
        super().start()

    def close(self) -> None:
        super().close()
        self.store.kill()


@pytest.fixture
def floor(
    programs: None, tmp_path: Path, seed: int, request: pytest.FixtureRequest
) -> Iterator[PairedFloor]:
    made = PairedFloor(tmp_path / "floor", seed, Play(seed=seed, hits=0.5, coins=COINS, pause=0.25))
    yield made
    request.node.add_report_section("teardown", "paired floor", made.diagnosis())
    made.close()


def test_no_cent_is_lost_between_two_controllers(floor: PairedFloor, seed: int) -> None:
    floor.start()
    until("the other follows", partial(follows, floor), floor.diagnosis, RECOVERY_SECONDS)
    faults, back = befall(floor, Random(seed), cases(4, 30))
    rest(floor)
    prove(floor, floor.play, faults)
    first, second = floor.pair.both
    assert rows(first) == rows(second)
    assert verify(second.ledger).status == 0
    ordered = sorted(back)
    tell(
        f"{len(ordered)} times back in play: median {ordered[len(ordered) // 2]:.1f} s, longest "
        f"{ordered[-1]:.1f} s; term {max(last_start(each)['term'] for each in floor.pair.both)}"
    )


def befall(floor: PairedFloor, chance: Random, count: int) -> tuple[Counter[str], list[float]]:
    """Let that many faults happen, one after the other. Return their kinds, and the seconds until
    the jackpots were in play again with a statement made after the fault.
    """
    kinds = list(FAULTS)
    chance.shuffle(kinds)
    faults: Counter[str] = Counter()
    back = []
    for number in range(count):
        time.sleep(chance.uniform(0.5, 4.0))
        kind = kinds[number % len(kinds)]
        faults[kind] += 1
        serving = floor.pair.serving()
        assert serving is not None
        other = next(each for each in floor.pair.both if each is not serving)
        begun, end = time.monotonic(), FAULTS[kind](floor, serving, other, chance)
        until(
            "play goes on", partial(goes_on, floor, time.time()), floor.diagnosis, RECOVERY_SECONDS
        )
        back.append(time.monotonic() - begun)
        end()
        floor.pair.restart_killed()
        until("the other follows", partial(follows, floor), floor.diagnosis, RECOVERY_SECONDS)
    return faults, back


def goes_on(floor: PairedFloor, since: float) -> bool:
    """Whether the jackpots are in play since then. What has ended itself is started again."""
    floor.pair.restart_ended()
    return keeps_playing(floor, since)


def follows(floor: PairedFloor) -> bool:
    """Whether the waiting controller has nearly all entries of the other."""
    floor.pair.restart_ended()
    first, second = (rows(each) for each in floor.pair.both)
    shorter = min(len(first), len(second))
    return (
        shorter > 0
        and first[:shorter] == second[:shorter]
        and abs(len(first) - len(second)) < NEAR_ENTRIES
    )


def _nothing() -> None: ...


End = Callable[[], object]


def _kill(_floor: PairedFloor, serving: Controller, _other: Controller, _chance: Random) -> End:
    serving.kill()
    return _nothing


def _kill_waiting(
    _floor: PairedFloor, _serving: Controller, other: Controller, _chance: Random
) -> End:
    other.kill()
    return _nothing


def _kill_both(_floor: PairedFloor, serving: Controller, other: Controller, chance: Random) -> End:
    serving.kill()
    other.kill()
    time.sleep(chance.uniform(0.0, 2.0))
    other.start()
    time.sleep(chance.uniform(0.0, 1.0))
    serving.start()
    return _nothing


def _stop(_floor: PairedFloor, serving: Controller, _other: Controller, _chance: Random) -> End:
    assert serving.stop() == 0
    return _nothing


def _freeze(_floor: PairedFloor, serving: Controller, _other: Controller, _chance: Random) -> End:
    """It stays frozen until the other one serves, and then wakes up."""
    process = serving.process
    assert process is not None
    process.send_signal(signal.SIGSTOP)

    def end() -> None:
        process.send_signal(signal.SIGCONT)
        process.wait(TIMEOUT_SECONDS)

    return end


def _freeze_briefly(
    _floor: PairedFloor, serving: Controller, _other: Controller, chance: Random
) -> End:
    assert serving.process is not None
    serving.process.send_signal(signal.SIGSTOP)
    time.sleep(chance.uniform(0.1, 0.7 * LEASE_SECONDS))
    serving.process.send_signal(signal.SIGCONT)
    return _nothing


def _fill_disk(
    _floor: PairedFloor, serving: Controller, _other: Controller, _chance: Random
) -> End:
    """No file of it may grow: its next commit fails."""
    assert serving.process is not None
    _, most = resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (0, most))
    assert serving.process.wait(TIMEOUT_SECONDS) == FENCED_EXIT_STATUS
    return _nothing


def _lose_store(
    floor: PairedFloor, _serving: Controller, _other: Controller, chance: Random
) -> End:
    floor.store.kill()
    time.sleep(chance.uniform(0.1, 2.0 * LEASE_SECONDS))
    floor.store.start()
    return _nothing


def _lose_broker(
    floor: PairedFloor, _serving: Controller, _other: Controller, chance: Random
) -> End:
    floor.broker.kill()
    time.sleep(chance.uniform(0.0, 4.0))
    floor.broker.start()
    return _nothing


FAULTS: dict[str, Callable[[PairedFloor, Controller, Controller, Random], End]] = {
    "serving killed": _kill,
    "waiting killed": _kill_waiting,
    "both killed": _kill_both,
    "serving stopped": _stop,
    "serving frozen": _freeze,
    "serving frozen briefly": _freeze_briefly,
    "serving's disk full": _fill_disk,
    "store away": _lose_store,
    "broker away": _lose_broker,
}
"""What happens, to the controller that serves and the other one; it returns what ends it."""
