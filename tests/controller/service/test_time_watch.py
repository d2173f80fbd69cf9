"""The watch of the machine's clock: its reports to the tables, the alerts and health."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from nacl.public import PrivateKey

from common.confidential.boxes import CardCipher
from common.contract.retained import Alert
from common.contract.times import parse_utc
from common.readings import LinkUp
from controller.cli import check
from controller.configuration.settings import ClockConfig
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.proof.chrony import Chrony
from controller.proof.kernel_clock import KernelClock
from controller.service import time_watch
from controller.service.time_watch import UNPROVED_ALERT_ID, TimeWatch
from controller.tables.runner import TableRunner, last_state
from controller.tables.table import Table
from tests.controller.proof.test_time_bound import CHRONY_REPLY
from tests.support.games.face_down import FaceDown
from tests.support.waiting import until

SYNCHRONISED = KernelClock(True, 0.0, 0.001, 0.0001)
ROULETTE = make_game("roulette-french", "ARA02", {})
NOON = parse_utc("2026-11-23T12:00:00Z")


class Floor:
    """Two tables, one with cards face down, and clocks that a test sets."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.journal = Journal(path)
        self.cipher = CardCipher(PrivateKey.generate().public_key, b"s" * 32)
        self.wall, self.machine = NOON, 100.0
        self.kernel: KernelClock | None = SYNCHRONISED
        self.alerts: dict[str, Alert] = {}
        monkeypatch.setattr(time_watch, "wall_and_machine", lambda: (self.wall, self.machine))
        monkeypatch.setattr(time_watch, "read_kernel_clock", lambda: self.kernel)

    def runners(self, boot: str) -> list[TableRunner]:
        def wheel() -> Table:
            saved = last_state(self.journal, "r1", None)
            return Table("palma", "r1", "roulette-french", "ARA02", ROULETTE, boot, saved=saved)

        def cards() -> Table:
            saved = last_state(self.journal, "p1", self.cipher)
            return Table("palma", "p1", "face-down", "ARA02", FaceDown(), boot, saved=saved)

        return [
            TableRunner(make, self.journal, lambda: 1.0, lambda: None, self.cipher)
            for make in (wheel, cards)
        ]

    def watch(
        self, runners: list[TableRunner], bound: float | None = 0.1, doubt: str | None = None
    ) -> TimeWatch:
        settings = ClockConfig(bound=bound, chrony="")
        return TimeWatch(
            settings=settings,
            journal=self.journal,
            runners=runners,
            alerts=self.alerts,
            changed=lambda: None,
            doubt=lambda: doubt,
        )

    def passes(self, watch: TimeWatch, seconds: float = 1.0, step: float = 0.0) -> None:
        self.machine += seconds
        self.wall += seconds + step
        watch.check()

    def stored(self, kind: str, table: str) -> list[dict[str, Any]]:
        return [
            json.loads(entry.body)
            for entry in self.journal.events_after(0, 1000)
            if entry.kind == kind and entry.table == table
        ]


@pytest.fixture
def floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Floor]:
    made = Floor(tmp_path / "journal.sqlite3", monkeypatch)
    yield made
    made.journal.close()


async def idle(runners: list[TableRunner]) -> None:
    for runner in runners:
        await runner.drain()


async def test_events_are_marked_when_their_time_is_not_proved(floor: Floor) -> None:
    runners = floor.runners("b1")
    watch = floor.watch(runners)
    floor.passes(watch)
    for runner in runners:
        runner.on_readings([LinkUp(at=1.0, device="one")])
    floor.kernel = None
    floor.passes(watch, 600.0)
    for runner in runners:
        runner.on_readings([LinkUp(at=1.0, device="two")])
    floor.kernel = SYNCHRONISED
    floor.passes(watch)
    for runner in runners:
        runner.on_readings([LinkUp(at=1.0, device="three")])
    await idle(runners)
    for table in ("r1", "p1"):
        told = {
            event["device"]: event.get("time_bound", "absent")
            for event in floor.stored("event", table)
            if event["type"] == "device.state"
        }
        assert told == {"one": "absent", "two": 0.5, "three": "absent"}


async def test_the_clocks_state_is_stored_across_a_start(floor: Floor) -> None:
    floor.kernel = None
    runners = floor.runners("b1")
    watch = floor.watch(runners)
    floor.passes(watch)
    assert [runner.table.time_bound for runner in runners] == [None, None]
    await idle(runners)
    runners = floor.runners("b2")
    for runner in runners:
        runner.on_readings([LinkUp(at=1.0, device="one")])
    await idle(runners)
    for table in ("r1", "p1"):
        assert floor.stored("event", table)[-1]["time_bound"] is None
    floor.passes(floor.watch(runners, bound=None))  # the site no longer asks anything
    assert [runner.table.time_bound for runner in runners] == [0.0, 0.0]
    await idle(runners)


