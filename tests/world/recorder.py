"""The part ``recorder``: the recorder of surveillance on a machine of its own, with its archive.

The archive ends up with every event that the broker was given, as the journals have it, and with no
other; nothing is acknowledged before it is there; and the recorder accuses no journal of this
world, where all are honest.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from asyncio import Event
from collections.abc import Callable, Sequence
from contextlib import closing
from contextvars import Context
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from common.chain.schema import Entry
from controller.proof.checkpoint_signer import CheckpointSigner
from subscribers.essential import STOP_TIMEOUT_SECONDS
from subscribers.feed.tables import BrokerLogin
from subscribers.surveillance.archive import ArchiveRecord, StoreResult
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.service import SideTask, SurveillanceRecorder
from subscribers.surveillance.settings import SiteSettings, SurveillanceSettings
from subscribers.surveillance.upkeep import run_upkeep
from tests.world.broker.packets import Publish
from tests.world.broker.sessions import Message
from tests.world.checkers import Final, Key, key_of, require
from tests.world.pair import KEY
from tests.world.process import PROCESS, Machine
from tests.world.program import Program

if TYPE_CHECKING:
    from tests.world.world import World

NODE = "cctv"
"""The recorder's node, which is also its client id and its session at the broker."""
End = Callable[[], object]


