"""A table and the journal behind it, on a disk that does not keep up."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest
from nacl.public import PrivateKey

from common import clock
from common.confidential.boxes import CardCipher
from common.contract.commands import SessionOpen
from common.contract.notation import read_event
from common.contract.orders import Recall
from common.contract.refusals import RejectedError
from common.contract.topics import Topics
from common.readings import LinkGarbage, LinkUp
from controller.configuration.settings import BrokerConfig, ClockConfig
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.mqtt.publisher import Publisher
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import TablesApi
from controller.service import watchdog
from controller.service.health import HealthReporter
from controller.service.time_watch import TimeWatch
from controller.service.watchdog import Watchdog
from controller.tables.runner import TableRunner
from controller.tables.stages import Stages
from controller.tables.table import Table
from devices.calls import BytesReceived
from devices.device import DeviceSupervisor
from tests.support.devices.parts import Lines, Pty
from tests.support.games.face_down import FaceDown
from tests.support.waiting import until_async

GAME = make_game("roulette-french", "ARA02", {})


def make_runner(journal: Journal, stages: Stages | None = None) -> TableRunner:
    def make() -> Table:
        return Table(
            "palma", "r1", "roulette-french", "ARA02", GAME, "b1", saved=journal.saved_state("r1")
        )

    return TableRunner(make, journal, lambda: 1.0, lambda: None, stages=stages)


def session() -> SessionOpen:
    return SessionOpen(at=1.0, by="M. Lasa", role="table_head")


@contextmanager
def occupied(path: Path) -> Iterator[None]:
    """Another process writes to the file, and the journal has to wait."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def test_the_amount_of_data_is_published_roughly_where_cards_lie_face_down(
    tmp_path: Path,
) -> None:
    """The code of one card may be longer than that of another."""
    cipher = CardCipher(PrivateKey.generate().public_key, b"s" * 32)
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        covered = TableRunner(
            lambda: Table("palma", "p1", "face-down", "ARA02", FaceDown(), "b1"),
            journal,
            lambda: 1.0,
            lambda: None,
            cipher,
        )
        for made in (covered, make_runner(journal)):
            told = []
            for card in (b"Card:9H", b"Card:10H"):
                made.on_bytes("shoe", BytesReceived(1.0, card * 1000))
                told.append(made.byte_counts()["shoe"].received)
            assert told == ([4096, 4096] if made is covered else [7000, 8000])
        await covered.drain()


async def test_nothing_is_shown_before_it_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(Journal(path)) as journal:
        stages = Stages()
        made = make_runner(journal, stages)
        before = made.retained["state"]
        with occupied(path):
            following = asyncio.create_task(made.execute(session()))
            await asyncio.sleep(0)
            assert made.retained["state"] == before
        await following
        assert made.retained["state"] != before
        assert stages.committed.times() is not None


async def test_a_table_that_ran_ahead_is_restored_from_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(Journal(path, capacity=3)) as journal:
        made = make_runner(journal)
        await made.execute(session())
        with occupied(path):
            made.on_readings([LinkUp(at=1.0, device=f"wheel-{number}") for number in range(6)])
            assert made.lost_readings == 3
            with pytest.raises(RejectedError, match="cannot take more"):
                await made.execute(session())
        await made.drain()
        with pytest.raises(RejectedError):
            await made.execute(session())  # the previous session is still open
        made.on_readings([LinkUp(at=2.0, device="wheel-5")])
        await made.drain()
        events = [read_event(entry.body) for entry in journal.events_after(0, 100)]
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert len(events) == made.table.seq