@pytest.mark.parametrize("by", [3600.0, -3600.0])
async def test_a_step_is_an_event_at_every_table(floor: Floor, by: float) -> None:
    runners = floor.runners("b1")
    watch = floor.watch(runners, bound=None)
    floor.passes(watch)
    floor.passes(watch, step=by)
    floor.passes(watch)
    await idle(runners)
    for table in ("r1", "p1"):
        told = [entry for entry in floor.stored("event", table) if entry["type"] == "clock.stepped"]
        assert [event["step"] for event in told] == [by]
    assert watch.health().steps == 1


async def test_a_step_that_cannot_be_stored_is_reported_later(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    runners = floor.runners("b1")
    watch = floor.watch(runners)
    floor.passes(watch)
    with monkeypatch.context() as failing:
        failing.setattr(floor.journal, "failed", "the disk is full")
        floor.passes(watch, step=3600.0)
        floor.passes(watch)
    assert [runner.lost_readings for runner in runners] == [0, 0]
    floor.passes(watch)
    await idle(runners)
    told = [entry for entry in floor.stored("event", "r1") if entry["type"] == "clock.stepped"]
    assert [(event["step"], event["time_bound"]) for event in told] == [(3600.0, 5000.0)]


async def test_the_alert_and_health(floor: Floor) -> None:
    runners = floor.runners("b1")
    watch = floor.watch(runners, doubt="doubted")
    assert watch.health().stated_by is None
    floor.passes(watch)
    health = watch.health()
    assert (health.bound, health.stated_by, health.synchronised) == (0.1, "kernel", True)
    assert (health.error, health.offset, health.doubt) == (0.001, 0.0, "doubted")
    assert health.crossed == "2026-11-23T12:03:19.000000Z"
    before = watch.notable()
    floor.kernel = None
    floor.passes(watch, 100.0)
    assert UNPROVED_ALERT_ID in floor.alerts
    told = floor.alerts[UNPROVED_ALERT_ID]
    assert (told.what, "from 2026-11-23T12:03:19Z on" in str(told.detail)) == (
        "time.unproved",
        True,
    )
    floor.passes(watch)
    assert floor.alerts[UNPROVED_ALERT_ID] is told  # reported once
    assert watch.notable() != before
    floor.passes(watch, 200.0)
    assert "up to 0.2 s" in str(floor.alerts[UNPROVED_ALERT_ID].detail)
    floor.kernel = SYNCHRONISED
    floor.passes(watch)
    assert floor.alerts == {}
    assert watch.health().corrected == 0.0
    await idle(runners)


def test_chrony_may_be_absent_late_or_foreign() -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as there:
        there.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{there.getsockname()[1]}"
        chrony = Chrony(address)
        assert chrony.poll() is None
        assert chrony.poll() is None  # it did not wait
        assert chrony.is_waiting
        asker = there.recvfrom(200)[1]
        asked = there.recvfrom(200)[0]
        number = asked[8:12]
        there.sendto(CHRONY_REPLY, asker)  # of another request
        there.sendto(b"rubbish", asker)
        there.sendto(CHRONY_REPLY[:16] + number + CHRONY_REPLY[20:], asker)
        found = until("the answer", chrony.poll)
        assert found.slow == 3600.0
    until("nobody is there", lambda: chrony.poll() is None and not chrony.is_waiting)
    chrony.close()


@pytest.mark.parametrize(
    ("kernel", "bound", "told"),
    [
        (None, 0.1, "no time source keeps the clock of this machine"),
        (KernelClock(False, 0.0, 16.0, 16.0), 0.1, "no time source"),
        (KernelClock(True, 0.0, 0.25, 0.01), 0.1, "according to kernel the clock may be wrong"),
        (SYNCHRONISED, 0.1, None),
        (None, None, None),
    ],
)
def test_check_names_the_program_that_keeps_the_clock(
    monkeypatch: pytest.MonkeyPatch,
    kernel: KernelClock | None,
    bound: float | None,
    told: str | None,
) -> None:
    monkeypatch.setattr(check, "read_kernel_clock", lambda: kernel)
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
    found = check.clock_problems(ClockConfig(bound=bound, chrony=f"127.0.0.1:{port}"))
    assert len(found) == (told is not None)
    assert all(str(told) in each for each in found)