class ArchiveDisk:
    """The disk with the archive. ``full``: nothing can be written; ``torn``: the next commit is
    stored and reported as failed.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "archive.sqlite3"
        self.full = False
        self.torn = False
        self._backup = folder / "backup.sqlite3"

    def open(self) -> SQLiteArchive:
        """Open the archive for the running process."""
        self.check()
        archive, process = _Archive(self), PROCESS.get()
        assert process is not None
        process.on_kill(archive.close)
        return archive

    def open_beside(self) -> SQLiteArchive:
        """Open the archive once more, for what runs beside the recorder."""
        archive, process = _Archive(self, recorder=False), PROCESS.get()
        if process is not None:
            process.on_kill(archive.close)
        return archive

    def check(self) -> None:
        """Raise :class:`ArchiveError` if nothing can be written."""
        if self.full:
            raise ArchiveError(f"{self.path}: database or disk is full; make room on the disk")

    def back_up(self) -> None:
        """Make a backup of the archive, which replaces the one before."""
        if self.path.exists():
            self._backup.unlink(missing_ok=True)
            with closing(sqlite3.connect(self.path)) as archive:
                archive.execute("VACUUM INTO ?", (str(self._backup),))

    def restore(self) -> None:
        """Put the backup, if there is one, in place of the archive, which no program has open."""
        if self._backup.exists():
            for companion in ("-wal", "-shm", ""):
                self.path.with_name(self.path.name + companion).unlink(missing_ok=True)
            shutil.copyfile(self._backup, self.path)

    def records(self, kind: str, columns: str, where: str = "1", *values: object) -> list[Any]:
        """Read records of the archive, as any program can."""
        with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)) as archive:
            query = f"SELECT {columns} FROM record WHERE kind = ? AND {where}"
            return archive.execute(query, (kind, *values)).fetchall()


class _Archive(SQLiteArchive):
    """The archive on a disk that fails."""

    def __init__(self, disk: ArchiveDisk, *, recorder: bool = True) -> None:
        self._disk = disk
        super().__init__(disk.path, recorder=recorder)

    def store(self, records: Sequence[ArchiveRecord]) -> StoreResult:
        self._disk.check()
        result = super().store(records)
        if self._disk.torn and records:
            self._disk.torn = False
            raise ArchiveError(f"{self.path}: disk I/O error; check the file and its disk")
        return result

    def save_value(self, name: str, value: bytes) -> None:
        self._disk.check()
        super().save_value(name, value)


class ArchiveEqualsJournals(Final):
    """The archive of ``disk`` has each event that was published, as it is stored, and no other."""

    def __init__(self, disk: ArchiveDisk) -> None:
        self._disk = disk
        self._stored: dict[Key, dict[str, Any]] = {}
        self._published: dict[Key, None] = {}

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        del owner
        for entry in entries:
            if entry.kind == "event":
                body = json.loads(entry.body)
                self._stored[key_of(body)] = body

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if message.topic.endswith("/event"):
            self._published[key_of(json.loads(message.payload))] = None

    def on_acknowledged(self, client: str, message: Message) -> None:
        """A client has acknowledged a message to the broker."""
        if client == NODE and message.topic.endswith("/event"):
            key = key_of(json.loads(message.payload))
            found = self._disk.records("event", "1", "place = ? AND boot = ? AND seq = ?", *key)
            require(found, "acknowledged and not archived", key)

    def on_end(self) -> None:
        """See :class:`Checker`."""
        rows = self._disk.records("event", "place, boot, seq, body")
        archived = {(table, boot, seq): json.loads(body) for table, boot, seq, body in rows}
        require(len(archived) == len(rows), "archived twice", len(rows), len(archived))
        missing = [key for key in self._published if key not in archived]
        require(not missing, "published and not archived", missing[:3], len(missing))
        for key, body in archived.items():
            body.pop("historical", None)
            require(body == self._stored.get(key), "archived otherwise than stored", body)
        findings = self._disk.records("finding", "type, body")
        require(not findings, "the recorder accuses an honest journal", findings[:2])


class Recorder:
    """The recorder with its disk and its program."""

    def __init__(self, world: World) -> None:
        folder = world.folder / NODE
        folder.mkdir()
        self.disk = ArchiveDisk(folder)
        self._world = world
        self.side_tasks: dict[str, SideTask] = {}
        """What other parts let run beside it."""
        self.program = Program(world.loop, NODE, Machine(NODE), self._serve, world.note)

    async def _serve(self, stop: Event) -> None:
        site = SiteSettings(
            id="palma",
            broker=BrokerLogin(url="mqtt://broker.world:1883"),
            keys={} if self._world.bucket is None else {KEY: self._keys_of_pair()},
        )
        settings = SurveillanceSettings(archive=str(self.disk.path), node=NODE, sites=(site,))
        upkeep: SideTask = partial(run_upkeep, settings)
        side_tasks = {"retention": upkeep, **self.side_tasks}
        await SurveillanceRecorder(settings, side_tasks, self.disk.open).run(stop)

    def _keys_of_pair(self) -> tuple[str, ...]:
        """Return the public keys of both daemons."""
        keys = []
        for node in self._world.nodes:
            journal = self._world.folder / node.program.name / "journal.sqlite3"
            signer = CheckpointSigner(journal, "").signer
            assert signer is not None
            keys.append(signer.verify_key.encode().hex())
        return tuple(keys)


RECORDERS: dict[str, Recorder] = {}
"""The recorder of the world that runs, by its node."""


def join(world: World) -> Recorder:
    """Let a recorder take part, once; return it."""
    if any(program.name == NODE for program in world.programs):
        return RECORDERS[NODE]
    RECORDERS[NODE] = recorder = Recorder(world)
    world.programs.append(recorder.program)
    checker = ArchiveEqualsJournals(recorder.disk)
    world.checkers.append(checker)
    world.broker.on_acknowledged = checker.on_acknowledged
    return recorder


# Faults


def _nothing() -> None:
    """Do nothing at the end of a fault that ends by itself."""


def fill_disk(world: World, random: Random) -> End:
    """Nothing can be written to the archive."""
    del world, random
    disk = RECORDERS[NODE].disk
    disk.full = True

    def end() -> None:
        disk.full = False

    return end


def tear_commit(world: World, random: Random) -> End:
    """A commit of the archive is stored and reported as failed."""
    del world, random
    RECORDERS[NODE].disk.torn = True
    return _nothing


def slow_down(world: World, random: Random) -> End:
    """The archive answers late, even so late that it is reported."""
    del world
    program, seconds = RECORDERS[NODE].program, random.choice((0.5, 5.0, 20.0))
    program.machine.disk_seconds = seconds

    def end() -> None:
        program.machine.disk_seconds = 0.0

    return end


def back_up(world: World, random: Random) -> End:
    """Not a fault yet: the archive is backed up."""
    del world, random
    RECORDERS[NODE].disk.back_up()
    return _nothing


def restore(world: World, random: Random) -> End:
    """The recorder dies with its disk, and starts with the last backup of its archive."""
    recorder = RECORDERS[NODE]
    recorder.program.kill(world.lasts(random.choice((0.1, 2.0, 30.0))))
    recorder.disk.restore()
    return _nothing


def restart(world: World, random: Random) -> End:
    """A person stops the recorder, and starts it later."""
    program, seconds = RECORDERS[NODE].program, random.choice((0.0, 5.0, 60.0))
    stopped = program.process
    program.stop()

    def start() -> None:
        if program.process is stopped:
            if stopped is not None and stopped.alive:
                program.kill(0.0)  # as its unit does after TimeoutStopSec
            else:
                program.start()

    at = world.loop.now + world.lasts(STOP_TIMEOUT_SECONDS + seconds)
    world.loop.call_at(at, start, context=Context())
    return _nothing