async def test_a_table_that_ran_ahead_of_an_exception_is_restored_from_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events of a command cannot be stored: it was not followed, and the next one is."""
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        made = make_runner(journal)
        made.on_readings([LinkUp(at=1.0, device="wheel")])
        await made.drain()
        monkeypatch.setattr(made.table, "snapshot", lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            await made.execute(session())
        await made.execute(session())
        events = [read_event(entry.body) for entry in journal.events_after(0, 100)]
        assert [event.seq for event in events] == list(range(1, made.table.seq + 1))
        assert msgspec.json.decode(made.retained["state"] or b"")["shown"]["session"] == 1


def make_reporter(journal: Journal, api: TablesApi) -> HealthReporter:
    clock = TimeWatch(
        settings=ClockConfig(chrony=""),
        journal=journal,
        runners=[],
        alerts={},
        changed=lambda: None,
    )
    return HealthReporter(
        boot="b1",
        journal=journal,
        publisher=Publisher(broker=BrokerConfig(), client_id="novamas", journal=journal, api=api),
        api=api,
        stages=Stages(),
        time_watch=clock,
        people=lambda: None,
        reload=lambda: None,
        standby=lambda: None,
    )


async def test_a_journal_that_stores_nothing_is_detected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "STUCK_SECONDS", 0.0)
    path = tmp_path / "journal.sqlite3"
    with closing(Journal(path)) as journal:
        made = make_runner(journal)
        places = {"r1": ServedTable(made, Topics("palma"), {}, 1.0)}
        api = TablesApi("pit-1", "b1", Topics("palma"), places)
        reporter = make_reporter(journal, api)
        watch = Watchdog(journal=journal, places=places, interval=1.0)
        assert watch.stuck() is None
        with occupied(path):
            made.on_readings([LinkGarbage(at=1.0, device="wheel", bytes=3)])
            assert "r1" in (watch.stuck() or "")
        await made.drain()
        assert watch.stuck() is None
        report = reporter.report(await api.health())
        assert (report.journal.state, report.journal.position, report.outbox.depth) == ("ok", 2, 0)


async def test_all_is_stored_when_the_last_bytes_are_too(tmp_path: Path) -> None:
    """The last checkpoint of a run is made then."""
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        made = make_runner(journal)
        await made.execute(session())
        before = journal.head()
        made.on_bytes("wheel", BytesReceived(1.0, b"x"))
        made.flush()
        await made.drain()
        assert journal.head() == before + 1


async def test_an_opened_link_is_published_at_once(tmp_path: Path) -> None:
    """A device that has not sent anything has the same state before and after."""
    port = Pty(tmp_path)
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        device = DeviceSupervisor(
            id="wheel", url=port.url, codec=Lines(), on_readings=lambda _: None
        )
        places = {"r1": ServedTable(make_runner(journal), Topics("palma"), {"wheel": device}, 1.0)}
        api = TablesApi("pit-1", "b1", Topics("palma"), places)
        reporter = make_reporter(journal, api)
        before = reporter.notable(await api.health())
        running = asyncio.create_task(device.run())
        await until_async(lambda: device.health().link)
        opened = reporter.notable(await api.health())
        assert device.health().state == "connecting"
        assert opened != before
        port.unplug()
        port.plug()
        await until_async(
            lambda: device.health().reconnects == 1 and device.health().state == "connecting"
        )
        assert reporter.notable(await api.health()) != opened  # however short the time between
        running.cancel()
        await asyncio.wait([running])
    port.unplug()


async def test_a_command_that_the_journal_cannot_store_is_refused(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        made = make_runner(journal)
        made.halt("the journal cannot be written: disk full")
        assert b'"status":"fault"' in (made.retained["state"] or b"")
        with pytest.raises(RejectedError, match="disk full"):
            await made.execute(session())
        made.halt(None)
        assert b'"status":"fault"' not in (made.retained["state"] or b"")
        await made.execute(session())


async def test_a_gap_is_recalled_page_by_page(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        made = make_runner(journal)
        made.on_readings([LinkUp(at=1.0, device=f"wheel-{number}") for number in range(10)])
        await made.drain()
        pages, first = [], 3
        while page := made.stored.recall(Recall(boot="b1", first=first, to=9, limit=3), 1 << 20):
            events = [read_event(event) for event in page]
            pages.append([event.seq for event in events])
            first = events[-1].seq + 1
            assert all(event.historical for event in events)
        assert pages == [[3, 4, 5], [6, 7, 8], [9]]
        assert made.stored.recall(Recall(boot="another", first=1), 1 << 20) == ()


async def test_an_input_is_settled_when_it_is_stored(tmp_path: Path) -> None:
    """A recall's reply of no more events waits for this."""
    path = tmp_path / "journal.sqlite3"
    with closing(Journal(path)) as journal:
        made = make_runner(journal)
        assert await made.wait_stored()
        nothing = Recall(boot="b1", first=1)
        with occupied(path):
            made.on_readings([LinkUp(at=1.0, device="wheel")])
            settled = asyncio.create_task(made.wait_stored())
            await asyncio.sleep(0.05)
            assert (settled.done(), made.stored.recall(nothing, 1 << 20)) == (False, ())
        assert await settled
        assert [read_event(event).seq for event in made.stored.recall(nothing, 1 << 20)] == [1]


async def test_the_time_of_a_table_does_not_go_back_to_what_was_noted_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        made = make_runner(journal)
        now = 1_800_000_000.0
        monkeypatch.setattr(clock, "wall", lambda: now)
        made.on_bytes("wheel", BytesReceived(1.0, b"x"))
        now += 1.0
        made.on_readings([LinkUp(at=2.0, device="shoe")])
        now += 1.0
        made.on_bytes("wheel", BytesReceived(3.0, b"x"))
        now += 1.0
        made.on_readings([LinkUp(at=4.0, device="wheel")], noted=True)
        await made.drain()
        events = made.stored.recall(Recall(boot="b1", first=1), 1 << 20)
        assert [read_event(event).time[17:19] for event in events] == ["01", "02"]


async def test_a_runner_that_was_ended_stores_nothing_and_the_next_continues(
    tmp_path: Path,
) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        old = make_runner(journal)
        old.on_readings([LinkUp(at=1.0, device="wheel")])
        await old.drain()
        head = journal.head()
        old.end()
        old.on_readings([LinkUp(at=2.0, device="board")])
        old.on_bytes("wheel", BytesReceived(3.0, b"bytes"))
        old.flush()
        old.new_day()
        await old.drain()
        assert journal.head() == head
        new = make_runner(journal)
        await new.drain()
        await new.execute(session())
        numbers = [
            event.seq
            for event in journal.ask(lambda reader: reader.events_of_boot("r1", "b1", 0, 100))
        ]
        assert numbers == [*range(1, new.table.seq + 1)]
